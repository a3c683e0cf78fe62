"""Undo steps for edits of cases."""

from collections.abc import Callable, Sequence

from app.core_link.session import Session
from app.core_link.undo import UndoStep
from app.screens.cases.editor_state import CaseEditorState
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import neighbour
from app.widgets import one_line
from mcp_tef import CaseId

Show = Callable[[str], object]
Ids = Callable[[], Sequence[str]]


class VisibleCasesPage:
    """The cases page that is open now; undo steps show their result there."""

    def __init__(self) -> None:
        self._show: Show = lambda _: None
        self._ids: Ids = tuple

    def attach(self, show: Show, ids: Ids) -> None:
        """Register a page: `show` displays the current cases and selects one, `ids` lists its rows."""
        self._show, self._ids = show, ids

    def detach(self) -> None:
        """Forget the page."""
        self.attach(lambda _: None, tuple)

    def show(self, case_id: str = "") -> None:
        """Show the current cases and select one."""
        self._show(case_id)

    def neighbour_of(self, gone: Sequence[CaseId]) -> str:
        """Return the case to select after deletions."""
        return neighbour(self._ids(), gone)


class CaseUndoSteps:
    """Undo steps of case edits, kept in the undo history of the session."""

    def __init__(self, session: Session, presenter: CasesPresenter, visible_page: VisibleCasesPage) -> None:
        self._session = session
        self._presenter = presenter
        self._visible_page = visible_page
        self._steps: list[tuple[CaseEditorState, UndoStep]] = []

    async def save(self) -> None:
        """Save all edits; each saved form gets an undo step."""
        await self._presenter.save()
        for edited in self._presenter.editor_states:
            self.match(edited)

    def match(self, edited: CaseEditorState, *, fresh: bool = True) -> None:
        """Keep one undo step per earlier form of a case; `fresh=False` keeps the redo history."""
        mine = [step for step in self._steps if step[0] is edited]
        for known in mine[len(edited.past) :]:
            self._steps.remove(known)
            self._session.forget(known[1])
        for _ in range(len(edited.past) - len(mine)):
            step = self._step_of(edited)
            self._steps.append((edited, step))
            self._session.keep(step, fresh=fresh)

    def _step_of(self, edited: CaseEditorState) -> UndoStep:
        step: UndoStep = UndoStep(
            f"edit “{one_line(edited.form.query, 40)}”",
            lambda: self._take_back(edited, step),
            lambda: self._bring_again(edited, step),
        )
        return step

    def undo(self, edited: CaseEditorState) -> None:
        """Undo the last edit of this case."""
        step = next((step for known, step in reversed(self._steps) if known is edited), None)
        if step is not None:
            self._session.take_back(step)
        else:
            self._session.spawn(self._go_back(edited))

    async def _take_back(self, edited: CaseEditorState, step: UndoStep) -> None:
        """Undo a step; it stays available if only unsaved typing was undone."""
        self._steps.remove((edited, step))
        await self._go_back(edited)

    async def _go_back(self, edited: CaseEditorState) -> None:
        if self._presenter.go_back(edited):
            self.match(edited, fresh=False)
            await self._show(edited)

    async def _bring_again(self, edited: CaseEditorState, step: UndoStep) -> None:
        if self._presenter.go_forward(edited):
            self._steps.append((edited, step))
            await self._show(edited)
        else:
            self._session.forget(step)

    async def _show(self, edited: CaseEditorState) -> None:
        """Show a restored form and save it."""
        self._visible_page.show(edited.case_id)
        await self.save()
        self._visible_page.show(edited.case_id)
