"""Widgets of a trial: the verdict over everything, the two lists of cases, and the footer that starts it."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.workshop.commands import STOP_KEYS
from app.screens.workshop.trial_cases import BROKEN, TrialCaseRow
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
    IconButton,
    Label,
    LineText,
    Links,
    Mark,
    MarkLabel,
    MenuButton,
    Rule,
    Segmented,
    Span,
    Spoken,
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
WHY: Final = Column(key="why", title="Why", width=106, least=60, role=Role.DIM, tip="The reason why the case is asked")
RANK: Final = Column(key="rank", title="Rank", width=84, least=60, tip="Rank of the expected tool in search; no model")
REASON, RANKS, ORIGINAL, DRAFT = 2, 3, 4, 5
LAST: Final = 1_000_000
ARMS: Final = (
    Column(key="original", title="Original", kind=CellKind.MARKS, width=70, least=64, tip="Result with the original"),
    Column(key="draft", title="Draft", kind=CellKind.MARKS, width=70, least=64, tip="Result with the draft"),
)


class VerdictBanner(QWidget):
    """The claims with their marks, the shares of both arms, and what to do next."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[MarkLabel] = []
        self.claims: list[FlowText] = []
        self._holders: list[QWidget] = []
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        self._lines = QVBoxLayout()
        self._lines.setSpacing(4)
        below = QVBoxLayout()
        below.setContentsMargins(32, 0, 0, 0)
        below.setSpacing(4)
        below.addWidget(self.note)
        below.addWidget(self.links, 0, Qt.AlignmentFlag.AlignLeft)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.setContentsMargins(EDGE, 12, EDGE, 12)
        column.addLayout(self._lines)
        column.addLayout(below)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(column)
        outer.addWidget(Rule())
        self.hide()

    def _add_line(self) -> None:
        first = not self.marks
        mark = MarkLabel(size=20 if first else 16)
        claim = FlowText(size=Size.LEAD, strong=True) if first else FlowText()
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0 if first else 2, 0, 0, 0)
        row.setSpacing(12 if first else 14)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(claim, 1)
        self._lines.addWidget(holder)
        self._holders.append(holder)
        self.marks.append(mark)
        self.claims.append(claim)

    def show_verdict(self, claims: Sequence[Claim], broken: str, note: str, links: Sequence[Action]) -> None:
        """Show claims below each other, the first as a title with what broke; `note` and `links` stand below."""
        lines = [(CLAIM_MARKS[one.verdict], CLAIM_WORDS[one.verdict], one.sentence) for one in claims]
        self.show_lines(lines, note, links, broken)

    def show_lines(
        self, lines: Sequence[tuple[Mark, str, str]], note: str, links: Sequence[Action], broken: str = ""
    ) -> None:
        """Show sentences with their marks and the words of the marks, the first as a title."""
        while len(self.marks) < len(lines):
            self._add_line()
        for place, (mark, line) in enumerate(zip(self.marks, self.claims, strict=True)):
            self._holders[place].setVisible(place < len(lines))
            if place < len(lines):
                shape, word, sentence = lines[place]
                mark.set_mark(shape, word)
                told = [Span(f" {broken}", Role.BAD, strong=True)] if broken and not place else []
                line.set_spans([Span(sentence, strong=not place), *told])
        self.note.set_text(note)
        self.note.setVisible(bool(note))
        self.links.set_links(links)
        self.setAccessibleName(self.claims[0].text())
        self.show()


class TrialCaseList(QWidget):
    """One list of cases with a box each; `ticked` gives the ids of the ticked and of the shown ones.

    `add_wanted` asks for further cases, `move_wanted` gives the ids of those that belong into the other list.
    """

    ticked = Signal(tuple, tuple)
    add_wanted = Signal()
    move_wanted = Signal(tuple)

    def __init__(self, title: str, columns: Sequence[Column], empty: str, other: str) -> None:
        super().__init__()
        self.title = Label(title, strong=True)
        self.counts = LineText(size=Size.SMALL, role=Role.DIM)
        self.table = CheckableTable(columns, title)
        self.table.describe_keys(Space="Take the case into the trial, or leave it out")
        self.nothing = FlowText(empty, role=Role.DIM)
        self.empty = QWidget()
        around = QVBoxLayout(self.empty)
        around.setContentsMargins(EDGE, 8, EDGE, 8)
        self.write = Button("Write a test case", kind="link")
        self.write.hide()
        around.addWidget(self.nothing)
        around.addWidget(self.write, 0, Qt.AlignmentFlag.AlignLeft)
        self.add = IconButton("plus", f"Add {title[0].lower()}{title[1:]}")
        self.add.clicked.connect(self.add_wanted)
        move = f"Move to {other[0].lower()}{other[1:]}"
        self.table.set_menu(lambda ids: [Action(text=move, do=partial(self.move_wanted.emit, tuple(ids)))])
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.title)
        words.addWidget(self.counts)
        head = QHBoxLayout()
        head.setContentsMargins(EDGE, 8, 8, 8)
        head.addLayout(words, 1)
        head.addWidget(self.add)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(Rule())
        column.addWidget(self.empty)
        column.addWidget(self.table, 1)
        column.addStretch(0)
        self.table.ticks_changed.connect(lambda: self.ticked.emit(self.table.ticked(), tuple(self._shown)))
        self._shown: list[str] = []

    def say(self, text: str, *, write: bool) -> None:
        """Say why there is no case, and offer to write one."""
        self.nothing.set_text(text)
        self.write.setVisible(write)

    def show_rows(self, rows: Sequence[TrialCaseRow], counts: str, *, reasons: bool) -> None:
        """Show these cases."""
        self._shown = [row.id for row in rows]
        makers: dict[str, MakeCells] = {row.id: partial(_cells, row, reasons=reasons) for row in rows}
        self.table.show_cells(makers, {row.id: row.ticked for row in rows})
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.counts.set_text(counts)
        self._hide_columns(rows, reasons=reasons)

    def _hide_columns(self, rows: Sequence[TrialCaseRow], *, reasons: bool) -> None:
        """Show results once a case was asked, and until then the predicted ranks."""
        asked, said = any(row.original for row in rows), any(row.said for row in rows)
        self.table.setColumnHidden(RANKS, asked or said or not any(row.ranks for row in rows))
        for column in (ORIGINAL, DRAFT):
            self.table.setColumnHidden(column, not asked)
        self.table.setColumnHidden(REASON, not (reasons or said))


def _cells(row: TrialCaseRow, *, reasons: bool) -> tuple[Cell, ...]:
    why = next(iter(row.reasons), "") if reasons else row.said
    role = Role.BAD if why == BROKEN else Role.DIM
    return (
        Cell(text=row.name, tip=row.query),
        Cell(text=why, role=role, tip=", ".join(row.reasons)),
        _rank_cell(row.ranks),
        _arm_cell(row.original),
        _arm_cell(row.draft),
    )


def _rank_cell(ranks: tuple[int | None, int | None] | None) -> Cell:
    if ranks is None or ranks == (None, None):
        return Cell(text="")
    old, new = (LAST if rank is None else rank for rank in ranks)
    role = Role.GOOD if new < old else Role.BAD if new > old else Role.DIM
    return Cell(text=rank_text(*ranks), role=role, sort=new)


def rank_text(before: int | None, after: int | None) -> str:
    """Return the rank before and after as text: "3 → 1", or one number where it stays; a dash is a tool not offered."""
    old, new = (f"{rank:,}" if rank else "–" for rank in (before, after))
    return old if old == new else f"{old} → {new}"


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


def offer_models(menu: MenuButton, labels: Sequence[str], chosen: Sequence[str]) -> None:
    """Offer the baseline, the models used before and any other in a menu; several can be chosen."""
    known = [(label, label) for label in labels]
    menu.set_choices([(BASELINE, "Offline baseline"), *known, None, (OTHER, "Another model…")], "")
    menu.set_ticked(chosen, count(len(chosen), "model"))
    menu.setToolTip("\n".join(chosen) if len(chosen) > 1 else "")


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

    def show_models(self, labels: Sequence[str], chosen: Sequence[str]) -> None:
        """Offer the baseline, the models used before and any other; several can be chosen."""
        offer_models(self.model, labels, chosen)

    def show_state(self, line: str, cases: int, *, running: bool, possible: bool, hint: str) -> None:
        """Show what a trial would take, or how far it is."""
        self.line.set_text(line)
        text = "Stop" if running else f"Try {count(cases, 'case')}" if cases else "Try"
        self.go.setText(text)
        self.go.icon_name = "x" if running else "play"
        self.go.refresh_icon()
        self.go.setEnabled(running or possible)
        self.go.setToolTip(STOP_KEYS if running else hint)
        for part in (self.model, self.goal, self.options):
            part.setEnabled(not running)
