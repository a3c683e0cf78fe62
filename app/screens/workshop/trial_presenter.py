"""Models, cost and state of the trial of a draft; knows no Qt."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.core_link.model_requests import ApiKeys, CoreCall
from app.core_link.refresh import Refresh
from app.screens.workshop.trial_cases import TrialCaseRow, TrialCases
from app.text.formatting import count, money
from mcp_tef import (
    INSTRUCTIONS,
    Batch,
    BatchEnded,
    BatchId,
    BatchPaused,
    BatchProgressed,
    BatchStarted,
    BatchStatus,
    CaseId,
    CasesChanged,
    Claim,
    ClaimVerdict,
    Draft,
    DraftFormat,
    Estimate,
    Event,
    ModelSettings,
    PassCriterion,
    RunEnded,
    TefError,
    TestCase,
    TrialEnd,
    TrialGoal,
    TrialRequest,
    TrialResult,
    TrialScope,
    draft_text,
    is_baseline,
    joint_sentence,
    joint_verdict,
    trial_explanation,
    trials_evidence,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

BASELINE = ModelSettings()
ROUNDS, GUARDS = (3, 5, 10), (0, 20, 40)
"""Choices of the most rounds and guards, the usual one second."""


class TrialPresenter:
    """Settings of the trial of the selected draft, and what its newest trial has shown: one result for each model."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._loading = 0
        self.cases = TrialCases()
        self.batches: tuple[Batch, ...] = ()
        self.results: tuple[TrialResult, ...] = ()
        self.can_show = self.problem = ""
        self.estimate: Estimate | None = None
        self.more_estimate: Estimate | None = None
        self.models: tuple[ModelSettings, ...] = (BASELINE,)
        self.goal = TrialGoal.QUICK
        self.rounds, self.guards = ROUNDS[1], GUARDS[1]
        self.max_cost_usd: float | None = None
        self.same_against_same = False
        self.client = ""
        self.clients: Mapping[str, str] = {}
        self.tried_as_it_is = True

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event changes what is shown of the trial; one that has just begun is not known by id."""
        match event:
            case BatchStarted(batch) | BatchEnded(batch) | BatchPaused(batch) if batch.trial is not None:
                return Refresh.NOW
            case CasesChanged():
                return Refresh.NOW
            case RunEnded(run) if run.arm is not None:
                return Refresh.LATER
            case BatchProgressed(batch=batch) if batch.trial is not None:
                return Refresh.LATER
            case _:
                return Refresh.NONE

    async def load(self, draft: Draft) -> bool:
        """Read cases and the newest trial of a draft; return False if a later call has replaced this one."""
        self._loading += 1
        mine = self._loading
        self.clients = self.clients or await self._ask(_clients)
        scope, known, batches, same = await self._ask(partial(_read, draft=draft, guards=self.guards))
        results = await self._ask(partial(_results, batches=batches))
        if mine != self._loading:
            return False
        self.cases.show(draft.id, scope, known)
        self.batches, self.results, self.tried_as_it_is = batches, results, same
        await self.plan(draft)
        return mine == self._loading

    async def plan(self, draft: Draft) -> None:
        """Find out what a trial of the ticked cases can show, what it costs, and what more rounds would cost."""
        requests = self.requests(draft)
        self.can_show, self.estimate, self.problem, self.more_estimate = "", None, "", None
        try:
            if requests[0].cases:
                self.can_show = await self._ask(lambda core: core.trials.what_it_can_show(requests[0].cases))
                self.estimate = await self._ask(partial(_estimated, requests=requests))
            if found := self.open_batches():
                self.more_estimate = await self._ask(partial(_more, batches=found))
        except TefError as error:
            self.problem = error.message

    async def estimate_for(self, draft: Draft, model: ModelSettings) -> Estimate:
        """Return the most that a trial with a model takes."""
        request = replace(self.requests(draft)[0], settings=model)
        return await self._ask(lambda core: core.trials.estimate(request))

    def choose(self, models: Iterable[ModelSettings]) -> None:
        """Try these models; the baseline only where there is no other."""
        found = dict.fromkeys(model for model in models if not model.offline)
        self.models = tuple(found) or (BASELINE,)

    # ------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        """True while the trial asks, or waits to."""
        return any(status in (BatchStatus.RUNNING, BatchStatus.WAITING) for status in self._statuses())

    @property
    def paused(self) -> bool:
        """True while the trial is paused."""
        return not self.running and BatchStatus.PAUSED in self._statuses()

    def _statuses(self) -> list[BatchStatus]:
        """Return the states of the trials that have not ended; a batch was read before its result."""
        pairs = zip(self.batches, self.results, strict=True)
        return [batch.status for batch, result in pairs if result.end is None]

    def decided(self) -> bool:
        """Return True if the trial has ended or was cut off with every model, so that its verdict can be shown."""
        return bool(self.results) and all(status is BatchStatus.INTERRUPTED for status in self._statuses())

    def requests(self, draft: Draft, *, seed: int = 0) -> list[TrialRequest]:
        """Return one request for each model; another `seed` asks in another order, for fresh runs."""
        cases, guards = self.cases.ticked()
        return [
            TrialRequest(
                draft=draft.id,
                settings=model if model.offline else replace(model, client=self.client),
                cases=cases,
                guards=guards,
                goal=self.goal,
                rounds=self.rounds,
                seed=seed,
                max_cost_usd=self.max_cost_usd,
                same_against_same=self.same_against_same,
            )
            for model in self.models
        ]

    def fresh_seed(self) -> int:
        """Return a seed that no trial shown here had."""
        return 1 + max((result.seed for result in self.results), default=0)

    async def start(self, request: TrialRequest, keys: ApiKeys) -> Batch:
        """Try the draft with one model."""
        return await self._ask(lambda core: core.trials.start(request, keys, may_pause=True))

    async def run_more(self, batch_id: BatchId, keys: ApiKeys) -> Batch:
        """Ask one round more, and keep the pairs."""
        return await self._ask(lambda core: core.trials.more(batch_id, keys, may_pause=True))

    async def resume(self, batch_id: BatchId, keys: ApiKeys) -> Batch:
        """Go on with a trial that was stopped or cut off."""
        return await self._ask(lambda core: core.trials.resume(batch_id, keys, may_pause=True))

    async def stop(self) -> None:
        """Stop the trial; what was asked is kept."""
        await self._ask(partial(_cancel, batches=[batch.id for batch in self.batches]))

    def open_batches(self) -> list[BatchId]:
        """Return the ended trials with a model in which a claim is open, so that more rounds can be asked."""
        ended = (TrialEnd.DECIDED, TrialEnd.FUTILE, TrialEnd.COMPLETE)
        return [
            one.batch_id
            for one in self.results
            if one.end in ended and one.criterion is PassCriterion.CORRECT_CALL and _is_open(one)
        ]

    def cut_off(self) -> list[BatchId]:
        """Return the trials that were stopped or cut off, so that they can go on."""
        pairs = zip(self.batches, self.results, strict=True)
        return [
            batch.id
            for batch, result in pairs
            if batch.status is BatchStatus.INTERRUPTED or result.end is TrialEnd.CANCELLED
        ]

    def is_repeated(self) -> bool:
        """Return True if earlier drafts were tried on these cases, so that a model has to confirm the verdict."""
        return any(one.drafts_tried > 1 and not is_baseline(one.model) for one in self.results)

    # ------------------------------------------------------------ what is shown

    def can_try(self, draft: Draft | None) -> str:
        """Return why the draft cannot be tried now; "" if it can."""
        if draft is None or not (draft.revisions or self.same_against_same):
            return "Nothing is changed yet."
        if why := self._obstacle(draft):
            return why
        if self.cases.ticked()[0]:
            return ""
        return (
            "Tick a case about the changed tools." if self.cases.affected() else "No case is about the changed tools."
        )

    def _obstacle(self, draft: Draft) -> str:
        """Return why the core would refuse the trial, or the model would not see what the draft changes."""
        if self.running or self.paused:
            return "The trial is running."
        if self.problem:
            return self.problem
        if draft.changed_tools() != (INSTRUCTIONS,) or any(one.settings.client for one in self.requests(draft)):
            return ""
        return "Select a model, and under Options a client that shows it the instructions."

    def case_rows(self) -> tuple[TrialCaseRow, ...]:
        """Return the cases about the changed tools, those that differ between the arms first."""
        return self.cases.rows(self.results)

    def guard_rows(self) -> tuple[TrialCaseRow, ...]:
        """Return the cases that must not change, broken and doubtful ones first."""
        return self.cases.guard_rows(self.results)

    def size_text(self) -> str:
        """Return how many cases are asked, and what that can show: "34 of 210 cases can rule out changes above …"."""
        _, _, can_show = self.can_show.rstrip(".").partition(" can ")
        return " can ".join(filter(None, (self.cases.size_text(), can_show)))

    def cost_text(self) -> str:
        """Return the calls and the cost of the trial that would start now."""
        found = self.estimate
        if found is None:
            return ""
        free = all(model.offline for model in self.models)
        return f"{count(found.runs, 'search', 'searches')}, free" if free else price_text(found)

    def progress_text(self) -> str:
        """Return the running evidence: "8 wins, 1 loss; 3 more wins would decide it · 131 of 252 calls"."""
        paused = ["paused"] if self.paused else []
        return " · ".join([*paused, evidence_text(self.results), *_calls(self.results)])

    def joint(self) -> Claim:
        """Return the verdict of all models together."""
        return Claim(joint_verdict(self.results), joint_sentence(self.results))

    def explained(self) -> list[tuple[str, Sequence[tuple[str, str]]]]:
        """Return how the verdict of each model was decided."""
        held_back = self.cases.held_back()
        return [(one.model, trial_explanation(one, held_back)) for one in self.results]

    async def draft_text(self, draft: Draft, kind: DraftFormat) -> str:
        """Return the draft in a format, with sentences about its last whole trial where it was tried as it is now."""
        evidence = trials_evidence(await self._ask(lambda core: core.trials.evidence(draft)))
        return await self._ask(lambda _: asyncio.to_thread(draft_text, draft, kind, evidence=evidence))


def _is_open(result: TrialResult) -> bool:
    claims = (result.claims.on_these_cases, result.claims.for_queries_like_these)
    return any(claim.verdict is ClaimVerdict.CANNOT_TELL_YET for claim in claims)


def evidence_text(results: Sequence[TrialResult]) -> str:
    """Return the numbers of the first claim without its verdict: "8 wins, 1 loss in 9 pairs; 3 more wins …"."""
    if len(results) > 1:
        return f"{sum(one.end is not None for one in results):,} of {count(len(results), 'model')} tried"
    asked = next((one for one in results if one.pairs), None)
    _, _, numbers = asked.claims.on_these_cases.sentence.partition(": ") if asked else ("", "", "")
    return numbers.rstrip(".") or "No pair yet"


def _calls(results: Sequence[TrialResult]) -> list[str]:
    """Return calls, pairs left out and cost so far."""
    calls, planned = sum(one.calls for one in results), sum(one.planned_calls for one in results)
    spent, left_out = sum(one.cost_usd or 0.0 for one in results), sum(one.left_out for one in results)
    told = [f"{calls:,} of {count(planned, 'call')}"]
    told += [f"{left_out:,} left out"] if left_out else []
    return told + ([money(spent)] if spent else [])


def price_text(estimate: Estimate) -> str:
    """Return the most calls and the cost of an estimate."""
    cost = "cost unknown" if estimate.cost_usd is None else money(estimate.cost_usd)
    return f"up to {count(estimate.runs, 'call')}, {cost}"


def _together(estimates: Sequence[Estimate]) -> Estimate:
    costs = [one.cost_usd for one in estimates]
    cost = None if None in costs else sum(filter(None, costs))
    return Estimate(runs=sum(one.runs for one in estimates), tokens=None, cost_usd=cost, seconds=None)


async def _read(
    core: "Engine", draft: Draft, guards: int
) -> tuple[TrialScope | None, dict[CaseId, TestCase], tuple[Batch, ...], bool]:
    """Return the scope of a draft, all test cases, its newest trial, and if that tried the draft as it is."""
    scope = await core.predictions.scope(draft, guards) if draft.revisions else None
    cases = {case.id: case for case in await core.cases.list()}
    batches = await core.trials.newest(draft.id)
    return scope, cases, batches, all(core.trials.tried_as_it_is(batch, draft) for batch in batches)


async def _clients(core: "Engine") -> Mapping[str, str]:
    """Return the titles of all client profiles by label."""
    return {one.label: one.title for one in await asyncio.to_thread(core.clients.profiles)}


async def _results(core: "Engine", batches: Sequence[Batch]) -> tuple[TrialResult, ...]:
    return tuple([await core.trials.result(batch.id) for batch in batches])


async def _estimated(core: "Engine", requests: Sequence[TrialRequest]) -> Estimate:
    return _together([await core.trials.estimate(request) for request in requests])


async def _more(core: "Engine", batches: Sequence[BatchId]) -> Estimate:
    return _together([await core.trials.estimate_more(batch_id) for batch_id in batches])


async def _cancel(core: "Engine", batches: Sequence[BatchId]) -> None:
    for batch_id in set(batches).intersection(core.runs.active()):
        await core.runs.cancel(batch_id)
