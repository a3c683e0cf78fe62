"""Dialog that searches for better texts of a server's tools: the plan, the search, and its result."""

from typing import Final

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.screens.workshop.improvement_presenter import ImprovementPresenter
from app.theme import Role, Size
from app.widgets import Action, Cell, Column, Dialog, Field, FlowText, LineEdit, ListTable, Row
from mcp_tef import is_baseline

CANDIDATE_COLUMNS: Final = (
    Column(key="texts", title="Candidate", stretch=True, tip="The new texts"),
    Column(key="result", title="Result", width=220, tip="Failing cases that it fixes, or why it was refused"),
)
HOW: Final = (
    "Candidates are made by rules from the cases that fail, and tried on one part of the cases. The other part is "
    "sealed: it is asked once, for the final text. Nothing is accepted by itself; the text is kept as a draft."
)


class ImprovementDialog(Dialog):
    """Plans a search for a budget of calls, runs it, and shows what it found. Closing it cancels the search."""

    autosaves = True

    def __init__(self, session: Session, presenter: ImprovementPresenter, parent: QWidget) -> None:
        super().__init__(f"Find a better text for the tools of {presenter.server}", parent, width=640)
        self._session = session
        self.presenter = presenter
        label = presenter.settings.label
        model = f"{label} is asked, and writes candidates, too."
        who = "The offline baseline is asked." if is_baseline(label) else model
        self.body.addWidget(FlowText(f"{HOW} {who}", role=Role.DIM))
        self.budget = LineEdit()
        self.budget.setText(presenter.budget)
        self.budget_field = Field("Budget in calls", self.budget)
        self.plan = FlowText(size=Size.SMALL)
        self.found = FlowText()
        self.table = ListTable(CANDIDATE_COLUMNS, "Candidates")
        self.table.setMinimumHeight(160)
        for part in (self.budget_field, self.plan, self.found, self.table):
            self.body.addWidget(part)
        for part in (self.found, self.table):
            part.hide()
        self.budget.typed.connect(self._type)
        self._show(running=False)
        self._plan()

    def _type(self, text: str) -> None:
        self.presenter.budget = text
        self._plan()

    def _plan(self) -> None:
        self._session.spawn(self._load(), of=self)

    async def _load(self) -> None:
        await self.presenter.load()
        self.budget_field.tell(self.presenter.problem)
        self.plan.set_text(self.presenter.plan_text())
        self._show(running=False)

    def search(self) -> None:
        """Run the search that was planned."""
        self._session.spawn(self._search(), of=self)

    async def _search(self) -> None:
        self._show(running=True)
        try:
            await self.presenter.run()
        finally:
            self._show(running=False)
        self.found.set_text(self.presenter.result_text())
        rows = [Row(str(place), (Cell(text=one.texts, tip=one.texts), Cell(text=one.result, tip=one.result)))
                for place, one in enumerate(self.presenter.rows())]  # fmt: skip
        self.table.set_rows(rows)
        self.found.setVisible(True)
        self.table.setVisible(bool(rows))

    def _show(self, *, running: bool) -> None:
        """Show the buttons that fit: search, wait, or show the draft that was found."""
        presenter = self.presenter
        self.budget.setEnabled(not running and presenter.result is None)
        close = Action(text="Cancel" if presenter.result is None else "Close", do=self.reject)
        if presenter.result is None:
            text = "Searching…" if running else "Find a better text"
            possible = presenter.plan is not None and not running
            self.set_buttons([close, Action(text=text, do=self.search, kind="primary", enabled=possible)])
        elif presenter.draft_id is not None:
            self.set_buttons([close, Action(text="Show the draft", do=self.accept, kind="primary")])
        else:
            self.set_buttons([close])
