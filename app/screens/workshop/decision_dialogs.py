"""Dialogs behind a verdict: how it was decided, and the history of a draft with the verdicts of its steps."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.screens.workshop.draft_verdicts import DraftHistoryRow
from app.screens.workshop.trial_cases import TrialCaseRow
from app.screens.workshop.trial_view import rank_text
from app.screens.workshop.view import verdict_role
from app.text.glossary import explain
from app.theme import Role, Size, sized
from app.widgets import Action, Cell, CellKind, Column, Dialog, FlowText, Label, ListTable, Row
from mcp_tef import Neighbour, Prediction, ToolPrediction

STEP_COLUMNS: Final = (
    Column(key="step", title="Step", width=88, tip="The number of the step; 0 is the listing"),
    Column(key="changes", title="Changed", stretch=True, tip="The values that the step changed"),
    Column(key="verdict", title="Newest trial", width=168, tip="The verdict of the newest trial of these texts"),
    Column(key="made", title="Made", width=104, role=Role.DIM, tip="The time of the step"),
)
SIMILARITY: Final = Column(key="near", title="Similarity", kind=CellKind.NUMBER, width=84, tip=explain("similarity"))
NEAREST: Final = (
    Column(key="before", title="With the original", width=232, tip="The nearest tools, nearest first"),
    SIMILARITY,
    Column(key="after", title="With the draft", stretch=True, tip="The nearest tools, nearest first"),
    replace(SIMILARITY, key="now"),
)
CHANGED_RANKS: Final = (
    Column(key="case", title="Case", width=200, tip="The test case"),
    Column(key="query", title="Query", stretch=True, role=Role.DIM, tip="Its query"),
    Column(key="rank", title="Rank", width=96, tip="Rank of the expected tool with the original and with the draft"),
)
MOST_ROWS: Final = 7
Explanation = Sequence[tuple[str, str]]


class DecisionDialog(Dialog):
    """Explains the verdict of a trial, for each model by itself."""

    autosaves = True

    def __init__(self, explained: Sequence[tuple[str, Explanation]], parent: QWidget) -> None:
        super().__init__("How was this decided?", parent, width=680)
        for model, parts in explained:
            if len(explained) > 1:
                self.body.addWidget(Label(model, strong=True))
            for title, text in parts:
                block = QVBoxLayout()
                block.setSpacing(2)
                block.addWidget(Label(title, size=Size.SMALL, role=Role.DIM))
                block.addWidget(FlowText(text))
                self.body.addLayout(block)
        self.set_buttons([Action(text="Close", do=self.accept, kind="primary")])


class PredictionDialog(Dialog):
    """Everything that is predicted: nearest tools of one tool before and after, findings, and ranks that change."""

    autosaves = True

    def __init__(self, prediction: Prediction, tool: str, rows: Sequence[TrialCaseRow], parent: QWidget) -> None:
        super().__init__("Predicted effect of the draft", parent, width=720)
        named = (one for one in prediction.tools if one.name == tool)
        shown = next(named, next(iter(prediction.tools), ToolPrediction(name="")))
        self.near = _table(NEAREST, f"Nearest tools of {shown.name}", _nearest_rows(shown))
        changed = [row for row in rows if row.ranks and row.ranks[0] != row.ranks[1]]
        self.ranks = _table(CHANGED_RANKS, "Cases whose rank changes", [_ranks_row(row) for row in changed])
        if self.near.rows.rowCount():
            self.body.addWidget(Label(f"Nearest five of {shown.name}", strong=True))
            self.body.addWidget(self.near)
        tokens = f"Tokens of {shown.name}: {shown.tokens_before:,} → {shown.tokens_after:,}; of all tools: "
        all_tools = f"{prediction.set_tokens_before:,} → {prediction.set_tokens_after:,}."
        self.body.addWidget(FlowText(tokens + all_tools))
        self.body.addWidget(Label("Findings", strong=True))
        self.body.addWidget(FlowText(_findings_text(prediction.tools)))
        self.body.addWidget(Label("Ranks of the expected tools", strong=True))
        if changed:
            self.body.addWidget(self.ranks)
        else:
            self.body.addWidget(FlowText("No rank changes."))
        self.body.addWidget(FlowText("Found by search; no model was asked.", size=Size.SMALL, role=Role.DIM))
        self.set_buttons([Action(text="Close", do=self.accept, kind="primary")])


def _table(columns: Sequence[Column], name: str, rows: Sequence[Row]) -> ListTable:
    table = ListTable(columns, name)
    table.set_rows(rows)
    table.setFixedHeight(sized(34) + sized(30) * min(max(1, len(rows)), MOST_ROWS))
    return table


def _nearest_rows(tool: ToolPrediction) -> list[Row]:
    newly = {one.tool for one in tool.newly_near} if tool.neighbours_before else set()
    pairs = enumerate(zip_longest(tool.neighbours_before, tool.neighbours_after))
    return [Row(str(place), (*_near_cells(old, set()), *_near_cells(new, newly))) for place, (old, new) in pairs]


def _near_cells(near: Neighbour | None, newly: Collection[str]) -> tuple[Cell, Cell]:
    if near is None:
        return Cell(text=""), Cell(text="")
    tip = f"Confusability {near.confusability:.2f}"
    new = near.tool in newly
    name = Cell(text=f"{near.tool} (new)" if new else near.tool, role=Role.ACCENT if new else Role.TEXT, tip=tip)
    return name, Cell(text=f"{near.similarity:.2f}", sort=near.similarity, tip=tip)


def _ranks_row(row: TrialCaseRow) -> Row:
    before, after = row.ranks or (None, None)
    return Row(row.id, (Cell(text=row.name, tip=row.query), Cell(text=row.query), Cell(text=rank_text(before, after))))


def _findings_text(tools: Sequence[ToolPrediction]) -> str:
    gone = [f"Gone in {one.name}: {each.sentence}" for one in tools for each in one.findings_gone]
    new = [f"New in {one.name}: {each.sentence} {each.fix}" for one in tools for each in one.findings_new]
    return "\n".join([*new, *gone]) or "No finding comes or goes."


class DraftHistoryDialog(Dialog):
    """The steps of a draft with the verdicts of their trials; `step` is the one to go to once it is accepted."""

    autosaves = True

    def __init__(self, name: str, rows: Sequence[DraftHistoryRow], parent: QWidget) -> None:
        super().__init__(f"History of {name}", parent, width=720)
        self.step = next((row.step for row in rows if row.current), 0)
        self.table = ListTable(STEP_COLUMNS, "Steps of the draft")
        self.table.setMinimumHeight(240)
        self.table.set_rows([Row(str(row.step), _cells(row)) for row in rows])
        self.body.addWidget(self.table)
        go = Action(text="Go to this step", do=self.accept, kind="primary")
        self._now = self.step
        self.go = self.set_buttons([Action(text="Close", do=self.reject), go])[-1]
        self.table.chosen.connect(self._choose)
        self.table.select(str(self.step))

    def _choose(self, step: str) -> None:
        self.step = int(step) if step else self._now
        self.go.setEnabled(self.step != self._now)


def _cells(row: DraftHistoryRow) -> tuple[Cell, ...]:
    current = " (now)" if row.current else ""
    return (
        Cell(text=f"{row.step:,}{current}", sort=row.step),
        Cell(text=row.changes, tip=row.changes),
        Cell(text=row.verdict.text if row.verdict else "", role=verdict_role(row.verdict)),
        Cell(text=row.made),
    )
