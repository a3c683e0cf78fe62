"""Editor of one case, with the list of its latest answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.screens.cases.call_list import CallList
from app.screens.cases.calls import FindTool, ToolChoice
from app.screens.cases.editor_state import CaseEditorState, SaveStatus
from app.screens.cases.form import SHOWN_MODES, CaseForm, Mode, name_from, with_mode
from app.screens.cases.rows import (
    LAST_RESULT_TEXTS,
    DraftReview,
    JudgementChange,
    LastResult,
    RejudgedAnswer,
    RejudgedAnswers,
)
from app.screens.kit.run_marks import RUN_MARK_SHAPES
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Button,
    FlowText,
    GrowingEdit,
    Label,
    LineEdit,
    LineText,
    Mark,
    MarkLabel,
    Rule,
    ScrollPane,
    Segmented,
    TokensEdit,
    column_layout,
    row_layout,
    set_wrong,
    undo_beyond,
)

MARKS: Final[Mapping[LastResult, Mark]] = {
    **{LastResult(one.value): shape for one, shape in RUN_MARK_SHAPES.items()},
    LastResult.FAILED: Mark.BROKEN,
    LastResult.NEVER: Mark.BLANK,
}
ROLES = {JudgementChange.NONE: Role.DIM, JudgementChange.BETTER: Role.GOOD, JudgementChange.WORSE: Role.BAD}
WHEN_WIDTH = 64
SELECTED_WIDTH = 132


class RejudgedList(QWidget):
    """Latest answers, judged again by the edited expectation; hidden if there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        self._summary = Label(size=Size.SMALL, strong=True)
        self._lines: list[_Line] = []
        head = row_layout(None, self._title, spacing=None)
        head.addStretch(1)
        head.addWidget(self._summary)
        self._column = column_layout(self, Rule(), margins=(0, 4, 0, 0))
        self._column.addSpacing(12)
        self._column.addLayout(head)
        self._column.addSpacing(4)
        self.hide()

    def show_rejudged(self, tried: RejudgedAnswers) -> None:
        """Show these lines."""
        while len(self._lines) < len(tried.lines):
            self._lines.append(_Line(self))
            self._column.addWidget(self._lines[-1])
        for number, line in enumerate(self._lines):
            line.setVisible(number < len(tried.lines))
        for line, shown in zip(self._lines, tried.lines, strict=False):
            line.show_line(shown)
        count = len(tried.lines)
        self._title.setText("Last answer, judged again" if count == 1 else f"Last {count} answers, judged again")
        self._summary.setText(tried.summary)
        self.setVisible(count > 0)


class _Line(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._mark = MarkLabel()
        self._when = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self._when.setFixedWidth(sized(WHEN_WIDTH))
        self._selected = LineText(mono=True)
        self._selected.setFixedWidth(sized(SELECTED_WIDTH))
        self._plain = LineText(size=Size.SMALL, role=Role.DIM)
        self._strong = LineText(size=Size.SMALL, strong=True)
        row = row_layout(None, self._mark, self._when, self._selected, margins=(0, 4, 0, 3), spacing=8)
        row.addWidget(self._plain, 1)
        row.addWidget(self._strong, 1)
        column_layout(self, row, Rule())

    def show_line(self, line: RejudgedAnswer) -> None:
        self._mark.set_mark(MARKS.get(line.last, Mark.BLANK), LAST_RESULT_TEXTS[line.last])
        self._when.setText(line.when)
        self._selected.set_text(line.selected)
        changed = line.change is not JudgementChange.NONE
        self._plain.setVisible(not changed)
        self._strong.setVisible(changed)
        (self._strong if changed else self._plain).set_text(line.text, ROLES[line.change])


LABEL_WIDTH = 56
MARGIN = 16
BAR = 8
SHORT_MODES = {Mode.ONE: "One", Mode.SEVERAL: "Several", Mode.ANY_ONE: "Any one", Mode.NONE: "None", Mode.JSON: "JSON"}
MODE_NOTES = {
    Mode.JSON: "Shown as JSON because the form cannot show all of it.",
    Mode.NONE: "Correct: no tool is called.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorChoices:
    """Tools to expect, and names to complete, that the editor offers."""

    tools: tuple[ToolChoice, ...] = ()
    servers: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Editor(QWidget):
    """Editor of a CaseEditorState; `changed` emits the edited form, `picked` a ToolPick."""

    changed = Signal(object)
    picked = Signal(object)
    undo_wanted = Signal()
    runs_wanted = Signal()
    run_wanted = Signal()

    def __init__(self, find: FindTool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._find = find
        self._form = CaseForm()
        self._shown: CaseEditorState | None = None
        self.setProperty("pane", "surface")
        self.head = _Head()
        self.query = GrowingEdit("What the user says", least=2, most=9, size=Size.LEAD)
        self.query.setPlaceholderText("For example: Where are retry headers parsed?")
        self.modes = Segmented([(mode.value, mode.value) for mode in SHOWN_MODES], "What should happen")
        self.calls = CallList(find)
        self.json = GrowingEdit("What should happen, as JSON", mono=True, least=6, most=24)
        self._mode_note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.tried = RejudgedList()
        self.about = _About()
        self._lay_out()
        self._wire()

    def _lay_out(self) -> None:
        inside = QWidget()
        column = column_layout(inside, self.head, self.query, margins=(MARGIN, 12, MARGIN - BAR, MARGIN), spacing=8)
        column.addSpacing(4)
        column.addWidget(Label("What should happen", size=Size.SMALL, role=Role.DIM, strong=True))
        for widget in (self.modes, self.calls, self.json, self._mode_note, self.tried):
            column.addWidget(widget)
        column.addSpacing(4)
        column.addWidget(Rule())
        column.addSpacing(4)
        column.addWidget(self.about)
        column.addStretch(1)
        column_layout(self, ScrollPane(inside, "Test case"), spacing=None)

    def _wire(self) -> None:
        self.head.undo.clicked.connect(self.undo_wanted)
        self.head.runs.clicked.connect(self.runs_wanted)
        self.head.run.clicked.connect(self.run_wanted)
        self.query.edited.connect(lambda text: self._tell(replace(self._form, query=text)))
        self.modes.changed.connect(lambda key: self._tell(with_mode(self._form, Mode(key), self._find)))
        self.calls.changed.connect(self._tell)
        self.calls.picked.connect(self.picked)
        self.json.edited.connect(lambda text: self._tell(replace(self._form, json_text=text)))
        self.about.name.typed.connect(lambda text: self._tell(replace(self._form, name=text)))
        self.about.family.typed.connect(lambda text: self._tell(replace(self._form, family=text)))
        self.about.before.edited.connect(lambda text: self._tell(replace(self._form, before=text)))
        self.about.suites.changed.connect(lambda names: self._tell(replace(self._form, suites=names)))
        self.about.tags.changed.connect(lambda names: self._tell(replace(self._form, tags=names)))
        self.about.servers.changed.connect(lambda names: self._tell(replace(self._form, servers=names)))

    def show_case(self, edited: CaseEditorState, offered: EditorChoices) -> None:
        """Show the state of a case; a field that already holds the same value keeps its cursor."""
        if edited is not self._shown:
            self._shown = edited
            self.calls.start_over()
            self.tried.show_rejudged(DraftReview().tried)
        form = self._form = edited.form
        self.head.show_state(edited)
        self.query.set_text(form.query)
        set_wrong(self.query, edited.saved is not None and bool(edited.parsed.problem_at("query")))
        self._show_mode(form, edited)
        if form.used_calls:
            self.calls.show_form(form, edited.parsed, offered.tools)
        self.about.show_form(form, offered)
        set_wrong(self.about.before, bool(edited.parsed.problem_at("before")))

    def _show_mode(self, form: CaseForm, edited: CaseEditorState) -> None:
        as_json = form.mode is Mode.JSON
        texts = SHORT_MODES if as_json else {mode: mode.value for mode in SHOWN_MODES}
        self.modes.set_choices([(mode.value, text) for mode, text in texts.items()])
        self.modes.set_current(form.mode.value)
        self.calls.setVisible(bool(form.used_calls))
        self.json.setVisible(as_json)
        self.json.set_text(form.json_text if as_json else "")
        problem = edited.parsed.problem_at("json")
        set_wrong(self.json, bool(problem))
        note = problem or MODE_NOTES.get(form.mode, "")
        self._mode_note.set_text(note, Role.BAD if problem else Role.DIM)
        self._mode_note.setVisible(bool(note))

    def show_review(self, review: DraftReview) -> None:
        """Show what the core says of the draft."""
        self.calls.show_warnings(review.warnings)
        self.tried.show_rejudged(review.tried)

    def _tell(self, form: CaseForm) -> None:
        if form != self._form:
            self.changed.emit(form)


class _Head(QWidget):
    """Save status of the case, with undo and a link to its runs."""

    def __init__(self) -> None:
        super().__init__()
        self._mark = MarkLabel(size=14)
        self._state = LineText(size=Size.SMALL, role=Role.DIM)
        self.run = Button("Run", icon="play")
        self.run.setToolTip("Run this case now, with the settings of the last run")
        self.runs = Button("Earlier runs", kind="link")
        self.runs.setToolTip("Show what models selected for this case")
        self.undo = Button("Undo", kind="link")
        self.undo.setToolTip("Undo (Ctrl+Z)")
        row = row_layout(self, Label("What the user says", size=Size.SMALL, role=Role.DIM, strong=True), spacing=6)
        row.addStretch(1)
        row.addWidget(self._mark)
        row.addWidget(self._state)
        row.addSpacing(6)
        row.addWidget(self.undo)
        row.addSpacing(6)
        row.addWidget(self.runs)
        row.addSpacing(6)
        row.addWidget(self.run)

    def show_state(self, edited: CaseEditorState) -> None:
        state = edited.save_status
        wrong = state in (SaveStatus.INVALID, SaveStatus.REFUSED)
        words = f"{state.value}: {edited.problem_text}" if edited.problem_text else state.value
        self._mark.set_mark(_STATE_MARKS[state], state.value)
        self._state.set_text(words, Role.BAD if wrong else Role.DIM)
        self.undo.setEnabled(edited.can_go_back)
        self.runs.setEnabled(edited.saved is not None)
        self.run.setEnabled(edited.parsed.draft is not None and not edited.refusal_text)


_STATE_MARKS = {
    SaveStatus.SAVED: Mark.CHECK,
    SaveStatus.CHANGED: Mark.ARC,
    SaveStatus.NEW: Mark.RING,
    SaveStatus.INVALID: Mark.NOTE,
    SaveStatus.REFUSED: Mark.TRIANGLE,
}


class _About(QWidget):
    """Name, family, suites, tags, servers and earlier messages."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.family = _line("Name"), _line("Family")
        self.family.setPlaceholderText("A name that paraphrases share")
        self.family.setToolTip("Statistics count the cases of one family as one")
        self.before = GrowingEdit("Earlier messages", least=1, most=9)
        self.before.setPlaceholderText("User: … or Assistant: …")
        self.before.setToolTip("Sent before what the user says. Begin each message with User: or Assistant:")
        self.suites = TokensEdit("suite", "Add a suite")
        self.tags = TokensEdit("tag", "Add a tag")
        self.servers = TokensEdit("server", "Add a server", only_known=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(8)
        grid.setColumnMinimumWidth(0, LABEL_WIDTH)
        grid.setColumnStretch(1, 1)
        rows: Sequence[tuple[str, QWidget]] = (
            ("Name", self.name),
            ("Family", self.family),
            ("Suites", self.suites),
            ("Tags", self.tags),
            ("Servers", self.servers),
            ("Before", self.before),
        )
        for number, (word, widget) in enumerate(rows):
            label = Label(word, size=Size.SMALL, role=Role.DIM, strong=True)
            label.setFixedHeight(sized(24 if isinstance(widget, TokensEdit) else 28))
            grid.addWidget(label, number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(widget, number, 1)

    def show_form(self, form: CaseForm, offered: EditorChoices) -> None:
        for line, text in ((self.name, form.name), (self.family, form.family)):
            if line.text() != text:
                line.setText(text)
        self.before.set_text(form.before)
        self.name.setPlaceholderText(name_from(form.query) or "As the query")
        shown: Sequence[tuple[TokensEdit, tuple[str, ...], tuple[str, ...]]] = (
            (self.suites, form.suites, offered.suites),
            (self.tags, form.tags, offered.tags),
            (self.servers, form.servers, offered.servers),
        )
        for widget, tokens, known in shown:
            widget.set_known(known)
            widget.set_tokens(tokens)


def _line(name: str) -> LineEdit:
    made = LineEdit()
    made.setAccessibleName(name)
    made.setFont(theme().font())
    undo_beyond(made)
    return made
