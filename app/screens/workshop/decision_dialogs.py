"""Dialogs behind a verdict: how it was decided, and the history of a draft with the verdicts of its steps."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.screens.workshop.draft_verdicts import DraftHistoryRow
from app.screens.workshop.view import verdict_role
from app.theme import Role, Size
from app.widgets import Action, Cell, Column, Dialog, FlowText, Label, ListTable, Row

STEP_COLUMNS: Final = (
    Column(key="step", title="Step", width=88, tip="The number of the step; 0 is the listing"),
    Column(key="changes", title="Changed", stretch=True, tip="The values that the step changed"),
    Column(key="verdict", title="Newest trial", width=168, tip="The verdict of the newest trial of these texts"),
    Column(key="made", title="Made", width=104, role=Role.DIM, tip="The time of the step"),
)
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
