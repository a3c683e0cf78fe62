"""Plan and result of a search for better texts of one server's tools; knows no Qt."""

from dataclasses import dataclass
from typing import Final

from app.core_link.model_requests import CoreCall
from app.text.formatting import count, money
from mcp_tef import (
    DraftId,
    ImprovementPlan,
    ImprovementRequest,
    ImprovementResult,
    ModelSettings,
    TefError,
    TextCandidate,
    improvement_sentences,
)

USUAL_BUDGET: Final = 500


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One candidate as a row: its new texts, and its screening or the reason it was not asked."""

    texts: str
    result: str


class ImprovementPresenter:
    """One search: planned for a budget, run once, and then its result."""

    def __init__(self, ask: CoreCall, server: str, settings: ModelSettings, max_cost_usd: float | None = None) -> None:
        self._ask = ask
        self.server = server
        self.settings = settings
        self._max_cost_usd = max_cost_usd
        self.budget = str(USUAL_BUDGET)
        self.problem = ""
        self.plan: ImprovementPlan | None = None
        self.result: ImprovementResult | None = None

    async def load(self) -> None:
        """Plan the search with the budget as typed; what keeps it from being planned is the `problem`."""
        typed = self.budget.strip()
        self.plan, self.problem = None, ""
        if not typed.isdecimal():
            self.problem = "The budget is not a number. Write how many calls are allowed, such as 500."
            return
        request = ImprovementRequest(
            server=self.server,
            settings=self.settings,
            writer=None if self.settings.offline else self.settings,
            budget=int(typed),
            max_cost_usd=self._max_cost_usd,
        )
        plan, problem = None, ""
        try:
            plan = await self._ask(lambda core: core.improvements.plan(request))
        except TefError as error:
            problem = f"{error.message} {error.hint}".strip()
        if typed == self.budget.strip():
            self.plan, self.problem = plan, problem

    async def run(self) -> None:
        """Search, and keep the result."""
        plan = self.plan
        if plan is not None:
            self.result = await self._ask(lambda core: core.improvements.run(plan))

    @property
    def draft_id(self) -> DraftId | None:
        """The draft with the text that was found."""
        return self.result.draft.id if self.result and self.result.draft else None

    def plan_text(self) -> str:
        """Return the split, the smallest gain that can be shown, and the most that the search takes."""
        plan = self.plan
        if plan is None:
            return ""
        cost = "free of charge" if plan.cost_usd == 0 else f"for about {money(plan.cost_usd)}" if plan.cost_usd else ""
        most = ", ".join(filter(None, (f"At most {count(plan.calls, 'call')}", cost)))
        return f"{count(len(plan.working), 'working case')}. {plan.gain}\n{most}."

    def result_text(self) -> str:
        """Return what the search found."""
        return "\n".join(improvement_sentences(self.result)) if self.result else ""

    def rows(self) -> tuple[CandidateRow, ...]:
        """Return the candidates of all rounds, the best of each round first."""
        rounds = self.result.rounds if self.result else ()
        return tuple(_row(one) for each in rounds for one in each.candidates)


def _row(one: TextCandidate) -> CandidateRow:
    texts = "\n".join(f"{name}: {text}" for name, text in one.texts.items()) or one.author
    asked = f"{one.score:,} of {one.asked:,} fixed" if one.asked else "not screened"
    return CandidateRow(texts, one.refused or asked)
