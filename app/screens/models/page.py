"""Models screen: models and groups, prompts, client profiles, routes and search tools."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import ShowModels, Target
from app.screens.models.tab import GROUP, TABS, ModelsTab
from app.widgets import Segmented
from mcp_tef import Event

TAB_SETTING: Final = "models.tab"
FIRST_TAB: Final = "prompts"


class ModelsPage(Page):
    """Shows one tab at a time; each is built when it is first shown."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="models", title="Models")
        self._made: dict[str, ModelsTab] = {}
        self._specs = {spec.key: spec for spec in TABS}
        self.tabs = Segmented([(spec.key, spec.label) for spec in TABS], "Part of the models")
        self.stack = QStackedWidget()
        self.header.place(self.tabs, beside_title=True)
        self.search = self.header.set_search("Search")
        self.body.addWidget(self.stack, 1)
        self.tabs.set_current(session.settings.get(TAB_SETTING, FIRST_TAB, self._specs.__contains__))
        self.tabs.changed.connect(self.show_tab)
        self.search.searched.connect(lambda text: self.tab().find_rows(text.strip()))
        self._show_header()

    def tab(self, key: str = "") -> ModelsTab:
        """Return a tab, the shown one without a key."""
        key = key or self.tabs.current()
        if key not in self._made:
            made = self._made[key] = self._specs[key].make(self.session)
            made.header_changed.connect(self._show_header)
            self.stack.addWidget(made)
        return self._made[key]

    def show_tab(self, key: str) -> None:
        """Turn to a tab."""
        self.tabs.set_current(key)
        self.session.settings.set(TAB_SETTING, key)
        self.search.say("")
        self._show_header()
        if self.isVisible():
            self.session.commands.put("page", self.commands())
            self.tab().find_rows("")
            if self.tab().stale:
                self.request_refresh()

    async def refresh(self) -> None:
        """Read what the shown tab shows."""
        tab = self.tab()
        tab.stale = False
        await tab.refresh()
        tab.loaded = True
        self._show_header()

    def loading_text(self) -> str:
        return "" if self.tab().loaded else f"Loading {self._specs[self.tabs.current()].label.lower()}…"

    def handle(self, event: Event) -> Refresh:
        shown = Refresh.NONE
        for tab in self._made.values():
            urgency = tab.handle(event)
            tab.stale = tab.stale or bool(urgency)
            shown = max(shown, urgency if tab is self.tab() else Refresh.NONE)
        return shown

    def open_target(self, target: Target) -> None:
        """Turn to a tab, and select an item of it."""
        if isinstance(target, ShowModels) and target.tab in self._specs:
            self.show_tab(target.tab)
            if target.item:
                self.tab().show_item(target.item)

    def current_target(self) -> Target | None:
        return ShowModels(self.tabs.current(), self.tab().current_item())

    def commands(self) -> Sequence[Command]:
        """Return one command for each tab, and those of the shown tab."""
        turns = (
            Command(
                id=f"models.{one.key}", text=f"Show {one.label.lower()}", do=partial(self._go, one.key), group=GROUP
            )
            for one in TABS
        )
        return (*turns, *self.tab().commands())

    def first_focus(self) -> QWidget | None:
        return self.tab().first_focus() or self.tabs

    def unsaved(self) -> int:
        return sum(tab.unsaved() for tab in self._made.values())

    async def finish(self) -> None:
        for tab in self._made.values():
            await tab.finish()

    def _go(self, key: str) -> None:
        self.show_tab(key)
        if (widget := self.first_focus()) is not None:
            widget.setFocus()

    def _show_header(self) -> None:
        tab = self.tab()
        self.stack.setCurrentWidget(tab)
        self.header.set_count(tab.count_text())
        self.header.set_buttons(tab.buttons())
        if tab.search_hint:
            self.search.setPlaceholderText(tab.search_hint)
            self.search.setAccessibleName(tab.search_hint)
        self.search.setVisible(bool(tab.search_hint))
