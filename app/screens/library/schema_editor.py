"""Editor of a schema: a row of fields for each parameter, beside the JSON of all of them."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.arguments.values import UnreadableError
from app.screens.library.schema_text import LIMITS, OTHER, TYPES, SchemaRow, SchemaText
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Button,
    FlowText,
    GrowingEdit,
    IconButton,
    Label,
    LineEdit,
    MenuButton,
    column_layout,
    row_layout,
    set_wrong,
)
from app.widgets.incremental import take_turns

REQUIRED_WIDTH, BUTTON = 58, 20
NAME, TYPE, DESCRIPTION = 28, 37, 35
BESIDE: Final = 520
MOST_LIMITS: Final = max(map(len, LIMITS.values()))
GAP: Final = 6
BUILT_AT_ONCE: Final = 2


class SchemaRowEditor(QWidget):
    """Fields of one parameter; `changed` gives its name, the field and the new text."""

    changed = Signal(str, str, str)
    remove_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._row = SchemaRow(name="")
        self._open = False
        self.name, self.description, self.values, self.default = (LineEdit() for _ in range(4))
        self.limits = tuple((Label(size=Size.SMALL, role=Role.DIM), LineEdit()) for _ in range(MOST_LIMITS))
        self.type = MenuButton("Type")
        self.required = QCheckBox()
        self.more = IconButton("dots-three", "Allowed values, default and limits", size=14)
        self.remove = IconButton("x", "Remove the parameter", size=14)
        self._second, self._third = QWidget(), QWidget()
        self._lay_out()
        for edit in (self.name, self.values, self.default, *(edit for _, edit in self.limits)):
            edit.editingFinished.connect(partial(self._finished, edit))
        self.description.typed.connect(partial(self._tell, "description"))
        self.type.changed.connect(partial(self._tell, "type"))
        self.required.clicked.connect(lambda on: self._tell("required", "yes" if on else ""))
        self.more.clicked.connect(self._toggle)
        self.remove.clicked.connect(lambda: self.remove_wanted.emit(self._row.name))

    def _lay_out(self) -> None:
        self.name.setFont(theme().font(mono=True))
        for small in (self.more, self.remove):
            small.setFixedWidth(sized(BUTTON))
        holder = QWidget()
        holder.setFixedWidth(sized(REQUIRED_WIDTH))
        _line(holder).addWidget(self.required, 0, Qt.AlignmentFlag.AlignHCenter)
        always = QWidget()
        first = _line(always)
        parts = ((self.name, NAME), (self.type, TYPE), (holder, 0), (self.description, DESCRIPTION))
        for part, stretch in (*parts, (self.more, 0), (self.remove, 0)):
            first.addWidget(part, stretch)
            if stretch:
                part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._lay_out_more(_line(self._second), _line(self._third))
        self.description.setPlaceholderText("No description")
        self.values.setPlaceholderText("any")
        column = column_layout(self, always, spacing=GAP)
        for part in (self._second, self._third):
            column.addWidget(part)
            part.hide()

    def _lay_out_more(self, second: QHBoxLayout, third: QHBoxLayout) -> None:
        for line in (second, third):
            line.addSpacing(sized(BUTTON))
        for title, edit, stretch in (("Values", self.values, 3), ("Default", self.default, 2)):
            second.addWidget(Label(title, size=Size.SMALL, role=Role.DIM))
            second.addWidget(edit, stretch)
        for place, (label, edit) in enumerate(self.limits):
            third.addWidget(label)
            third.addWidget(edit, 1 + 3 * (place == MOST_LIMITS - 1))
            edit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for line in (second, third):
            line.addSpacing(2 * (sized(BUTTON) + GAP))

    def show_row(self, row: SchemaRow) -> None:
        """Show a parameter; a field that is being typed in keeps its text."""
        if row.name != self._row.name:
            self._open = False
        self._row = row
        edits = (self.name, self.description, self.values, self.default)
        for edit, text in zip(edits, (row.name, row.description, row.values, row.default), strict=True):
            _show_text(edit, text)
        choices = list(TYPES.items())
        self.type.set_choices([*choices, None, (OTHER, row.type_text)] if row.type == OTHER else choices, row.type)
        self.required.setChecked(row.required)
        self._name_fields(row.name)
        self._show_limits(row)
        self._unfold()

    def _show_limits(self, row: SchemaRow) -> None:
        keywords = LIMITS.get(row.type, {})
        for place, (label, edit) in enumerate(self.limits):
            keyword = tuple(keywords)[place] if place < len(keywords) else ""
            label.setText(keywords.get(keyword, ""))
            _show_text(edit, row.limits.get(keyword, ""))
            for part in (label, edit):
                part.setVisible(bool(keyword))

    def _unfold(self) -> None:
        row = self._row
        self._second.setVisible(self._open or bool(row.values or row.default))
        self._third.setVisible(row.type in LIMITS and (self._open or any(row.limits.values())))

    def _fields(self) -> dict[str, LineEdit]:
        """Return the fields that are read when they are left."""
        limits = zip(LIMITS.get(self._row.type, ()), self.limits, strict=False)
        fields = {"values": self.values, "default": self.default, **{key: edit for key, (_, edit) in limits}}
        return {**fields, "name": self.name}

    def _name_fields(self, name: str) -> None:
        limits = [
            (edit, f"{title} of")
            for title, (_, edit) in zip(LIMITS.get(self._row.type, {}).values(), self.limits, strict=False)
        ]
        named = (
            *limits,
            *((self.name, "Name of"), (self.description, "Description of"), (self.required, "Required:")),
            *((self.values, "Allowed values of"), (self.default, "Default of"), (self.remove, "Remove")),
            (self.more, "Allowed values, default and limits of"),
        )
        for widget, words in named:
            widget.setAccessibleName(f"{words} {name}")

    def show_wrong(self, field: str) -> None:
        """Mark the field whose text was not taken."""
        if field in (fields := self._fields()):
            set_wrong(fields[field], wrong=True)

    def row(self) -> SchemaRow:
        """Return the shown parameter."""
        return self._row

    def commit(self) -> None:
        """Read the field that has the keyboard, whose text was not reported yet."""
        for edit in self._fields().values():
            self._finished(edit)

    def _toggle(self) -> None:
        self._open = self._second.isHidden()
        self._unfold()
        if self._open:
            self.values.setFocus()

    def _finished(self, edit: LineEdit) -> None:
        field = next((key for key, one in self._fields().items() if one is edit), "")
        if field and edit.isModified():
            edit.setModified(False)
            set_wrong(edit, wrong=False)
            self._tell(field, edit.text())

    def _tell(self, field: str, text: str) -> None:
        self.changed.emit(self._row.name, field, text)


def _line(holder: QWidget) -> QHBoxLayout:
    return row_layout(holder, spacing=GAP)


def _show_text(edit: LineEdit, text: str) -> None:
    if edit.text() != text and not (edit.hasFocus() and edit.isModified()):
        edit.setText(text)
        edit.setCursorPosition(0)
        set_wrong(edit, wrong=False)


class SchemaEditor(QWidget):
    """Form and JSON of one schema. `edited` gives the schema after the user changed it."""

    edited = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._schema = SchemaText()
        self._turn = 0
        self.rows: list[SchemaRowEditor] = []
        self.json = GrowingEdit(f"{name} as JSON", mono=True, size=Size.SMALL, least=10, most=22)
        self.add = Button("Add a parameter", kind="link")
        self.fault = FlowText(size=Size.SMALL, role=Role.BAD)
        self._heads = QWidget()
        self._column = QVBoxLayout()
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._lay_out()
        self.add.clicked.connect(self._add)
        self.json.edited.connect(lambda text: self._take(self._schema.typed(text)))

    def _lay_out(self) -> None:
        heads = row_layout(self._heads, spacing=GAP)
        titles = (("Name", NAME), ("Type", TYPE), ("Required", 0), ("Description", DESCRIPTION))
        for title, stretch in titles:
            label = Label(title, size=Size.SMALL, role=Role.DIM, label=True)
            if stretch:
                label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            else:
                label.setFixedWidth(sized(REQUIRED_WIDTH))
            heads.addWidget(label, stretch)
        self._column.setSpacing(GAP)
        form = column_layout(spacing=GAP)
        heads.addSpacing(2 * (sized(BUTTON) + GAP))
        form.addWidget(self._heads)
        form.addLayout(self._column)
        form.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        form.addWidget(self.fault)
        form.addStretch(1)
        self.fault.hide()
        self._both.setContentsMargins(0, 0, 0, 0)
        self._both.setSpacing(16)
        self._both.addLayout(form, 5)
        self._both.addWidget(self.json, 2, Qt.AlignmentFlag.AlignTop)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the JSON below the form where there is no room beside it."""
        super().resizeEvent(event)
        beside = event.size().width() >= sized(BESIDE)
        directions = QBoxLayout.Direction
        self._both.setDirection(directions.LeftToRight if beside else directions.TopToBottom)

    def show_schema(self, schema: SchemaText) -> None:
        """Show a schema in the form and as JSON."""
        self._schema = schema
        self.json.set_text(schema.text)
        set_wrong(self.json, bool(schema.fault))
        self._say(schema.fault)
        rows = schema.rows()
        self._heads.setVisible(bool(rows))
        self._turn += 1
        steps = self._steps(self._turn, rows)
        if len(rows) - len(self.rows) <= BUILT_AT_ONCE:
            for _ in steps:
                pass
        else:
            take_turns(self, steps)

    def schema(self) -> SchemaText:
        """Return the schema as entered."""
        return self._schema

    def commit(self) -> None:
        """Read the field that has the keyboard, whose text was not reported yet."""
        for row in self.rows:
            if not row.isHidden():
                row.commit()

    def _steps(self, turn: int, rows: tuple[SchemaRow, ...]) -> Iterator[None]:
        """Show the rows; those that are missing are built a few in each turn of the event loop."""
        for place, row in enumerate(rows):
            if place == len(self.rows):
                self._build()
                yield
                if turn != self._turn:
                    return
            self.rows[place].show_row(row)
            self.rows[place].setEnabled(not self._schema.fault)
        for place, editor in enumerate(self.rows):
            editor.setVisible(place < len(rows))
        self.add.setEnabled(not self._schema.fault)

    def _build(self) -> None:
        editor = SchemaRowEditor()
        editor.changed.connect(self._change)
        editor.remove_wanted.connect(lambda name: self._take(self._schema.without_row(name)))
        self.rows.append(editor)
        self._column.addWidget(editor)

    def _add(self) -> None:
        self._take(self._schema.with_new_row())
        place = len(self._schema.rows()) - 1
        if place < len(self.rows):
            self.rows[place].name.setFocus()
            self.rows[place].name.selectAll()

    def _change(self, name: str, field: str, text: str) -> None:
        try:
            self._take(self._schema.with_value(name, field, text))
        except UnreadableError as error:
            self._say(str(error))
            for row in self.rows:
                if row.row().name == name:
                    row.show_wrong(field)

    def _take(self, schema: SchemaText) -> None:
        if schema != self._schema:
            self.show_schema(schema)
            self.edited.emit(schema)

    def _say(self, fault: str) -> None:
        self.fault.set_text(fault)
        self.fault.setVisible(bool(fault))
