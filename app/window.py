"""The window's inside: navigation, one page at a time, what runs below it; no word of the trade."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.commands import Command
from app.session import Page, Session
from app.widgets import Action, KeyValues, Navigation, Notice, PickItem, PickPopup, Section, Sheet, Toaster
from mcp_tef import Event

NARROW_BELOW = 1100
PAUSE_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A screen that can be gone to; `make` builds its page, at the first visit or ahead, from what `module` holds."""

    key: str
    title: str
    icon: str
    make: Callable[[Session], Page]
    module: str = ""


class Window(QWidget):
    """Shows places by key; `workspace_wanted` asks for another file, `settings_wanted` for the settings."""

    workspace_wanted = Signal()
    settings_wanted = Signal()

    def __init__(self, session: Session, places: Sequence[Place], title: str) -> None:
        super().__init__()
        self.session = session
        self._places = {place.key: place for place in places}
        self._pages: dict[str, Page] = {}
        self._keys: list[QAction] = []
        self.current = ""
        self.navigation = Navigation(title, self._head_actions)
        self.notice = Notice("bad")
        self.stack = QStackedWidget()
        self.area = QWidget()
        self.toaster = Toaster(self.area)
        self._lay_out()
        self._listen()
        self.session.commands.put("window", self._own_commands())

    def _lay_out(self) -> None:
        for place in self._places.values():
            self.navigation.add(place.key, place.icon, place.title)
        self.navigation.add("settings", "gear-six", "Settings", foot=True, page=False)
        self.navigation.add("help", "question", "Shortcuts", foot=True, page=False)
        right = QVBoxLayout()
        right.setSpacing(0)
        inside = QVBoxLayout(self.area)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.stack)
        for part in (self.notice, self.area, self.session.activity):
            right.addWidget(part, int(part is self.area))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.navigation)
        row.addLayout(right, 1)

    def _listen(self) -> None:
        session = self.session
        self.navigation.wanted.connect(self._wanted)
        session.navigated.connect(self.show_place)
        session.events.connect(self._hand_out)
        session.toasted.connect(self.toaster.show)
        session.failed.connect(self._show_failure)
        session.commands.watch(self._bind_keys)

    def page(self, key: str) -> Page:
        """The page of a place, built now if it was not."""
        page = self._made(key)
        if self.stack.indexOf(page) < 0:
            self.stack.addWidget(page)
        return page

    def _made(self, key: str) -> Page:
        if key not in self._pages:
            page = self._places[key].make(self.session)
            self._pages[key] = page
            page.badge_changed.connect(partial(self.navigation.set_badge, key))
            self.navigation.set_badge(key, page.badge)
        return self._pages[key]

    async def prepare(self) -> None:
        """Load what the other pages need, off this thread, and build them ahead, in small steps, while nobody waits."""
        for key, place in self._places.items():
            if place.module:
                await asyncio.to_thread(import_module, place.module)
            for step in (self._made, self.page):
                await asyncio.sleep(PAUSE_S)
                step(key)

    def show_place(self, key: str, target: object = None) -> None:
        """Go to a place, with something on it."""
        page = self.page(key)
        if key != self.current:
            if self.current:
                self._pages[self.current].leave()
            self.current = key
            self.navigation.set_current(key)
            self.stack.setCurrentWidget(page)
            self.session.settings.set("window.place", key)
            self.session.commands.put("page", page.commands())
        if page.stale:
            page.request_refresh()
        if target is not None:
            page.arrive(target)
        if (widget := page.first_focus()) is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self.navigation.set_narrow(event.size().width() < NARROW_BELOW)

    async def finish(self) -> None:
        """Let every page put away what is not saved; none of them can keep the window from closing."""
        await asyncio.gather(*(page.finish() for page in self._pages.values()), return_exceptions=True)

    def _wanted(self, key: str) -> None:
        if key in self._places:
            self.show_place(key)
        else:
            {"settings": self.settings_wanted.emit, "help": self.show_shortcuts}[key]()

    def _hand_out(self, events: tuple[Event, ...]) -> None:
        for key, page in list(self._pages.items()):
            page.take(events, visible=key == self.current)

    def _show_failure(self, message: str, hint: str, details: str) -> None:
        dismiss = Action(text="Dismiss", do=self.notice.clear, kind="link")
        self.notice.show_message(message, hint, [dismiss], details)

    def _head_actions(self) -> Sequence[Action]:
        return [Action(text="Open another workspace…", do=self.workspace_wanted.emit, icon="folder-open")]

    def _own_commands(self) -> list[Command]:
        places = [
            Command(
                id=f"go.{place.key}",
                text=f"Go to {place.title}",
                keys=f"Ctrl+{number}",
                do=partial(self.show_place, place.key),
                group="Going places",
            )
            for number, place in enumerate(self._places.values(), 1)
        ]
        return [
            *places,
            Command(id="palette", text="Find a command", keys="Ctrl+K", do=self.show_palette),
            Command(id="search", text="Search here", keys="Ctrl+F", do=self._focus_search),
            Command(id="undo", text="Undo", keys="Ctrl+Z", do=self.session.undo, needs=self.session.can_undo),
            Command(id="settings", text="Open the settings", keys="Ctrl+,", do=self.settings_wanted.emit),
            Command(id="shortcuts", text="Show all shortcuts", keys="F1", do=self.show_shortcuts),
        ]

    def _focus_search(self) -> None:
        if self.current:
            self._pages[self.current].focus_search()

    def _bind_keys(self) -> None:
        for action in self._keys:
            self.removeAction(action)
            action.deleteLater()
        self._keys = [self._bound(command) for command in self.session.commands.all() if command.keys]

    def _bound(self, command: Command) -> QAction:
        action = QAction(command.text, self)
        action.setShortcut(command.keys)
        action.triggered.connect(lambda: command.do() if command.needs() else None)
        self.addAction(action)
        return action

    def show_palette(self) -> PickPopup:
        """Every possible command, to be found by typing."""
        possible = {command.id: command for command in self.session.commands.possible() if command.id != "palette"}
        items = [PickItem(id=c.id, title=c.text, right=c.keys, mono=False) for c in possible.values()]
        popup = PickPopup("commands", self, row_height=32)
        popup.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        popup.footer = "{shown} of {all} commands. Enter does it, Esc closes."
        popup.picked.connect(lambda key: self.session.do(possible[key].do))
        popup.open_over(self, items, QPoint((self.width() - 480) // 2, 72), 480)
        return popup

    def show_shortcuts(self) -> None:
        """Every shortcut there is, made from the commands."""
        sheet = Sheet("Shortcuts", self, width=440)
        for group, commands in self.session.commands.groups().items():
            section = Section(group, margins=False)
            table = KeyValues(label_width=96)
            table.set_rows([(command.keys, command.text) for command in commands])
            section.add(table)
            sheet.body.addWidget(section)
        lists = Section("In lists", margins=False)
        table = KeyValues(label_width=96)
        table.set_rows(
            [("Enter", "Open"), ("F2", "Rename"), ("Del", "Remove"), ("Space", "Peek"), ("Esc", "Back")],
        )
        lists.add(table)
        sheet.body.addWidget(lists)
        sheet.set_buttons([Action(text="Close", do=sheet.accept, kind="primary")])
        sheet.open()
