"""One setting as a row: what it is, why, its field, and where its value comes from."""

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.preferences import Origin, Preferences
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Action,
    FlowText,
    Label,
    LineEdit,
    Rule,
    Section,
    button,
    frozen_updates,
    in_turns,
    set_wrong,
    yield_to_ui,
)
from mcp_tef import Variable

FIELD_WIDTH = 172
UNIT_WIDTH = 72
BELOW_NOTE = 12


class SettingRow(QWidget):
    """`changed` says that another value holds now; a value that cannot be meant is not taken, and the row says why."""

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
        """Be seen, or not."""
        self.setVisible(wanted)
        return wanted

    def show_value(self) -> None:
        """Show what holds now, and where it comes from."""
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
        left = QVBoxLayout()
        left.setSpacing(2)
        left.addWidget(Label(self.variable.title, label=True))
        left.addWidget(self.why)
        below = QHBoxLayout()
        below.setSpacing(12)
        below.addWidget(self.source)
        below.addWidget(self.back)
        below.addStretch(1)
        left.addLayout(below)
        unit = Label(self.variable.unit, role=Role.DIM)
        unit.setFixedSize(sized(UNIT_WIDTH), self.field.sizeHint().height())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self.rule)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 8)
        row.setSpacing(12)
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
    """Rows of settings with hairlines between them, `ruled` ones above too; `changed` names the one that was set."""

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
        """Make a row of each below the others, in turns; they are seen once all are there."""
        async with frozen_updates(self):
            for _ in in_turns(variables, self._add_row):
                await yield_to_ui()

    def _add_row(self, variable: Variable[Any]) -> None:
        row = SettingRow(self._preferences, variable)
        row.changed.connect(self.changed)
        row.rule.setVisible(self._ruled or bool(self.rows))
        self.rows.append(row)
        self.column.insertWidget(self.column.count() - 1, row)
