"""Findings about cases that may be wrong, and the drafts that answer them; knows no Qt."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from mcp_tef import CaseAction, CaseDraft, CaseFinding, CaseId

if TYPE_CHECKING:
    from mcp_tef import Engine


class CaseChecksPresenter:
    """Calls of the core that check cases."""

    def __init__(self, call: CoreCall) -> None:
        self._call = call

    async def findings(self, ids: Collection[CaseId]) -> dict[str, CaseFinding]:
        """Return the findings about these cases by row id."""
        found = await self._call(lambda core: core.case_checks.find())
        return {f"{one.case} {one.doubt.value} {one.sentence}": one for one in found if one.case in ids}

    async def answered(self, draft: CaseDraft, finding: CaseFinding, action: CaseAction) -> CaseDraft:
        """Return a draft after an action."""

        async def answer(core: "Engine") -> CaseDraft:
            return core.case_checks.with_action(draft, finding, action)

        return await self._call(answer)
