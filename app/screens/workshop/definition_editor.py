"""The tool in work: its original texts beside those of the draft, changed words marked."""

from collections.abc import Iterator, Sequence
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.screens.workshop.commands import TOOL_KEYS
from app.screens.workshop.definition_fields import TEXTS, DefinitionField
from app.text.text_diff import Stretch, difference
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Button,
    FlowText,
    GrowingEdit,
    IconButton,
    Label,
    LineEdit,
    LineText,
    MenuButton,
    Notice,
    Rule,
    ScrollPane,
    Span,
    in_turns,
    tip,
)
from app.widgets.incremental import take_turns

MOST_FIELDS: Final = 40
EDGE: Final = 16


class DefinitionFieldView(QWidget):
    """One text: the original at the left, the draft to edit at the right. `edited` gives the key and the typed text."""

    edited = Signal(str, str)
    reset_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._field: DefinitionField | None = None
        self.caption = Label(strong=True)
        self.detail = Label(size=Size.SMALL, role=Role.DIM)
        self.reset = IconButton("arrow-u-up-left", "Take the original text", size=14)
        self.original = FlowText()
        self.draft = GrowingEdit("Draft", most=12)
        self.draft.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.draft.edited.connect(self._tell)
        self.line = LineEdit()
        self.line.editingFinished.connect(self._tell_line)
        self.choice = MenuButton("Draft")
        self.choice.changed.connect(self._tell)
        self._editors: tuple[QWidget, ...] = (self.draft, self.line, self.choice)
        self.reset.clicked.connect(lambda: self._field and self.reset_wanted.emit(self._field.key))
        theme().changed.connect(self._mark)
        self._lay_out()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        for part in (self.caption, self.detail):
            head.addWidget(part)
        head.addStretch(1)
        head.addWidget(self.reset)
        self.caption.setMinimumHeight(sized(24))
        grid = QGridLayout(self)
        grid.setContentsMargins(EDGE, 6, EDGE - 4, 6)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.addLayout(head, 0, 0, 1, 2)
        grid.addWidget(self.original, 1, 0, Qt.AlignmentFlag.AlignTop)
        for editor in self._editors:
            grid.addWidget(editor, 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        self.original.setContentsMargins(0, 6, 0, 0)
        self.original.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_field(self, field: DefinitionField) -> None:
        """Show another field, unless it is what stands there already."""
        typing = self.line.isModified() and self.editor() is self.line
        if field == self._field and (typing or self._value() == field.draft):
            return
        self._field = field
        self.caption.setFont(theme().font(strong=field.is_text, mono=field.key not in TEXTS))
        self.caption.setText(field.label)
        self.detail.setText(field.detail)
        self.reset.setAccessibleName(f"Take the original: {_said(field)}")
        self.draft.setFont(theme().font(mono=field.mono))
        if field.choices:
            self.choice.set_choices(field.choices, field.draft)
        elif field.line:
            self.line.setText(field.draft)
            self.line.setModified(False)
        else:
            self.draft.set_text(field.draft)
        for widget in self._editors:
            widget.setVisible(widget is self.editor())
        self.editor().setAccessibleName(f"{_said(field)}, draft")
        self._mark()

    def _value(self) -> str:
        if self.editor() is self.choice:
            return self.choice.current()
        return self.line.text() if self.editor() is self.line else self.draft.text()

    def editor(self) -> QWidget:
        """Return the widget that edits the shown field."""
        if self._field is None or not (self._field.choices or self._field.line):
            return self.draft
        return self.choice if self._field.choices else self.line

    @property
    def field(self) -> DefinitionField | None:
        """The shown text."""
        return self._field

    def _tell(self, text: str) -> None:
        if self._field is not None:
            self._mark()
            self.edited.emit(self._field.key, text)

    def _tell_line(self) -> None:
        if self.line.isModified():
            self.line.setModified(False)
            self._tell(self.line.text())

    def _mark(self) -> None:
        """Mark the words that differ: struck at the left, tinted at the right."""
        if self._field is not None:
            old, new = self._differing(self._field)
            self.original.set_spans(_original_spans(self._field, old))
            if self.editor() is self.draft:
                _tint(self.draft, new)

    def _differing(self, field: DefinitionField) -> tuple[Sequence[Stretch], Sequence[Stretch]]:
        """Return original and draft with their changed words, nothing where they are alike."""
        free = self.editor() is self.draft
        changed = field.original != (self.draft.text() if free else field.draft)
        self.reset.setVisible(changed and field.original is not None)
        now = self.draft.toPlainText() if free else field.shown(field.draft)
        return difference(field.shown(field.original or ""), now) if changed else ((), ())


def _said(field: DefinitionField) -> str:
    return field.label if field.is_text else f"{field.label}, {field.detail}"


def _original_spans(field: DefinitionField, old: Sequence[Stretch]) -> list[Span]:
    if not field.original:
        empty = field.shown("") or "Empty"
        return [Span("Not in the original" if field.original is None else empty, Role.DIM)]
    if not old:
        return [Span("Unchanged", Role.DIM)]
    return [Span(one.text, Role.BAD, back=Role.BAD_TINT, strike=True) if one.changed else Span(one.text) for one in old]


def _tint(edit: GrowingEdit, new: Sequence[Stretch]) -> None:
    """Tint the changed words of a field; without a signal, since nothing was typed."""
    ranges, at = [], 0
    for stretch in new:
        end = at + len(stretch.text.encode("utf-16-le")) // 2  # Qt counts UTF-16 units
        ranges += [(at, end)] if stretch.changed else []
        at = end
    block = edit.document().begin()
    while block.isValid():
        start, stop = block.position(), block.position() + block.length()
        inside = [
            (max(low, start) - start, min(high, stop) - start) for low, high in ranges if low < stop and high > start
        ]
        block.layout().setFormats([_tinted(low, high) for low, high in inside])
        block = block.next()
    edit.viewport().update()


def _tinted(start: int, end: int) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length = start, end - start
    look = QTextCharFormat()
    look.setBackground(theme().colour(Role.GOOD_TINT))
    look.setForeground(theme().colour(Role.GOOD))
    made.format = look
    return made


class DefinitionEditor(QWidget):
    """The head of the tool with undo and redo, and all its texts below each other."""

    edited = Signal(str, str)
    reset_wanted = Signal(str)
    step_wanted = Signal(int)
    every_wanted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.name = LineText(size=Size.LEAD, strong=True, mono=True)
        self.reason = LineText(size=Size.SMALL, role=Role.DIM)
        self.state = Label(size=Size.SMALL, role=Role.DIM)
        self.undo = IconButton("arrow-u-up-left", "Undo the last step of the draft")
        self.redo = IconButton("arrow-u-up-right", "Redo the step")
        self.history = IconButton("clock", "History of the draft")
        self.notice, self.put_in = Notice("bad"), Notice("info")
        self.removed = FlowText("This tool is removed in the draft. Undo brings it back.", role=Role.DIM)
        self.others = FlowText(size=Size.SMALL, role=Role.DIM)
        self.more = Button("", kind="link")
        self.every = Button("", kind="link")
        self._fields: tuple[DefinitionField, ...] = ()
        self._all = self._every = False
        self._turn = 0
        self._wanted = ""
        self._tool = ""
        self._told = ("", "")
        self.rows: list[DefinitionFieldView] = []
        self.undo.setToolTip("Undo the last step of the draft: Ctrl+Alt+Z")
        self.redo.setToolTip("Redo the step: Ctrl+Alt+Y")
        self._lay_out()
        self.undo.clicked.connect(lambda: self.step_wanted.emit(-1))
        self.redo.clicked.connect(lambda: self.step_wanted.emit(1))
        self.more.clicked.connect(self._show_all)
        self.every.clicked.connect(lambda: self.every_wanted.emit(not self._every))

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(EDGE, 8, EDGE - 4, 8)
        head.setSpacing(8)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.name)
        words.addWidget(self.reason)
        head.addLayout(words, 1)
        for part in (self.state, self.undo, self.redo, self.history):
            head.addWidget(part)
        inside = QWidget()
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 4, 0, 12)
        column.setSpacing(0)
        captions = QGridLayout()
        captions.setContentsMargins(EDGE, 4, EDGE - 4, 0)
        captions.setHorizontalSpacing(16)
        for place, (words_of, stretch) in enumerate((("Original", 2), ("Draft", 3))):
            cell = QHBoxLayout()
            cell.addWidget(Label(words_of, size=Size.SMALL, role=Role.DIM), 1)
            captions.addLayout(cell, 0, place)
            captions.setColumnStretch(place, stretch)
        cell.addWidget(self.every)
        column.addLayout(captions)
        column.addLayout(self._column)
        below = QVBoxLayout()
        below.setContentsMargins(EDGE, 8, EDGE, 0)
        below.addWidget(self.removed)
        below.addWidget(self.others)
        below.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addLayout(below)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(head)
        outer.addWidget(Rule())
        outer.addWidget(self.notice)
        outer.addWidget(self.put_in)
        self._pane = ScrollPane(inside, "Texts of the tool")
        outer.addWidget(self._pane, 1)
        self._pane.verticalScrollBar().rangeChanged.connect(lambda *_: self._keep_in_view())

    def show_tool(self, key: str, name: str, reason: str) -> None:
        """Show another tool's head; its texts follow with `show_fields`."""
        if key != self._tool:
            self._tool, self._all, self._wanted = key, False, ""
        self.name.set_text(name)
        self.name.setToolTip(tip(f"{name}\n{TOOL_KEYS}"))
        self.reason.set_text(reason)
        self.reason.setVisible(bool(reason))

    def show_put_in(self, message: str, why: str) -> None:
        """Tell what was put into the tool from a finding, and why; nothing where the message is empty."""
        if (message, why) != self._told:  # screen readers hear each message
            self._told = message, why
            self.put_in.show_message(message, why)

    def show_state(self, text: str, *, undo: bool, redo: bool) -> None:
        """Show if all is saved, and which steps there are."""
        self.state.setText(text)
        self.undo.setEnabled(undo)
        self.redo.setEnabled(redo)

    def show_every(self, *, every: bool) -> None:
        """Offer the other choice: texts and changes only, or every field of the tool."""
        self._every = every
        self.every.setText("Show texts only" if every else "Show all fields")

    def show_fields(self, fields: Sequence[DefinitionField], others: Sequence[str], *, removed: bool) -> None:
        """Show these fields; rows that are missing are built in turns."""
        self._fields = tuple(fields)
        self.removed.setVisible(removed)
        self.others.setVisible(bool(others))
        self.others.set_text("Other changes: " + "\n".join(others))
        shown = self._fields if self._all else self._fields[:MOST_FIELDS]
        self.more.setVisible(len(shown) < len(self._fields))
        self.more.setText(f"Show all {len(self._fields):,} fields")
        self._turn += 1
        steps = self._steps(self._turn, in_turns(enumerate(shown), lambda one: self._show_row(*one)), len(shown))
        if len(shown) <= len(self.rows):
            for _ in steps:
                pass
        else:
            take_turns(self, steps)

    def _steps(self, turn: int, placing: Iterator[None], number: int) -> Iterator[None]:
        for _ in placing:
            yield
            if turn != self._turn:
                return
        for place, row in enumerate(self.rows):
            row.setVisible(place < number)
        if wanted := self._wanted:
            self.focus(wanted)

    def _show_row(self, place: int, field: DefinitionField) -> None:
        if place == len(self.rows):
            row = DefinitionFieldView()
            row.edited.connect(self.edited)
            row.reset_wanted.connect(self.reset_wanted)
            self.rows.append(row)
            self._column.addWidget(row)
        self.rows[place].show_field(field)
        self.rows[place].show()

    def _show_all(self) -> None:
        self._all = True
        self.show_fields(self._fields, (), removed=False)

    def focus(self, key: str) -> None:
        """Give the keyboard to a field, once it is built, and scroll to it once it has its place."""
        row = self.row(key)
        self._wanted = key if row is None else ""
        if row is not None:
            row.editor().setFocus()
            QTimer.singleShot(0, row, self._keep_in_view)

    def _keep_in_view(self) -> None:
        """Scroll to the field that has the keyboard, also once a message above it has taken its room."""
        for row in self.rows:
            if row.isVisible() and row.editor().hasFocus():
                self._pane.ensureWidgetVisible(row, 0, EDGE)

    def row(self, key: str) -> DefinitionFieldView | None:
        """Return the row of a text by its key, if it is shown."""
        return next((row for row in self.rows if row.field and row.field.key == key and not row.isHidden()), None)
