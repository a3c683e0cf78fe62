"""Settings dialog with a tab for each kind of setting; changes apply immediately."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.preferences import LIMITS, RUNS, Origin, Preferences
from app.core_link.session import Session
from app.core_link.settings import SIZES, TextSizeSetting
from app.screens.settings.presenter import SettingsPaths, SettingsPresenter
from app.screens.settings.sections import ConsentsSection, DataSection, KeysSection
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Action,
    DetailPane,
    Dialog,
    EmptyState,
    Field,
    FlowText,
    Label,
    LineEdit,
    MenuButton,
    Rule,
    ScrollPane,
    SearchField,
    Section,
    Segmented,
    button,
    column_layout,
    frozen_updates,
    in_turns,
    row_layout,
    set_wrong,
    yield_to_ui,
)
from mcp_tef import VARIABLES, Variable

FIELD_WIDTH = 172
UNIT_WIDTH = 72
BELOW_NOTE = 12


class SettingRow(QWidget):
    """One setting with its reason, field and origin; an invalid value is not saved, and its error is shown.

    `changed` gives the name of a setting that was changed.
    """

    changed = Signal(str)

    def __init__(self, preferences: Preferences, variable: Variable[Any]) -> None:
        super().__init__()
        self.variable = variable
        self._preferences = preferences
        self.field = LineEdit()
        self.field.setFont(theme().font(tabular=True))
        self.field.setFixedWidth(sized(FIELD_WIDTH))
        self.field.setAccessibleName(variable.title)
        self.field.setPlaceholderText(variable.default)
        self.why = FlowText(variable.reason, size=Size.SMALL, role=Role.DIM)
        self.rule = Rule()
        self.source = Label(size=Size.SMALL, role=Role.DIM)
        self.back = button(Action(text="Use the default", do=self._use_default, kind="link"))
        self.back.setAccessibleName(f"Use the default of {variable.title}")
        self._lay_out()
        self.field.editingFinished.connect(self._take)
        self.field.typed.connect(lambda text: self._say(self.variable.fault(text)))
        self.show_value()

    def matches(self, words: Iterable[str]) -> bool:
        """Return True if the setting matches all words."""
        text = f"{self.variable.title} {self.variable.reason} {self.variable.name}".casefold()
        return all(word in text for word in words)

    def show_if(self, wanted: bool) -> bool:
        """Show or hide the row, and return the same."""
        self.setVisible(wanted)
        return wanted

    def show_value(self) -> None:
        """Show the value in force and its origin."""
        origin = self._preferences.origin(self.variable.name)
        self.field.setText(self._preferences.text(self.variable.name))
        self.field.setReadOnly(origin is Origin.ENVIRONMENT)
        self.field.setEnabled(origin is not Origin.ENVIRONMENT)
        default = f"default: {self.variable.default}"
        name = "DEFAULT_LLM_MODEL" if self.variable.name == "model" else self.variable.name
        words = {Origin.ENVIRONMENT: f"{name}, from the environment", Origin.HERE: f"Set here, {default}"}
        self.source.setText(words.get(origin, ""))
        self.source.setVisible(origin is not Origin.DEFAULT)
        self.back.setVisible(origin is Origin.HERE)
        self._say("")

    def _lay_out(self) -> None:
        left = column_layout(None, Label(self.variable.title, label=True), self.why, spacing=2)
        below = row_layout(None, self.source, self.back, spacing=12)
        below.addStretch(1)
        left.addLayout(below)
        unit = Label(self.variable.unit, role=Role.DIM)
        unit.setFixedSize(sized(UNIT_WIDTH), self.field.sizeHint().height())
        whole = column_layout(self, self.rule, spacing=8)
        row = row_layout(margins=(0, 0, 0, 8), spacing=12)
        whole.addLayout(row)
        row.addLayout(left, 1)
        row.addWidget(self.field, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(unit, 0, Qt.AlignmentFlag.AlignTop)

    def _take(self) -> None:
        text = self.field.text()
        if text.strip() == self._preferences.text(self.variable.name):
            return
        fault = self._preferences.set(self.variable.name, text)
        if fault:
            self._say(fault)
        else:
            self.show_value()
            self.changed.emit(self.variable.name)

    def _use_default(self) -> None:
        self._preferences.set(self.variable.name, "")
        self.show_value()
        self.changed.emit(self.variable.name)

    def _say(self, fault: str) -> None:
        self.why.set_text(fault or self.variable.reason, Role.BAD if fault else Role.DIM)
        self.field.setAccessibleDescription(fault or self.variable.reason)
        set_wrong(self.field, bool(fault))


class SettingsSection(Section):
    """Rows of settings with rules between them, and above them if `ruled`; `changed` gives a changed setting."""

    changed = Signal(str)

    def __init__(self, preferences: Preferences, note: str = "", *, ruled: bool = False) -> None:
        super().__init__(margins=False)
        self.column.setSpacing(0)
        self.rows: list[SettingRow] = []
        self._preferences = preferences
        if note:
            self.add(FlowText(note, role=Role.DIM))
            self.column.addSpacing(BELOW_NOTE)
        self._ruled = ruled or bool(note)
        self.column.addStretch(1)

    async def fill(self, variables: Iterable[Variable[Any]]) -> None:
        """Add a row for each variable, in several turns; they become visible together."""
        async with frozen_updates(self):
            for _ in in_turns(variables, self._add_row):
                await yield_to_ui()

    def _add_row(self, variable: Variable[Any]) -> None:
        row = SettingRow(self._preferences, variable)
        row.changed.connect(self.changed)
        row.rule.setVisible(self._ruled or bool(self.rows))
        self.rows.append(row)
        self.column.insertWidget(self.column.count() - 1, row)


NOTE = "Or press Ctrl with plus, minus or 0."


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
SIMILARITY = ("EMBEDDING_MODEL_TYPE", "CONFUSABILITY_THRESHOLD")
BASELINES = ("OFFLINE_WORDS_THRESHOLD", "OFFLINE_MEANING_THRESHOLD")
SERVERS = ("MCP_TOOL_PREFIX_SEPARATOR", "MCP_TEF_TRUSTED_NETWORKS")


class SettingsDialog(Dialog):
    """Settings dialog; `set_theme` and `set_contrast` apply an appearance, `reset` resets all settings."""

    autosaves = True

    def __init__(
        self,
        session: Session,
        parent: QWidget,
        *,
        set_theme: Callable[[str], object],
        set_contrast: Callable[[str], object],
        sizes: TextSizeSetting,
        reset: Callable[[], object],
        paths: SettingsPaths,
    ) -> None:
        super().__init__("Settings", parent, width=800)
        self.need(height=HEIGHT)
        self._session = session
        self._presenter = SettingsPresenter(session.call)
        self._paths = paths
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
        self.set_buttons([Action(text="Close", do=self.accept)], left=[back])

    def _add_tabs(self, general: GeneralSection) -> None:
        """Add the tabs; all but the first are built when they are opened, because building all is too slow."""
        self.pane.add_tab("general", "Appearance", general)
        for key, label, make in (
            ("runs", "Runs", lambda: self._rows([*RUNS, *_named(BASELINES)], RUN_NOTE)),
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
        data = Section(margins=False)
        data.column.setContentsMargins(0, 0, 0, 0)
        data.add(self._read(DataSection(self._session, self._presenter, self._paths)))
        data.add(self._rows(_named(["LOG_LEVEL"]), ruled=True))
        return data

    def _rows(self, variables: Sequence[Variable[Any]], note: str = "", *, ruled: bool = False) -> SettingsSection:
        section = self._section(note, ruled=ruled)
        self.while_open(self._session.spawn(section.fill(variables)))
        return section

    def _section(self, note: str = "", *, ruled: bool = False) -> SettingsSection:
        section = SettingsSection(self._session.preferences, note, ruled=ruled)
        section.changed.connect(self._apply_change)
        return section

    def _apply_change(self, name: str) -> None:
        """Apply a changed setting, and show it in other places of the dialog."""
        for row in self.findChildren(SettingRow):
            if row.variable.name == name and not row.field.hasFocus():
                row.show_value()
        self._session.spawn(self._session.configure())

    def _find(self, text: str) -> None:
        self._words = text.casefold().split()
        if not self._words:
            self._stack.setCurrentWidget(self.pane)
        elif self._finding is None:  # rows of all settings, built at the first search only
            self._finding = self._session.spawn(self._find_in_turns())
            self.while_open(self._finding)
        elif self._finding.done():
            self._narrow()

    async def _find_in_turns(self) -> None:
        await self._found.fill([*RUNS, *_named((*BASELINES, *SIMILARITY, *SERVERS, "LOG_LEVEL")), *LIMITS])
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
