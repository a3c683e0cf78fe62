"""From cases to their runs: those to come, and those that there are."""

from collections.abc import Awaitable, Callable, Sequence

from app.core_link.session import Session
from app.screens.cases.presenter import CasesPresenter
from app.text.formatting import count
from mcp_tef import CaseId, RunFilter


class Running:
    """Leads to the Runs screen with cases that are saved."""

    def __init__(self, session: Session, presenter: CasesPresenter, save: Callable[[], Awaitable[None]]) -> None:
        self._session = session
        self._presenter = presenter
        self._save = save

    def run(self, ids: Sequence[CaseId]) -> None:
        """Open the form that runs them."""
        self._session.spawn(self._save_and_run(tuple(ids)))

    def show(self, ids: Sequence[CaseId]) -> None:
        """Show their runs, the newest batch first."""
        known = self._presenter.runnable(ids)
        if known:
            title = "Runs of one case" if len(known) == 1 else f"Runs of {count(len(known), 'case')}"
            where = RunFilter(case_ids=known)
            self._session.go("runs", ("filter", where, title))

    async def _save_and_run(self, ids: tuple[CaseId, ...]) -> None:
        await self._save()
        runnable = self._presenter.runnable(ids)
        if runnable:
            self._session.go("runs", ("start", runnable))
