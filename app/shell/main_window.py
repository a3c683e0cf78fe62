"""Contents of the main window: navigation, one page at a time, progress below it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.session import Page, Session
from app.core_link.targets import HistoryEntry, NavigationHistory, Screen, ShowScreen, StartRuns, Target
from app.shell.list_dialogs import open_messages, open_shortcuts
from app.shell.palette import Palette
from app.shell.screen_specs import ScreenSpec
from app.theme import sized, theme
from app.widgets import (
    Action,
    MouseNavigation,
    Navigation,
    Notice,
    ReadingOrder,
    Toaster,
    column_layout,
    in_turns,
    press_focused,
    row_layout,
    yield_to_ui,
)
from app.widgets.keyed_view import KeyedView
from mcp_tef import Event

if TYPE_CHECKING:
    from app.help.window import HelpWindow

NARROW_BELOW = 1100
VISITED = "window.visited"
PAUSE_S = 0.1
Workspaces = Callable[[], Sequence[Action]]


class MainWindow(ReadingOrder, QWidget):
    """Shows screens by key; `workspaces` are the actions of the workspace menu."""

    settings_wanted = Signal()
    address_wanted = Signal(QUrl)

    def __init__(
        self,
        session: Session,
        places: Sequence[ScreenSpec],
        title: str,
        workspaces: Workspaces = list,
    ) -> None:
        super().__init__()
        self.session = session
        self._screens = {place.key: place for place in places}
        self._pages: dict[str, Page] = {}
        self._steps: dict[str, Iterator[None]] = {}
        self._keys: list[QAction] = []
        self._latest_request: object = None
        self._help: HelpWindow | None = None
        self.current = ""
        self.navigation = Navigation(title, workspaces)
        self._history = NavigationHistory()
        self._mouse = MouseNavigation(self)
        self.notice = Notice("bad")
        self.offer = Notice("info")
        self.stack = QStackedWidget()
        self.area = QWidget()
        self.toaster = Toaster(self.area)
        self._lay_out()
        for part in (self.navigation, self.notice, self.offer, session.activity):
            theme().apply_to(part)
        self._listen()
        self.session.commands.put("window", self._own_commands())

    def _lay_out(self) -> None:
        for place in self._screens.values():
            hidden = place.rare and place.key not in self._visited()
            self.navigation.add(place.key, place.icon, place.title, hidden=hidden)
        self.navigation.add("settings", "gear-six", "Settings", foot=True, page=False)
        self.navigation.add("help", "question", "Help", foot=True, page=False)
        right = column_layout()
        column_layout(self.area, self.stack, spacing=None)
        for part in (self.notice, self.offer, self.area, self.session.activity):
            right.addWidget(part, int(part is self.area))
        row = row_layout(self, self.navigation)
        row.addLayout(right, 1)

    def _listen(self) -> None:
        session = self.session
        self.navigation.wanted.connect(self._on_navigation)
        for signal in (self.navigation.back.clicked, self._mouse.back):
            signal.connect(self.go_back)
        for signal in (self.navigation.forward.clicked, self._mouse.forward):
            signal.connect(self.go_forward)
        session.navigated.connect(self.go)
        session.events.connect(self._deliver)
        session.toasted.connect(self.toaster.show)
        session.failed.connect(self._show_failure)
        session.help_wanted.connect(self.show_help)
        session.commands.watch(self._bind_keys)

    def page(self, key: str) -> Page:
        """Return the page of a screen, built now if it was not."""
        for _ in self._building(key):
            pass
        return self._pages[key]

    def _building(self, key: str) -> Iterator[None]:
        """Return the remaining steps of building a page; all callers share them."""
        if key not in self._steps:
            self._steps[key] = self._build(self._screens[key])
        return self._steps[key]

    def _build(self, place: ScreenSpec) -> Iterator[None]:
        page = yield from place.make(self.session)
        yield
        self.stack.addWidget(page)  # before it wears anything: what is dressed and then put elsewhere is dressed twice
        yield
        theme().apply_to(page)
        yield from in_turns(page.findChildren(QWidget), QWidget.ensurePolished)
        yield
        self._pages[place.key] = page
        page.badge_changed.connect(partial(self.navigation.set_badge, place.key))
        self.navigation.set_badge(place.key, page.badge)

    def is_built(self) -> bool:
        """Return True if every page that is built ahead is built and styled."""
        return self._pages.keys() >= set(self._built_ahead())

    async def prepare(self) -> None:
        """Build every page ahead while the user does something else."""
        for key in self._built_ahead():
            await self.make_ready(key, PAUSE_S)

    def _built_ahead(self) -> list[str]:
        return [key for key, place in self._screens.items() if not place.rare or key in self._visited()]

    def _visited(self) -> list[str]:
        """Return the rare screens that were shown once."""
        return self.session.settings.get(VISITED, [])

    async def make_ready(self, key: str, pause: float = 0) -> None:
        """Import a page's module on another thread, and build the page in small steps with pauses between them."""
        if module := self._screens[key].module:
            await asyncio.to_thread(import_module, module)
        await asyncio.sleep(pause)
        for _ in self._building(key):
            await asyncio.sleep(pause)

    def go(self, target: Target) -> None:
        """Show a target once its page is built; of several requests the last one wins."""
        if target.screen in self._pages:
            self.show_target(target)
        else:
            self.session.spawn(self._go_once_ready(target))

    async def _go_once_ready(self, target: Target) -> None:
        request = self._latest_request = object()
        await self.make_ready(target.screen)
        if self._latest_request is request:
            self.show_target(target)

    def show_target(self, target: Target) -> None:
        """Show a target at once, and remember the one before in the history.

        The form that starts runs opens over the present screen, where the user is again after Cancel.
        """
        if isinstance(target, StartRuns) and self.current:
            self._latest_request = None
            self.page(target.screen).open_target(target)
            return
        self.show_screen(target.screen, None if isinstance(target, ShowScreen) else target)

    def show_screen(self, key: str, target: Target | None = None) -> None:
        """Show a screen at once: as it was left, or with a target."""
        self._latest_request = None
        if self.current and (key != self.current or target is not None):
            self._history.leave(self._history_entry())
        self._switch_to(key, target)

    def go_back(self) -> None:
        """Go to the previous screen or target."""
        if self._history.can_go_back():
            self._return_to(self._history.back(self._history_entry()))

    def go_forward(self) -> None:
        """Go to the screen or target from which the user went back."""
        if self._history.can_go_forward():
            self._return_to(self._history.forward(self._history_entry()))

    def _history_entry(self) -> HistoryEntry:
        return HistoryEntry(self.current, self._pages[self.current].current_target())

    def _return_to(self, stop: HistoryEntry) -> None:
        as_left = self.page(stop.place).current_target() == stop.target
        self._switch_to(stop.place, None if as_left else stop.target)

    def _switch_to(self, key: str, target: Target | None) -> None:
        page = self.page(key)
        if key != self.current:
            if self.current:
                self._pages[self.current].leave()
            self.current = key
            if self.navigation.reveal(key):
                self.session.settings.set(VISITED, [*self._visited(), key])
            self.navigation.set_current(key)
            self.setFocus()  # otherwise Qt gives the keyboard to the first widget of the page
            self.stack.setCurrentWidget(page)
            self.session.settings.set("window.place", key)
            self.session.commands.put("page", page.commands())
        if page.stale:
            page.request_refresh()
        if target is not None:
            page.open_target(target)
        if (widget := page.first_focus()) is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.navigation.set_history_buttons(back=self._history.can_go_back(), forward=self._history.can_go_forward())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (frame := self.window().windowHandle()) is not None:
            self._mouse.watch(frame)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.navigation.set_icons_only(event.size().width() < sized(NARROW_BELOW))

    def unsaved(self) -> int:
        """Return the number of edits on all pages that cannot be saved as they are."""
        return sum(page.unsaved() for page in self._pages.values())

    async def delete_hidden_pages(self) -> None:
        """Delete every page that is not visible, one per event loop turn, once nothing runs on them."""
        theme().forget(self)
        unseen = [key for key in self._pages if key != self.current]
        for key in unseen:
            self._pages.pop(key).deleteLater()
            await yield_to_ui()

    async def finish(self) -> None:
        """Let every page save; an error on a page does not keep the window from closing."""
        await asyncio.gather(*(page.finish() for page in self._pages.values()), return_exceptions=True)

    def _on_navigation(self, key: str) -> None:
        if key in self._screens:
            self.go(ShowScreen(Screen(key)))
        else:
            self.show_help() if key == "help" else self.settings_wanted.emit()

    def _deliver(self, events: tuple[Event, ...]) -> None:
        for key, page in list(self._pages.items()):
            page.on_events(events, visible=key == self.current)

    def _show_failure(self, message: str, hint: str, details: str) -> None:
        dismiss = Action(text="Dismiss", do=self.hide_error, kind="link")
        self.notice.show_message(message, hint, [dismiss], details)

    def hide_error(self) -> None:
        """Hide the error message."""
        self._show_failure("", "", "")

    def _own_commands(self) -> list[Command]:
        places = [
            Command(
                id=f"go.{place.key}",
                text=f"Go to {place.title}",
                keys=f"Ctrl+{number}",
                do=partial(self.go, ShowScreen(Screen(place.key))),
                group="Going places",
            )
            for number, place in enumerate(self._screens.values(), 1)
        ]
        return [
            *places,
            Command(id="palette", text="Find anything", keys="Ctrl+K", do=self.show_palette),
            self._history_command("back", self.go_back, "Alt+Left", self._history.can_go_back),
            self._history_command("forward", self.go_forward, "Alt+Right", self._history.can_go_forward),
            Command(
                id="runs.start", text="Run test cases", keys="Ctrl+R", do=lambda: self.go(StartRuns()), group="Runs"
            ),
            Command(id="search", text="Search here", keys="Ctrl+F", do=self._focus_search),
            *self._undo_commands(),
            Command(id="settings", text="Open the settings", keys="Ctrl+,", do=self.settings_wanted.emit),
            Command(id="help", text="Show the help", keys="F1", do=lambda: self.show_help(self.current)),
            Command(id="messages", text="Show recent messages", do=self.show_messages),
            Command(id="shortcuts", text="Show all shortcuts", keys="Ctrl+F1", do=self.show_shortcuts),
            Command(id="quit", text="Quit", keys="Ctrl+Q", do=lambda: self.window().close()),
        ]

    def _undo_commands(self) -> list[Command]:
        session = self.session
        return [
            Command(
                id="undo",
                text="Undo",
                now=session.undo_words,
                keys="Ctrl+Z",
                do=session.undo,
                needs=session.can_undo,
                unless="Nothing was done that can be taken back",
            ),
            Command(
                id="redo",
                text="Redo",
                now=session.redo_words,
                keys="Ctrl+Shift+Z",
                other_keys="Ctrl+Y",
                do=session.redo,
                needs=session.can_redo,
                unless="Nothing was taken back",
            ),
        ]

    def _history_command(self, where: str, do: Callable[[], object], keys: str, needs: Callable[[], bool]) -> Command:
        return Command(id=f"go.{where}", text=f"Go {where}", keys=keys, do=do, needs=needs, group="Going places")

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
        action.setShortcuts([QKeySequence(keys) for keys in (command.keys, command.other_keys) if keys])
        action.triggered.connect(lambda: command.do() if command.needs() else None)
        self.addAction(action)
        return action

    def show_palette(self) -> Palette:
        """Open the palette of commands and search results."""
        palette = Palette(self.session, self, self._palette_commands())
        palette.open_centred(self)
        return palette

    def _palette_commands(self) -> list[Command]:
        """Return the commands of every screen that is built; those of other screens go there first."""
        here = self.session.commands.all()
        known = {command.id for command in here}
        others = [(key, command) for key, page in self._pages.items() for command in page.commands()]
        return [
            *here,
            *(
                replace(command, keys="", other_keys="", do=partial(self._do_there, key, command))
                for key, command in others
                if command.id not in known
            ),
        ]

    def _do_there(self, key: str, command: Command) -> None:
        self.show_screen(key)
        self.session.do(command.do)

    def show_help(self, topic: str = "") -> "HelpWindow":
        """Open the help window: at a topic, where it was left, or at its first page."""
        from app.help.window import HelpWindow

        if self._help is None:
            self._help = HelpWindow(self.session.commands.groups, self)
            self._help.address_wanted.connect(self.address_wanted)
        self._help.open_at(topic)
        return self._help

    def show_shortcuts(self) -> None:
        """Open the list of shortcuts."""
        views = self._pages[self.current].findChildren(KeyedView) if self.current else []
        lists = [(view.accessibleName(), view.key_effects) for view in views if view.key_effects and view.isVisible()]
        open_shortcuts(self, self.session.commands.groups(), lists)

    def show_messages(self) -> None:
        """Open the list of recent messages."""
        open_messages(self, self.session.messages)
