"""Editor of a prompt: its text with the variables marked, their values, the bar that saves it, and its preview."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.dialogs.prompt_variables import GIVEN_BY_RUN, VariableFields
from app.screens.models.prompts_presenter import KIND_TEXTS, Preview, PromptFault, PromptsPresenter
from app.text.formatting import count
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Action,
    Button,
    Field,
    FlowText,
    Label,
    LineEdit,
    LineText,
    Links,
    MenuButton,
    Picker,
    PickItem,
    Rule,
    ScrollPane,
    Span,
    TextArea,
    column_layout,
    row_layout,
)
from app.widgets.safe_text import units
from mcp_tef import BUILT_IN_VARIABLES, PromptKind, PromptTemplate, template_pieces

SIDE: Final = 16
MOST_HEIGHT: Final = 16_777_215
ONE_ROW_UP_TO: Final = 150
"""Largest text, in percent, at which the name has its note beside it, and kind, model and note stand in one row."""


class PromptText(TextArea):
    """Text of a prompt with its variables marked, those that nobody declares in another colour.

    `edited` gives the text after the user changed it.
    """

    edited = Signal(str)

    def __init__(self) -> None:
        super().__init__("What the model is told. Write {{name}} for a variable.")
        self.setAccessibleName("Text of the prompt")
        self.setMinimumHeight(sized(140))
        self.setMaximumHeight(MOST_HEIGHT)
        self._known: frozenset[str] = frozenset()
        self._quiet = False
        self.textChanged.connect(self._tell)
        theme().changed.connect(self.mark)

    def show_text(self, text: str, known: frozenset[str]) -> None:
        """Show a text, unless it is what stands there already."""
        self._known = known
        if text != self.text():
            self._quiet = True
            self.setPlainText(text)
            self._quiet = False
        self.mark()

    def mark(self) -> None:
        """Colour the variables; without a signal, since nothing was typed."""
        block = self.document().begin()
        while block.isValid():
            formats, at = [], 0
            for piece, name in template_pieces(block.text()):
                length = units(piece)
                formats += [_marked(at, length, known=name in self._known)] if name else []
                at += length
            block.layout().setFormats(formats)
            block = block.next()
        self.viewport().update()

    def _tell(self) -> None:
        if not self._quiet:
            self.mark()
            self.edited.emit(self.text())


def _marked(start: int, length: int, *, known: bool) -> QTextLayout.FormatRange:
    made, look = QTextLayout.FormatRange(), QTextCharFormat()
    look.setBackground(theme().colour(Role.SELECTED if known else Role.BAD_TINT))
    look.setForeground(theme().colour(Role.ACCENT if known else Role.BAD))
    made.start, made.length, made.format = start, length, look
    return made


class PromptEditor(QWidget):
    """The shown version. `edited` gives the template after a change; the other signals ask for what they say."""

    edited = Signal(object)
    save_wanted = Signal()
    discard_wanted = Signal()
    declare_wanted = Signal(str)
    correct_wanted = Signal(object)
    copy_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._template: PromptTemplate | None = None
        self.title = LineText(size=Size.LEAD, strong=True)
        self.aside = LineText(size=Size.SMALL, role=Role.DIM)
        self.kind = MenuButton("Kind", [(kind.value, text) for kind, text in KIND_TEXTS.items()])
        self.model, self.note = LineEdit(), LineEdit()
        self.text = PromptText()
        self.variables = VariableFields("Variables of the prompt", placeholder=GIVEN_BY_RUN, can_remove=True)
        self.built_in = FlowText(size=Size.SMALL, role=Role.DIM)
        self.state = FlowText(size=Size.SMALL)
        self.fixes = Links(12)
        self.discard, self.save = Button("Discard"), Button("Save")
        self._bar = QWidget()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self.model.setPlaceholderText("Any model")
        self.note.setPlaceholderText("What this version is for")
        self.kind.setMinimumWidth(sized(124))
        inside = QWidget()
        column = column_layout(inside, margins=(SIDE, 12, SIDE - 8, 12), spacing=10)
        wide = sized(100) <= ONE_ROW_UP_TO
        head, fields = (QHBoxLayout() if wide else QVBoxLayout() for _ in range(2))
        head.addWidget(self.title, 1)
        head.addWidget(self.aside)
        fields.setSpacing(12)
        for label, edit, stretch in (("Kind", self.kind, 0), ("Meant for", self.model, 1), ("Note", self.note, 2)):
            fields.addWidget(Field(label, edit), stretch)
        column.addLayout(head)
        column.addLayout(fields)
        column.addWidget(self.text, 1)
        for part in (self.state, self.fixes, self.variables, self.built_in):
            column.addWidget(part)
        row = row_layout(self._bar, margins=(SIDE, 8, SIDE, 8), spacing=8)
        row.addStretch(1)
        row.addWidget(self.discard)
        row.addWidget(self.save)
        outer = column_layout(self)
        outer.addWidget(ScrollPane(inside, "Prompt"), 1)
        outer.addWidget(Rule())
        outer.addWidget(self._bar)

    def _connect(self) -> None:
        self.kind.changed.connect(lambda key: self._type(kind=PromptKind(key)))
        self.model.typed.connect(lambda text: self._type(model=text.strip()))
        self.note.typed.connect(lambda text: self._type(note=text))
        self.text.edited.connect(lambda text: self._type(text=text))
        self.variables.typed.connect(lambda: self._type(variables=self.variables.values()))
        self.variables.removed.connect(self._remove)
        self.save.clicked.connect(self.save_wanted)
        self.discard.clicked.connect(self.discard_wanted)

    def _type(self, **changed: Any) -> None:
        if self._template is not None:
            self._template = replace(self._template, **changed)
            self.edited.emit(self._template)

    def _remove(self, name: str) -> None:
        values = self.variables.values()
        values.pop(name, None)
        self._type(variables=values)

    def show_prompt(self, presenter: PromptsPresenter) -> None:
        """Show the version that the presenter shows, as typed."""
        shown, can_edit = presenter.shown, presenter.can_edit
        self._template = shown
        self.title.set_text(f"{shown.name}, version {shown.version}")
        self.kind.set_current(shown.kind.value)
        self.kind.setEnabled(can_edit)
        for edit, text in ((self.model, shown.model), (self.note, shown.note)):
            if edit.text() != text:
                edit.setText(text)
                edit.setCursorPosition(0)
            edit.setEnabled(can_edit)
        known = frozenset((*shown.variables, *BUILT_IN_VARIABLES[shown.kind]))
        self.text.show_text(shown.text, known)
        self.text.setReadOnly(not can_edit)
        self.variables.show_values(shown.variables, can_edit=can_edit)
        filled = ", ".join(f"{{{{{name}}}}} {value}" for name, value in _short(presenter.built_in_values()).items())
        self.built_in.set_text(f"Filled by mcp-tef: {filled}.")
        self._show_aside(presenter)
        self._show_state(presenter)

    def _show_state(self, presenter: PromptsPresenter) -> None:
        fault = presenter.fault()
        self.state.set_text(fault.sentence if fault else presenter.state_text(), Role.BAD if fault else Role.DIM)
        self.fixes.set_links(self._fixes(fault) if fault and presenter.can_edit else [])
        self.fixes.setVisible(bool(fault and fault.unknown and presenter.can_edit))
        self._bar.setVisible(presenter.unsaved)
        self.save.setText(f"Save version {presenter.latest.version + 1}")
        self.save.setToolTip("Ctrl+S")
        self.save.setEnabled(fault is None)

    def _show_aside(self, presenter: PromptsPresenter) -> None:
        self.aside.set_text(_aside(presenter))

    def _fixes(self, fault: PromptFault) -> list[Action]:
        found = [
            Action(text=f"Declare {fault.unknown}", do=lambda: self.declare_wanted.emit(fault.unknown), kind="link")
        ]
        if fault.nearest:
            text = f"Write {{{{{fault.nearest}}}}}"
            found.insert(0, Action(text=text, do=lambda: self.correct_wanted.emit(fault), kind="link"))
        return found


def _aside(presenter: PromptsPresenter) -> str:
    if presenter.can_edit:
        return f"A change makes version {presenter.latest.version + 1}"
    return "Built in: copy it to change it" if presenter.latest.built_in else "An earlier version, as it was"


LONGEST_VALUE: Final = 40


def _short(values: dict[str, str]) -> dict[str, str]:
    lines = {name: " ".join(value.split()) for name, value in values.items()}
    return {
        name: (one if len(one) <= LONGEST_VALUE else f"{one[: LONGEST_VALUE - 1]}…") or "nothing yet"
        for name, one in lines.items()
    }


MOST_TOOLS: Final = 12


class PromptPreview(QWidget):
    """The request as the model gets it, for the case that `case` names, above the differences from `against`."""

    def __init__(self) -> None:
        super().__init__()
        self.case = Picker("Case of the preview", "No case")
        self.system, self.tools, self.query = FlowText(), FlowText(mono=True), FlowText()
        self.against = MenuButton("Compare with")
        self.summary = Label(size=Size.SMALL, role=Role.DIM)
        self.changes = FlowText()
        inside = QWidget()
        column = column_layout(inside, self.case, margins=(SIDE, 12, SIDE - 8, 12), spacing=8)
        texts: tuple[tuple[str, QWidget], ...] = (("Prompt", self.system), ("Tools", self.tools), ("User", self.query))
        for title, part in texts:
            column.addWidget(Label(title, size=Size.SMALL, role=Role.DIM, strong=True))
            column.addWidget(part)
        self._rule = Rule()
        self.against.setMinimumWidth(sized(112))
        column.addWidget(self._rule)
        head = row_layout(
            None, Label("Differences from", size=Size.SMALL, role=Role.DIM, strong=True), self.against, spacing=None
        )
        head.addStretch(1)
        self._head = QWidget()
        self._head.setLayout(head)
        head.setContentsMargins(0, 0, 0, 0)
        for part in (self._head, self.summary, self.changes):
            column.addWidget(part)
        column.addStretch(1)
        column_layout(self, ScrollPane(inside, "Preview of the request"), spacing=None)
        self.setMinimumWidth(sized(220))

    def show_cases(self, presenter: PromptsPresenter) -> None:
        """Offer the cases."""
        items = [
            PickItem(id=one.id, title=one.name, detail=one.draft.query, mono=False) for one in presenter.cases.values()
        ]
        self.case.set_items(items)
        self.case.set_current(presenter.case_id or "")
        self.case.setEnabled(bool(items))

    def show_prompt(self, presenter: PromptsPresenter) -> None:
        """Show the request and the differences."""
        self._show_request(presenter.preview())
        earlier = [one for one in presenter.versions if one.version != presenter.version]
        self.against.set_choices(
            [(str(one.version), f"version {one.version}") for one in earlier], str(presenter.against or "")
        )
        self.against.set_placeholder("no version")
        for part in (self._rule, self._head):
            part.setVisible(bool(earlier))
        self._show_differences(presenter.differences())

    def _show_differences(self, found: Sequence[tuple[str, str, str]]) -> None:
        more, less = (sum(len(one[place].split()) for one in found) for place in (2, 1))
        self.summary.setText(f"{count(more, 'word')} more, {less:,} fewer" if more or less else "The same words")
        self.summary.setVisible(bool(found))
        self.changes.set_spans(_changed(found))
        self.changes.setVisible(bool(more or less))

    def _show_request(self, preview: Preview) -> None:
        self.system.set_spans(
            [
                Span(text, Role.ACCENT if name else Role.TEXT, back=Role.SELECTED if name else None)
                for text, name in preview.pieces
            ]
        )
        names, more = preview.tools[:MOST_TOOLS], len(preview.tools) - MOST_TOOLS
        listed = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
        self.tools.set_text(listed or "None listed yet. Connect the case's servers on the Servers screen.")
        self.query.set_text(preview.query or "There is no test case yet.")


def _changed(changes: Sequence[tuple[str, str, str]]) -> list[Span]:
    """Return both texts in one: words that went struck through, words that came tinted."""
    spans: list[Span] = []
    for both, gone, came in changes:
        spans += [Span(both)] if both else []
        spans += [Span(gone, Role.BAD, back=Role.BAD_TINT, strike=True)] if gone else []
        spans += [Span(" ")] if gone and came else []
        spans += [Span(came, Role.GOOD, back=Role.GOOD_TINT)] if came else []
        spans.append(Span(" "))
    return spans
