"""Widgets of a trial: the verdict over everything, the two lists of cases, and the footer that starts it."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.workshop.trial_presenter import TrialCaseRow
from app.text.formatting import count
from app.theme import Role, Size, roomy
from app.widgets import (
    Action,
    Button,
    Cell,
    CellKind,
    CheckableTable,
    Column,
    FlowText,
    Label,
    LineText,
    Links,
    Mark,
    MarkLabel,
    MenuButton,
    Rule,
    Segmented,
)
from app.widgets.checkable_table import MakeCells
from mcp_tef import Claim, ClaimVerdict, TrialGoal

EDGE: Final = 16
CLAIM_MARKS: Final = {
    ClaimVerdict.BETTER: Mark.CHECK,
    ClaimVerdict.WORSE: Mark.CROSS,
    ClaimVerdict.NO_WORTHWHILE_CHANGE: Mark.DASH,
    ClaimVerdict.CANNOT_TELL_YET: Mark.UNDECIDED,
}
CLAIM_WORDS: Final = {
    ClaimVerdict.BETTER: "better",
    ClaimVerdict.WORSE: "worse",
    ClaimVerdict.NO_WORTHWHILE_CHANGE: "no worthwhile change",
    ClaimVerdict.CANNOT_TELL_YET: "cannot tell yet",
}
BASELINE: Final = "baseline"
OTHER: Final = "other"
CASE: Final = Column(key="case", title="Case", stretch=True, least=100, tip="The test case")
WHY: Final = Column(key="why", title="Why", width=112, least=60, role=Role.DIM, tip="The reason why the case is asked")
REASON, ORIGINAL, DRAFT = 2, 3, 4
ARMS: Final = (
    Column(key="original", title="Original", kind=CellKind.MARKS, width=74, least=64, tip="Result with the original"),
    Column(key="draft", title="Draft", kind=CellKind.MARKS, width=74, least=64, tip="Result with the draft"),
)


class VerdictBanner(QWidget):
    """The two claims with their marks, the shares of both arms, and what to do next."""

    def __init__(self) -> None:
        super().__init__()
        self.marks = (MarkLabel(size=20), MarkLabel(size=16))
        self.claims = (FlowText(size=Size.LEAD, strong=True), FlowText())
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        column = QVBoxLayout()
        column.setSpacing(4)
        for mark, claim in zip(self.marks, self.claims, strict=True):
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(claim, 1)
            column.addLayout(row)
        below = QHBoxLayout()
        below.setContentsMargins(32, 0, 0, 0)
        below.addWidget(self.note, 1)
        below.addWidget(self.links)
        column.addLayout(below)
        column.setContentsMargins(EDGE, 12, EDGE, 12)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(column)
        outer.addWidget(Rule())
        self.hide()

    def show_verdict(self, sentence: str, claims: tuple[Claim, Claim], note: str, links: Sequence[Action]) -> None:
        """Show a verdict; `sentence` is about these cases and those that must not change."""
        for mark, claim in zip(self.marks, claims, strict=True):
            mark.set_mark(CLAIM_MARKS[claim.verdict], CLAIM_WORDS[claim.verdict])
        self.claims[0].set_text(sentence)
        self.claims[1].set_text(claims[1].sentence)
        self.note.set_text(note)
        self.links.set_links(links)
        self.setAccessibleName(sentence)
        self.show()


class TrialCaseList(QWidget):
    """One list of cases with a box each; `ticked` gives the ids of the ticked and of the shown ones."""

    ticked = Signal(tuple, tuple)

    def __init__(self, title: str, columns: Sequence[Column], empty: str) -> None:
        super().__init__()
        self._empty = empty
        self.title = Label(title, strong=True)
        self.counts = LineText(size=Size.SMALL, role=Role.DIM)
        self.table = CheckableTable(columns, title)
        self.table.describe_keys(Space="Take the case into the trial, or leave it out")
        self.nothing = FlowText(empty, role=Role.DIM)
        self.nothing.setContentsMargins(EDGE, 8, EDGE, 8)
        head = QVBoxLayout()
        head.setContentsMargins(EDGE, 8, EDGE, 8)
        head.setSpacing(2)
        head.addWidget(self.title)
        head.addWidget(self.counts)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.nothing)
        column.addWidget(self.table, 1)
        column.addStretch(0)
        self.table.ticks_changed.connect(lambda: self.ticked.emit(self.table.ticked(), tuple(self._shown)))
        self._shown: list[str] = []

    def show_rows(self, rows: Sequence[TrialCaseRow], counts: str, *, reasons: bool) -> None:
        """Show these cases."""
        self._shown = [row.id for row in rows]
        makers: dict[str, MakeCells] = {row.id: partial(_cells, row, reasons=reasons) for row in rows}
        self.table.show_cells(makers, {row.id: row.ticked for row in rows})
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)
        self.counts.set_text(counts)
        asked = any(row.original for row in rows)
        for column in (ORIGINAL, DRAFT):
            self.table.setColumnHidden(column, not asked)
        self.table.setColumnHidden(REASON, not (reasons or any(row.said for row in rows)))


def _cells(row: TrialCaseRow, *, reasons: bool) -> tuple[Cell, ...]:
    why = next(iter(row.reasons), "") if reasons else row.said
    role = Role.BAD if why == "broken" else Role.DIM
    return (
        Cell(text=row.name, tip=row.query),
        Cell(text=why, role=role, tip=", ".join(row.reasons)),
        _arm_cell(row.original),
        _arm_cell(row.draft),
    )


def _arm_cell(passes: tuple[int, int] | None) -> Cell:
    if passes is None:
        return Cell(marks=(Mark.BLANK,), tip="Not asked yet")
    right, asked = passes
    mark = Mark.CHECK if right == asked else Mark.CROSS if not right else Mark.TILDE
    return Cell(marks=(mark,), sort=right / max(1, asked), tip=f"{right:,} of {asked:,} correct")


def change_text(rows: Sequence[TrialCaseRow]) -> str:
    """Return how many cases changed: "11 fixed, 1 lost, 17 the same"; "" before any answer."""
    asked = [(row.original[0], row.draft[0]) for row in rows if row.original and row.draft]
    fixed, lost = sum(new > old for old, new in asked), sum(new < old for old, new in asked)
    return f"{fixed:,} fixed, {lost:,} lost, {len(asked) - fixed - lost:,} the same" if asked else ""


class TrialFooter(QWidget):
    """Model, goal, size and cost of the trial, and the buttons that start and stop it."""

    goal_chosen = Signal(TrialGoal)
    model_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.model = MenuButton("Model")
        self.model.setMinimumWidth(roomy(168))
        self.goal = Segmented([(TrialGoal.QUICK, "Quick"), (TrialGoal.SURE, "Sure")], "Goal of the trial")
        self.goal.setToolTip("Quick ends when these cases are decided, Sure when queries like these are")
        self.options = Button("Options", kind="link")
        self.line = LineText(size=Size.SMALL, role=Role.DIM)
        self.go = Button("Try", kind="primary", icon="play")
        row = QHBoxLayout()
        row.setContentsMargins(EDGE, 10, EDGE, 10)
        row.setSpacing(12)
        row.addWidget(self.model)
        row.addWidget(self.goal)
        row.addWidget(self.options)
        row.addWidget(self.line, 1)
        row.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Rule())
        column.addLayout(row)
        self.goal.changed.connect(lambda key: self.goal_chosen.emit(TrialGoal(key)))
        self.model.changed.connect(self.model_chosen)

    def show_models(self, label: str, chosen: str) -> None:
        """Offer the baseline, the model used last, if any, and any other."""
        known = [(label, label)] if label else []
        self.model.set_choices([(BASELINE, "Offline baseline"), *known, None, (OTHER, "Another model…")], chosen)

    def show_state(self, line: str, cases: int, *, running: bool, possible: bool, hint: str) -> None:
        """Show what a trial would take, or how far it is."""
        self.line.set_text(line)
        text = "Stop" if running else f"Try {count(cases, 'case')}" if cases else "Try"
        self.go.setText(text)
        self.go.setEnabled(running or possible)
        self.go.setToolTip("" if running else hint)
        for part in (self.model, self.goal, self.options):
            part.setEnabled(not running)
