"""Cases, model and state of the trial of a draft; knows no Qt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.text.formatting import count, money
from mcp_tef import (
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchStarted,
    CaseId,
    CasesChanged,
    ClaimVerdict,
    Draft,
    Estimate,
    Event,
    ModelSettings,
    RunEnded,
    ScopeReason,
    TefError,
    TestCase,
    TrialGoal,
    TrialRequest,
    TrialResult,
    TrialScope,
    is_baseline,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

REASONS: Final = {
    ScopeReason.EXPECTS_CHANGED: "expects it",
    ScopeReason.SELECTED_CHANGED: "selected it once",
    ScopeReason.NEAR_CHANGED: "look-alike",
    ScopeReason.RANKS_CHANGED: "ranks it high",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCaseRow:
    """One case of a trial; `original` and `draft` are passes and pairs of the arms, None before any answer.

    `said` describes a case that must not change, once it was asked.
    """

    id: CaseId
    name: str
    query: str
    reasons: tuple[str, ...] = ()
    ticked: bool = True
    original: tuple[int, int] | None = None
    draft: tuple[int, int] | None = None
    said: str = ""


class TrialPresenter:
    """Cases about the changed tools and cases that must not change, settings of the trial, and its result."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._cases: dict[CaseId, TestCase] = {}
        self._unticked: set[CaseId] = set()
        self._loading = 0
        self._batch: BatchId | None = None
        self._tried: tuple[str, int] | None = None
        self.scope: TrialScope | None = None
        self.result: TrialResult | None = None
        self.can_show = self.problem = ""
        self.estimate: Estimate | None = None
        self.settings = ModelSettings()
        self.goal = TrialGoal.QUICK
        self.max_cost_usd: float | None = None
        self.same_against_same = False

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event changes what is shown of the trial."""
        match event:
            case BatchStarted(batch) | BatchEnded(batch) if batch.id == self._batch:
                return Refresh.NOW
            case CasesChanged():
                return Refresh.NOW
            case RunEnded(run) if run.batch_id == self._batch:
                return Refresh.LATER
            case BatchProgressed(batch=batch) if batch.id == self._batch:
                return Refresh.LATER
            case _:
                return Refresh.NONE

    async def load(self, draft: Draft) -> bool:
        """Read cases and the newest trial of a draft; return False if a later call has replaced this one."""
        self._loading += 1
        mine = self._loading
        found = await self._ask(lambda core: _read(core, draft))
        if mine != self._loading:
            return False
        self.scope, self._cases, newest = found
        self._batch, step = newest or (None, 0)
        self._tried = (draft.id, step)
        await self._read_result()
        await self._plan(draft)
        return True

    async def load_result(self) -> None:
        """Read the state of the trial again."""
        await self._read_result()

    async def _read_result(self) -> None:
        batch = self._batch
        self.result = await self._ask(lambda core: core.trials.result(batch)) if batch else None

    async def _plan(self, draft: Draft) -> None:
        """Find out what a trial of the ticked cases can show, and what it costs."""
        request = self._request(draft)
        self.can_show, self.estimate, self.problem = "", None, ""
        if not request.cases:
            return
        try:
            self.can_show = await self._ask(lambda core: core.trials.what_it_can_show(request.cases))
            self.estimate = await self._ask(lambda core: core.trials.estimate(request))
        except TefError as error:
            self.problem = error.message

    async def plan(self, draft: Draft) -> None:
        """Find out again what a trial can show and costs, after a change of cases or settings."""
        await self._plan(draft)

    async def estimate_for(self, draft: Draft, model: ModelSettings) -> Estimate:
        """Return the most that a trial with a model takes."""
        request = replace(self._request(draft), settings=model)
        return await self._ask(lambda core: core.trials.estimate(request))

    def tick(self, ids: Collection[str], shown: Collection[str]) -> None:
        """Take the ticked ones of the shown cases into the trial."""
        self._unticked = (self._unticked - set(map(CaseId, shown))) | {CaseId(one) for one in shown if one not in ids}

    # ------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        """True while the trial asks."""
        return self.result is not None and self.result.end is None

    def decided(self) -> bool:
        """Return True if the trial has ended, so that its verdict can be shown."""
        return self.result is not None and self.result.end is not None

    def is_about(self, draft: Draft) -> bool:
        """Return True if the trial tried the draft as it is now."""
        return self._tried == (draft.id, draft.step)

    def _request(self, draft: Draft) -> TrialRequest:
        cases, guards = self._ticked()
        return TrialRequest(
            draft=draft.id,
            settings=self.settings,
            cases=cases,
            guards=guards,
            goal=self.goal,
            max_cost_usd=self.max_cost_usd,
            same_against_same=self.same_against_same,
        )

    def _ticked(self) -> tuple[tuple[CaseId, ...], tuple[CaseId, ...]]:
        if self.scope is None:
            return (), ()
        lists = (tuple(self.scope.affected), self.scope.guards)
        cases, guards = (tuple(one for one in ids if one not in self._unticked) for ids in lists)
        return cases, guards

    async def start(self, draft: Draft, *, seed: int = 0) -> None:
        """Try the draft; another `seed` asks in another order, for fresh runs."""
        request = replace(self._request(draft), seed=seed)
        batch = await self._ask(lambda core: core.trials.start(request, may_pause=True))
        self._batch, self._tried = batch.id, (draft.id, draft.step)
        await self._read_result()

    async def confirm(self, draft: Draft) -> None:
        """Try the draft again with fresh runs."""
        await self.start(draft, seed=(self.result.seed if self.result else 0) + 1)

    async def stop(self) -> None:
        """Stop the trial; what was asked is kept."""
        batch = self._batch
        if batch is not None and self.running:
            await self._ask(lambda core: core.runs.cancel(batch))
            await self._read_result()

    # ------------------------------------------------------------ what is shown

    def can_try(self, draft: Draft | None) -> str:
        """Return why the draft cannot be tried now; "" if it can."""
        if draft is None or not (draft.revisions or self.same_against_same):
            return "Nothing is changed yet."
        if self.running:
            return "The trial is running."
        if self.problem:
            return self.problem
        return "" if self._ticked()[0] else "No test case is about the changed tools."

    def case_rows(self) -> tuple[TrialCaseRow, ...]:
        """Return the cases about the changed tools, those that differ between the arms first."""
        scope = self.scope
        outcomes = {one.case_id: one for one in self.result.outcomes} if self.result else {}
        rows = []
        for case_id, reasons in scope.affected.items() if scope else ():
            row = replace(self._row(case_id), reasons=tuple(REASONS[one] for one in reasons))
            if (one := outcomes.get(case_id)) and one.pairs:
                row = replace(row, original=(one.original, one.pairs), draft=(one.draft, one.pairs))
            rows.append(row)
        return tuple(sorted(rows, key=_change))

    def guard_rows(self) -> tuple[TrialCaseRow, ...]:
        """Return the cases that must not change, broken and doubtful ones first."""
        asked = {one.case_id: one for one in self.result.claims.guards} if self.result else {}
        rows = []
        for case_id in self.scope.guards if self.scope else ():
            row = self._row(case_id)
            if one := asked.get(case_id):
                said = "broken" if one.broken else "not broken"
                row = replace(row, original=one.original, draft=one.draft, said=said)
            elif self.decided():
                row = replace(row, said="no change")
            rows.append(row)
        return tuple(sorted(rows, key=lambda row: ("broken", "not broken", "no change", "").index(row.said)))

    def _row(self, case_id: CaseId) -> TrialCaseRow:
        case = self._cases.get(case_id)
        name, query = (case.name, case.draft.query) if case else ("This case was removed", "")
        return TrialCaseRow(id=case_id, name=name, query=query, ticked=case_id not in self._unticked)

    def size_text(self) -> str:
        """Return the size of the trial: "34 of 210 cases, 20 guards"."""
        cases, guards = self._ticked()
        total = self.scope.total if self.scope else 0
        return f"{len(cases):,} of {count(total, 'case')}, {count(len(guards), 'guard')}"

    def cost_text(self) -> str:
        """Return the calls and the cost of the trial that would start now."""
        found = self.estimate
        if found is None:
            return ""
        free = is_baseline(self.settings.label)
        return f"{count(found.runs, 'search', 'searches')}, free" if free else _priced(found)

    def progress_text(self) -> str:
        """Return the running evidence: "8 wins, 1 loss · 131 of 252 calls"."""
        result = self.result
        if result is None:
            return ""
        parts = [f"{count(result.wins, 'win')}, {count(result.losses, 'loss', 'losses')}"]
        parts.append(f"{result.calls:,} of {count(result.planned_calls, 'call')}")
        parts += [f"{result.left_out:,} left out"] if result.left_out else []
        return " · ".join([*parts, *([money(result.cost_usd)] if result.cost_usd else [])])

    def verdicts(self) -> tuple[ClaimVerdict, ClaimVerdict] | None:
        """Return the two verdicts of a trial that has ended."""
        if self.result is None or not self.decided():
            return None
        claims = self.result.claims
        return claims.on_these_cases.verdict, claims.for_queries_like_these.verdict


def _priced(estimate: Estimate) -> str:
    return f"up to {count(estimate.runs, 'call')}, {money(estimate.cost_usd)}"


def _change(row: TrialCaseRow) -> int:
    """Return the place of a row: worse first, then fixed, then those without a difference."""
    before, after = (row.original or (0, 0))[0], (row.draft or (0, 0))[0]
    return 0 if after < before else 1 if after > before else 2


async def _read(
    core: "Engine", draft: Draft
) -> tuple[TrialScope | None, dict[CaseId, TestCase], tuple[BatchId, int] | None]:
    """Return cases of a trial of the draft, all test cases, and the newest trial with the step that it tried."""
    scope = await core.predictions.scope(draft) if draft.revisions else None
    cases = {case.id: case for case in await core.cases.list()} if scope else {}
    return scope, cases, await _newest(core, draft)


async def _newest(core: "Engine", draft: Draft) -> tuple[BatchId, int] | None:
    trials: Sequence[tuple[BatchId, int]] = [
        (batch.id, int(batch.trial["step"]))
        for batch in await core.runs.batches()
        if batch.trial and batch.trial.get("draft") == draft.id
    ]
    return next(iter(trials), None)
