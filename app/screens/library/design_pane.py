"""Definition of a library tool: its texts, its executor, its schemas, and the bar that saves a version."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.screens.library.design_draft import EXECUTORS, DesignDraft
from app.screens.library.executor_form import ExecutorForm
from app.screens.library.schema_editor import SchemaEditor
from app.screens.library.schema_text import SchemaText
from app.theme import Role, Size, theme
from app.widgets import (
    Button,
    Field,
    FlowText,
    GrowingEdit,
    Label,
    LineEdit,
    MenuButton,
    Rule,
    ScrollPane,
    Segmented,
    column_layout,
    row_layout,
)
from mcp_tef import ExecutorKind, ToolCategory

INPUT, OUTPUT, NEW_CATEGORY = "input", "output", "+"
PAUSE_MS: Final = 400
SIDE: Final = 16


class SaveBar(QWidget):
    """Bar below a changed design: what is wrong with it, what the version changes, and its buttons."""

    save_wanted = Signal()
    discard_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fault = FlowText(size=Size.SMALL, role=Role.BAD)
        self.changelog = LineEdit()
        self.changelog.setPlaceholderText("What changes (optional)")
        self.changelog.setAccessibleName("What this version changes")
        self.discard, self.save = Button("Discard"), Button("Save")
        self.discard.clicked.connect(self.discard_wanted)
        self.save.clicked.connect(self.save_wanted)
        self.changelog.returnPressed.connect(self.save_wanted)
        row = row_layout(spacing=8)
        row.addWidget(self.changelog, 1)
        for part in (self.discard, self.save):
            row.addWidget(part)
        column_layout(self, self.fault, row, margins=(SIDE, 8, SIDE, 8), spacing=8)

    def show_fault(self, text: str) -> None:
        """Show what keeps the design from being saved; "" if nothing does."""
        self.fault.set_text(text)
        self.fault.setVisible(bool(text))


class DesignPane(QWidget):
    """All fields of a design. `edited` gives the draft after a change, `paused` follows a pause in typing."""

    edited = Signal(object)
    paused = Signal()
    category_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._draft = DesignDraft()
        self._shown = INPUT
        self.name, self.display_name, self.tags = LineEdit(), LineEdit(), LineEdit()
        self.description = GrowingEdit("Description", least=2, most=8)
        self.category, self.executor = MenuButton("Category"), MenuButton("Runs as")
        self.config = ExecutorForm()
        self.script = GrowingEdit("Script", mono=True, size=Size.SMALL, least=4, most=24)
        self.which = Segmented([(INPUT, "Input"), (OUTPUT, "Output")], "Schema")
        self.schema = SchemaEditor("Schema")
        self.advice = FlowText(size=Size.SMALL, role=Role.WARN)
        self.bar = SaveBar()
        self._script_field = Field("Script", self.script)
        self._rule = Rule()
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = column_layout(inside, margins=(SIDE, 12, SIDE - 8, 16), spacing=12)
        self.name.setFont(theme().font(mono=True))
        self.executor.set_choices([(kind.value, text) for kind, text in EXECUTORS.items()], "")
        first = (("Name", self.name), ("Display name", self.display_name), ("Category", self.category))
        column.addLayout(_line(first))
        column.addWidget(Field("Description", self.description))
        column.addWidget(self.advice)
        head = row_layout(None, Label("Schema", strong=True), self.which, spacing=12)
        head.addStretch(1)
        column.addLayout(head)
        column.addWidget(self.schema)
        column.addWidget(Rule())
        column.addLayout(_line((("Runs as", self.executor), ("Tags", self.tags))))
        column.addWidget(self._script_field)
        column.addWidget(self.config)
        column.addStretch(1)
        outer = column_layout(self)
        outer.addWidget(ScrollPane(inside, "Definition"), 1)
        for part in (self._rule, self.bar):
            outer.addWidget(part)
            part.hide()

    def _connect(self) -> None:
        texts: Sequence[tuple[str, Any]] = (
            *(("name", self.name.typed), ("display_name", self.display_name.typed), ("tags", self.tags.typed)),
            *(("description", self.description.edited), ("config", self.config.edited), ("script", self.script.edited)),
        )
        for field, signal in texts:
            signal.connect(partial(self._type, field))
        self.category.changed.connect(self._choose_category)
        self.executor.changed.connect(lambda key: self._take(self._draft.with_executor(ExecutorKind(key)), again=True))
        self.which.changed.connect(self._turn)
        self.schema.edited.connect(self._type_schema)
        self._pause.timeout.connect(self.paused)

    def show_draft(self, draft: DesignDraft, categories: Sequence[ToolCategory]) -> None:
        """Show a design as typed."""
        self._draft = draft
        for edit, text in (
            (self.name, draft.name),
            (self.display_name, draft.display_name),
            (self.tags, draft.tags),
        ):
            if edit.text() != text:
                edit.setText(text)
                edit.setCursorPosition(0)
        for area, text in (
            (self.description, draft.description),
            (self.script, draft.script),
        ):
            area.set_text(text)
        choices: list[tuple[str, str] | None] = [("", "None"), *((one.name, one.name) for one in categories)]
        self.category.set_choices([*choices, None, (NEW_CATEGORY, "New category…")], draft.category)
        self.executor.set_current(draft.executor.value)
        self._show_executor(draft)
        self._show_schema()

    def show_state(self, *, unsaved: bool, version: int, fault: str, advice: str) -> None:
        """Show if a version can be saved, what is wrong with it, and what Quality finds in it."""
        for part in (self._rule, self.bar):
            part.setVisible(unsaved)
        self.bar.show_fault(fault if unsaved else "")
        self.bar.save.setText(f"Save version {version + 1}")
        self.bar.save.setToolTip("Ctrl+S")
        self.advice.set_text(advice)
        self.advice.setVisible(bool(advice))

    def commit(self) -> None:
        """Read the field that has the keyboard, whose text was not reported yet."""
        self.schema.commit()

    def draft(self) -> DesignDraft:
        """Return the design as entered."""
        return self._draft

    def stop(self) -> None:
        """Wait for no pause any more, since the window closes."""
        self._pause.stop()

    def _type(self, field: str, text: str) -> None:
        changed: dict[str, Any] = {field: text}
        self._take(replace(self._draft, **changed))

    def _type_schema(self, schema: SchemaText) -> None:
        draft = self._draft
        self._take(replace(draft, input=schema) if self._shown == INPUT else replace(draft, output=schema))

    def _choose_category(self, key: str) -> None:
        if key == NEW_CATEGORY:
            self.category.set_current(self._draft.category)
            self.category_wanted.emit()
        else:
            self._type("category", key)

    def _turn(self, key: str) -> None:
        self.schema.commit()
        self._shown = key
        self._show_schema()

    def _show_schema(self) -> None:
        self.schema.show_schema(self._draft.input if self._shown == INPUT else self._draft.output)

    def _show_executor(self, draft: DesignDraft) -> None:
        self.config.show_config(draft.executor, draft.config)
        self._script_field.setVisible(draft.executor is ExecutorKind.PYTHON)

    def _take(self, draft: DesignDraft, *, again: bool = False) -> None:
        if again:
            self.script.set_text(draft.script)
            self._show_executor(draft)
        self._draft = draft
        self.edited.emit(draft)
        self._pause.start()


def _line(parts: Sequence[tuple[str, QWidget]]) -> QHBoxLayout:
    row = row_layout(spacing=8)
    for title, widget in parts:
        row.addWidget(Field(title, widget), 1)
    return row
