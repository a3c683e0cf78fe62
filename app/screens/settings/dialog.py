"""The settings dialog, with a tab for each kind of setting. Changes apply immediately."""

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.preferences import LIMITS, RUNS
from app.core_link.session import Session
from app.core_link.text_size import SIZES, TextSizeSetting
from app.screens.settings.presenter import SettingsPaths, SettingsPresenter
from app.screens.settings.rows import SettingRow, SettingsSection
from app.screens.settings.sections import ConsentsSection, DataSection, KeysSection
from app.theme import theme
from app.widgets import (
    Action,
    DetailPane,
    Dialog,
    EmptyState,
    Field,
    MenuButton,
    ScrollPane,
    SearchField,
    Section,
    Segmented,
)
from mcp_tef import VARIABLES, Variable

NOTE = "Ctrl and plus, minus or 0 change it too."


class GeneralSection(Section):
    """Settings of the whole window: appearance and text size."""

    def __init__(
        self,
        set_theme: Callable[[str], object],
        set_contrast: Callable[[str], object],
        sizes: TextSizeSetting,
        leave: Callable[[], object],
    ) -> None:
        super().__init__(margins=False)
        self.column.setSpacing(16)
        self.add(Field("Appearance", _choice("Appearance", theme().mode, set_theme)))
        self.add(Field("Contrast", _choice("Contrast", theme().contrast, set_contrast)))
        size = MenuButton("Text size", [(str(one), f"{one} %") for one in SIZES])
        size.set_current(str(sizes.percent()))
        for take in (lambda percent: sizes.choose(int(percent)), lambda _: leave()):
            size.changed.connect(take)
        self.add(Field("Text size", size, note=NOTE))
        self.column.addStretch(1)


def _choice(name: str, now: Enum, choose: Callable[[str], object]) -> Segmented:
    made = Segmented([(one.value, one.value.capitalize()) for one in type(now)], name)
    made.set_current(now.value)
    made.changed.connect(choose)
    return made


HEIGHT = 600
NOTHING = "No settings match. Try other words, or clear the search."
FOUND = 1
RUN_NOTE = "Every run starts with these values. Changes made in the run form are kept here."
LIMIT_NOTE = "Limits for servers. Anything beyond a limit is left out, and a note says so."
SIMILARITY = ("EMBEDDING_MODEL_TYPE", "SIMILARITY_THRESHOLD")
SERVERS = ("MCP_TOOL_PREFIX_SEPARATOR", "MCP_TEF_TRUSTED_NETWORKS")


class SettingsDialog(Dialog):
    """`set_theme` and `set_contrast` are told which colours to wear, `reset` that all is to be as it was at first."""

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        *,
        set_theme: Callable[[str], object],
        set_contrast: Callable[[str], object],
        sizes: TextSizeSetting,
        reset: Callable[[], object],
        places: SettingsPaths,
    ) -> None:
        super().__init__("Settings", parent, width=800)
        self.need(height=HEIGHT)
        self._session = session
        self._presenter = SettingsPresenter(session.call)
        self._places = places
        self.search = SearchField("Search settings")
        self.pane = DetailPane("Settings", inset=0)
        self._found = self._section()
        self._finding: asyncio.Task[None] | None = None
        self._words: list[str] = []
        self._nothing = EmptyState("magnifying-glass", "Nothing found", NOTHING)
        self._stack = QStackedWidget()
        for part in (self.pane, ScrollPane(self._found, "Settings found"), self._nothing):
            self._stack.addWidget(part)
        self.body.addWidget(self.search)
        self.body.addWidget(self._stack, 1)
        self._add_tabs(GeneralSection(set_theme, set_contrast, sizes, self.accept))
        self.search.searched.connect(self._find)
        back = Action(text="Reset all settings", do=lambda: self._reset(reset), kind="quiet")
        (close,) = self.set_buttons([Action(text="Close", do=self.accept, kind="primary")], left=[back])
        close.setDefault(False)

    def _add_tabs(self, general: GeneralSection) -> None:
        """Only the first one is made now: all of them take longer than a key may wait."""
        self.pane.add_tab("general", "Appearance", general)
        for key, label, make in (
            ("runs", "Runs", lambda: self._rows(RUNS, RUN_NOTE)),
            ("similarity", "Similarity", lambda: self._rows(_named(SIMILARITY))),
            ("limits", "Servers", lambda: self._rows([*_named(SERVERS), *LIMITS], LIMIT_NOTE)),
            ("keys", "Keys", lambda: self._read(KeysSection(self._session, self._presenter))),
            ("consents", "Consents", lambda: self._read(ConsentsSection(self._session, self._presenter))),
            ("data", "Data", self._data),
        ):
            self.pane.add_later(key, label, make)

    def _read(self, section: KeysSection | ConsentsSection | DataSection) -> QWidget:
        self.while_open(self._session.spawn(section.load()))
        return section

    def _data(self) -> QWidget:
        lie = Section(margins=False)
        lie.column.setContentsMargins(0, 0, 0, 0)
        lie.add(self._read(DataSection(self._session, self._presenter, self._places)))
        lie.add(self._rows(_named(["LOG_LEVEL"]), ruled=True))
        return lie

    def _rows(self, variables: Sequence[Variable[Any]], note: str = "", *, ruled: bool = False) -> SettingsSection:
        section = self._section(note, ruled=ruled)
        self.while_open(self._session.spawn(section.fill(variables)))
        return section

    def _section(self, note: str = "", *, ruled: bool = False) -> SettingsSection:
        section = SettingsSection(self._session.preferences, note, ruled=ruled)
        section.changed.connect(self._hold)
        return section

    def _hold(self, name: str) -> None:
        """Have it hold at once, wherever else it is shown."""
        for row in self.findChildren(SettingRow):
            if row.variable.name == name and not row.field.hasFocus():
                row.show_value()
        self._session.spawn(self._session.configure())

    def _find(self, text: str) -> None:
        self._words = text.casefold().split()
        if not self._words:
            self._stack.setCurrentWidget(self.pane)
        elif self._finding is None:  # all rows once more, which nobody needs who only looks
            self._finding = self._session.spawn(self._find_in_turns())
            self.while_open(self._finding)
        elif self._finding.done():
            self._narrow()

    async def _find_in_turns(self) -> None:
        await self._found.fill([*RUNS, *_named((*SIMILARITY, *SERVERS, "LOG_LEVEL")), *LIMITS])
        self._narrow()

    def _narrow(self) -> None:
        if self._words:
            shown = [row.show_if(row.matches(self._words)) for row in self._found.rows]
            self._stack.setCurrentIndex(FOUND if any(shown) else FOUND + 1)

    def _reset(self, reset: Callable[[], object]) -> None:
        self.accept()
        reset()


def _named(names: Sequence[str]) -> list[Variable[Any]]:
    known = {one.name: one for one in VARIABLES}
    return [known[name] for name in names]
