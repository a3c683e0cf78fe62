"""Trials of drafts: started as batches with two arms, continued, and read from their stored runs."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from mcp_tef.errors import ConflictError, EmbeddingError, InputError, TefError
from mcp_tef.model.cases import Expectation, TestCase
from mcp_tef.model.comparison import PassCriterion
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.drafts import INSTRUCTIONS, Draft, offered_fingerprint
from mcp_tef.model.ids import BatchId, CaseId, DraftId
from mcp_tef.model.prediction import DirectionRecord
from mcp_tef.model.run_fields import REPEATS
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import (
    Arm,
    Batch,
    BatchRequest,
    BatchStatus,
    Estimate,
    FailureInfo,
    ModelSettings,
)
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.trials import TrialRequest, TrialResult
from mcp_tef.ports import Store
from mcp_tef.scoring.phrases import LONGEST_LIST, listed, ticked
from mcp_tef.statistics.trial_decision import what_it_can_show
from mcp_tef.workflows.crowd_plan import is_crowd_plan
from mcp_tef.workflows.drafts import Drafts
from mcp_tef.workflows.runs import Runs
from mcp_tef.workflows.trial_plan import TrialPlan, alike, plan_of, prompt_plan
from mcp_tef.workflows.trial_record import UNDER_WAY, TrialRecord, record_of, result_of, stored_run
from mcp_tef.workflows.trial_steering import ListedServer, TrialSteering, TrialTools

_HELD = (BatchStatus.WAITING, BatchStatus.RUNNING, BatchStatus.PAUSED)


class Trials:
    """Trials of a workspace. Each is a batch on the machinery of `Runs`, which pauses, cancels and resumes it."""

    def __init__(self, store: Store, drafts: Drafts, runs: Runs, config: Config | CurrentConfig) -> None:
        self._store = store
        self._drafts = drafts
        self._runs = runs
        self._config = config
        self.direction_of: Callable[[Draft, Collection[CaseId]], Awaitable[int]] | None = None
        self.shows_instructions: Callable[[ModelSettings], bool] = lambda _: False

    async def start(
        self, request: TrialRequest, keys: Mapping[str, Secret] | None = None, *, may_pause: bool = False
    ) -> Batch:
        """Store the trial and begin, as `Runs.start` does. No server is started or contacted.

        Raises InputError, NotFoundError, ConsentError, ModelError (no key).
        """
        draft, plan = await self._planned(request)
        cases = _all_there(plan, await self._cases(plan))
        held_back = [case_id for case_id in plan.cases if cases[case_id].draft.held_back]
        steering = await self._made(plan, draft, cases, _models(request))
        batch = await self._runs.start(_batch_request(request, plan), keys, may_pause=may_pause, trial=steering)
        if held_back:
            await self._store.cases.count_openings(held_back)
        return batch

    async def _planned(self, request: TrialRequest) -> tuple[Draft | None, TrialPlan]:
        """Return the draft in the state to try, None where the arms are prompts, and the plan. InputError."""
        if request.against_settings:
            return None, prompt_plan(request, request.against_settings)
        draft = await self._drafts.get(request.draft)
        draft = draft if request.step is None else replace(draft, step=request.step)
        plan = _plan(request, draft)
        if _only_instructions(draft) and not (plan.same_against_same or self.shows_instructions(request.settings)):
            said = f"The draft {draft.name} changes only the server's instructions, which the model would not see."
            raise InputError(said, hint="Select a client that shows them, such as Claude Code (--client claude-code).")
        return draft, replace(plan, predicted=await self._predicted(request, draft, plan))

    async def _predicted(self, request: TrialRequest, draft: Draft, plan: TrialPlan) -> int | None:
        """Return the direction that the baseline predicts for a model; None where nothing can be predicted."""
        own = plan.same_against_same or plan.hints or plan.against
        if self.direction_of is None or request.settings.offline or own or _only_instructions(draft):
            return None
        try:
            return await self.direction_of(draft, plan.cases)
        except EmbeddingError:
            return None

    async def directions(self) -> DirectionRecord:
        """Count the ended trials in which a model did better with one arm, and those of them predicted rightly."""
        right: list[bool] = []
        for batch in await self._store.runs.batches():
            predicted = (batch.trial or {}).get("predicted")
            if predicted is None or batch.status in UNDER_WAY:
                continue
            wins, losses, _ = (await self._read(batch))[1].decision.counts
            if wins != losses:
                right.append(predicted == (1 if wins > losses else -1))
        return DirectionRecord(right=sum(right), trials=len(right))

    async def estimate(self, request: TrialRequest) -> Estimate:
        """Estimate the most that a trial takes: all its rounds, without guards asked afresh."""
        rounds = 1 if request.settings.offline else request.rounds
        ids = (*request.cases, *request.guards)
        found = await self._runs.estimate(BatchRequest(cases=ids, models=(request.settings,), repeats=1))
        arms = len(Arm) * rounds
        return Estimate(
            runs=len(ids) * arms,
            tokens=None if found.tokens is None else found.tokens * arms,
            cost_usd=None if found.cost_usd is None else found.cost_usd * arms,
            seconds=None if found.seconds is None else found.seconds * arms / request.concurrency,
        )

    async def what_it_can_show(self, cases: Sequence[CaseId]) -> str:
        """Return one line on what a trial of these cases can show, before it starts."""
        found = await self._store.cases.select(ids=cases) if cases else ()
        families = {case.draft.family or case.id for case in found}
        return what_it_can_show(len(found), len(families))

    async def require_idle(self, draft: Draft) -> None:
        """Raise ConflictError where a trial of this draft is running, waits or is paused."""
        under_way = [batch for batch in await self._store.runs.batches() if batch.trial and batch.status in _HELD]
        if any((batch.trial or {}).get("draft") == draft.id for batch in under_way):
            hint = "Wait until it has ended, or cancel it."
            raise ConflictError(f"A trial of the draft {draft.name} is running.", hint=hint)

    async def resume(
        self,
        batch_id: BatchId,
        keys: Mapping[str, Secret] | None = None,
        *,
        max_cost_usd: float | None = None,
        may_pause: bool = False,
    ) -> Batch:
        """Go on with a trial that was cut off or cancelled; what is stored is not asked again. InputError."""
        return await self._runs.resume(batch_id, keys, max_cost_usd=max_cost_usd, may_pause=may_pause)

    async def more(
        self,
        batch_id: BatchId,
        keys: Mapping[str, Secret] | None = None,
        *,
        rounds: int = 1,
        max_cost_usd: float | None = None,
        may_pause: bool = False,
    ) -> Batch:
        """Ask further full rounds of a trial that has ended, keeping its pairs. InputError."""
        batch = await self._runs.batch(batch_id)
        plan, record, _ = await self._read(batch)
        if batch.status in UNDER_WAY or not record.stopped:
            raise InputError("The trial has not ended yet.", hint="Resume it, or wait until it has ended.")
        if record.criterion is PassCriterion.CORRECT_TOOL:
            raise InputError("The baseline would answer the same again.", hint="Add cases, or try it with a model.")
        REPEATS.check(rounds)
        more = (*(plan.more or (record.decision.look,)), record.rounds + rounds)
        await self._store.runs.set_trial(batch_id, replace(plan, more=more).to_json())
        try:
            return await self.resume(batch_id, keys, max_cost_usd=max_cost_usd, may_pause=may_pause)
        except TefError:  # for want of a key or a consent, say: it has ended as before, and can be asked for again
            await self._store.runs.set_trial(batch_id, plan.to_json())
            raise

    async def estimate_more(self, batch_id: BatchId, *, rounds: int = 1) -> Estimate:
        """Estimate the most that `more` takes. NotFoundError; InputError for other batches."""
        batch = await self._runs.batch(batch_id)
        plan = plan_of(batch)
        settings = (await self._store.runs.request(batch_id)).models[0]
        request = TrialRequest(draft=plan.draft, settings=settings, cases=plan.cases, guards=plan.guards, rounds=rounds)
        return await self.estimate(replace(request, concurrency=batch.concurrency))

    async def newest(self, draft_id: DraftId) -> tuple[Batch, ...]:
        """Return the newest trial of a draft; where several models were tried alike, one batch of each, oldest first.

        A trial with the baseline stands alone, since nothing was asked of a model.
        """
        return alike(await self._of_draft(draft_id))

    async def evidence(self, draft: Draft) -> tuple[tuple[Batch, TrialResult], ...]:
        """Return the newest trial, one of each model, that was not cut short and tried the tools as they are now."""
        batches = await self._of_draft(draft.id)
        whole = [batch for batch in batches if batch.status is BatchStatus.COMPLETED]
        kept = [batch for batch in whole if self.tried_as_it_is(batch, draft)]
        return tuple([(batch, await self.result(batch.id)) for batch in alike(kept)])

    async def _of_draft(self, draft_id: DraftId) -> list[Batch]:
        """Return the trials of a draft against the original, newest first; not those that `improve` asks on its way."""
        found = [one for one in await self._runs.batches() if one.trial and one.trial.get("draft") == draft_id]
        return [one for one in found if not (one.trial and (one.trial.get("against") or one.trial.get("hints")))]

    async def result(self, batch_id: BatchId) -> TrialResult:
        """Return what a trial has shown so far, from its stored runs. NotFoundError; InputError for other batches."""
        batch = await self._runs.batch(batch_id)
        plan, record, cases = await self._read(batch)
        names = {case.id: case.told_name for case in cases.values()}
        settings = (await self._store.runs.request(batch_id)).models[0]
        tried = await self._drafts_tried(batch, plan)
        return result_of(batch, record, settings, names, tried, await self._missing(record, cases))

    async def _missing(self, record: TrialRecord, cases: Mapping[CaseId, TestCase]) -> dict[CaseId, str]:
        """Return by case the expected tools that were not offered, of the first few cases."""
        runs = {run.case_id: run.id for run in record.not_offered() if run.case_id in cases}
        named = {case_id: await self._store.runs.detail(runs[case_id]) for case_id in list(runs)[: LONGEST_LIST + 1]}
        return {key: _named_in(cases[key].draft.expectation, one.summary.failure) for key, one in named.items()}

    async def steering(self, batch: Batch) -> TrialSteering:
        """Return the steering of a stored trial, with what it has asked so far. InputError, StoreError."""
        plan, record, cases = await self._read(batch)
        draft = await self._as_tried(plan)
        models = (await self._store.runs.request(batch.id)).models
        made = await self._made(plan, draft, _all_there(plan, cases), models, record)
        made.batch_id = batch.id
        return made

    def tried_as_it_is(self, batch: Batch, draft: Draft) -> bool:
        """Return True if a trial tried exactly the tools that the draft has now."""
        plan = plan_of(batch)
        return not plan.same_against_same and plan.draft_hash == _tools_hash(draft)

    async def _as_tried(self, plan: TrialPlan) -> Draft | None:
        """Return the draft as it was when the trial began; None where the arms are prompts."""
        if plan.prompts:
            return None
        draft = await self._drafts.get(plan.draft)
        if plan.step <= len(draft.steps) and draft.listing_hash == plan.listing_hash:
            draft = replace(draft, step=plan.step)
            if _tools_hash(draft) == plan.draft_hash:
                return draft
        said = f"The draft {plan.draft_name} was changed since this trial began, so it cannot go on."
        raise InputError(said, hint="Start a new trial.")

    async def _read(self, batch: Batch) -> tuple[TrialPlan, TrialRecord, dict[CaseId, TestCase]]:
        """Return the plan, the record from the stored runs, and the cases that were not removed meanwhile."""
        plan = plan_of(batch)
        runs = await self._store.runs.runs(RunFilter(batch_id=batch.id))
        cases = await self._cases(plan)
        baseline = (await self._store.runs.request(batch.id)).models[0].offline
        record = record_of(plan, cases, baseline=baseline)
        for run in runs:
            if run.arm is not None and run.place is not None:
                record.put(stored_run(run, run.arm, run.place))
        record.advance()
        return plan, record, cases

    async def _cases(self, plan: TrialPlan) -> dict[CaseId, TestCase]:
        """Return the cases of a trial that were not removed."""
        return {case.id: case for case in await self._store.cases.select(ids=(*plan.cases, *plan.guards))}

    async def _made(
        self,
        plan: TrialPlan,
        draft: Draft | None,
        cases: dict[CaseId, TestCase],
        models: Sequence[ModelSettings],
        record: TrialRecord | None = None,
    ) -> TrialSteering:
        record = record or record_of(plan, cases, baseline=models[0].offline)
        tools = await (self._tools(plan, draft, cases) if draft else self._same_tools(cases))
        return TrialSteering(record, tools, cases, plan.arms(models), self._store.runs)

    async def _same_tools(self, cases: Mapping[CaseId, TestCase]) -> TrialTools:
        """Return the last listings for both arms."""
        listed = await self._listed(sorted(_servers(cases)))
        return TrialTools(dict.fromkeys(Arm, listed), self._store.runs, separator=self._config.separator)

    async def _tools(self, plan: TrialPlan, draft: Draft, cases: Mapping[CaseId, TestCase]) -> TrialTools:
        names = _servers(cases)
        others = await self._listed(sorted(names - {draft.server})) if draft.server else {}
        states = _states(plan, draft)
        listings = {arm: (await self._drafts.arms(state))[1] for arm, state in states.items()}
        name = draft.server or draft.name
        spec = await self._spec(draft, name)
        return TrialTools(
            {arm: others | {name: (spec, listing)} for arm, (listing, *_) in listings.items()},
            self._store.runs,
            separator=self._config.separator,
            alone=draft.server is None,
            hints=plan.hints,
            renames={arm: state.renames for arm, state in states.items()},
            server=draft.server,
        )

    async def _spec(self, draft: Draft, name: str) -> ServerSpec:
        if draft.server:
            return (await self._store.servers.find(draft.server)).spec
        return ServerSpec(name=name, transport=Transport.FILE, path=name)

    async def _listed(self, names: Sequence[str]) -> dict[str, ListedServer]:
        """Return the last listings of servers that the draft does not touch."""
        found = [await self._store.servers.find(name) for name in names]
        listings = [(one, await self._store.servers.listing(one.id)) for one in found]
        return {one.name: (one.spec, listing) for one, listing in listings if listing}

    async def _drafts_tried(self, batch: Batch, plan: TrialPlan) -> int:
        """Count the different drafts that were tried on any of these cases up to this trial."""
        tried = {plan.draft_hash}
        for other in await self._store.runs.batches():
            if other.trial and not is_crowd_plan(other.trial) and other.created_at <= batch.created_at:
                earlier = TrialPlan.from_json(other.trial)
                if _of_one_kind(earlier, plan) and not set(earlier.cases).isdisjoint(plan.cases):
                    tried.add(earlier.draft_hash)
        return len(tried)


def _plan(request: TrialRequest, draft: Draft) -> TrialPlan:
    cases = tuple(dict.fromkeys(request.cases))
    if not (draft.revisions or request.against or request.same_against_same or request.hints):
        raise InputError(f"The draft {draft.name} changes nothing.", hint="Change a tool, or try same against same.")
    if not cases:
        raise InputError("No case is about the changed tools, so there is nothing to try.", hint="Select cases.")
    REPEATS.check(request.rounds)
    return TrialPlan(
        draft=draft.id,
        draft_name=draft.name,
        step=draft.step,
        listing_hash=draft.listing_hash,
        draft_hash=_tools_hash(draft),
        cases=cases,
        guards=tuple(case_id for case_id in dict.fromkeys(request.guards) if case_id not in cases),
        rounds=request.rounds,
        goal=request.goal,
        seed=request.seed,
        same_against_same=request.same_against_same,
        against=request.against,
        hints=request.hints,
        gate=request.gate,
        most_calls=request.most_calls,
    )


def _only_instructions(draft: Draft) -> bool:
    return draft.changed_tools() == (INSTRUCTIONS,)


def _of_one_kind(earlier: TrialPlan, plan: TrialPlan) -> bool:
    """Return True if an earlier trial tried something new, as this one does, and of the same kind."""
    same_kind = bool(earlier.prompts) is bool(plan.prompts)
    return same_kind and not (earlier.same_against_same or earlier.hints)


def _all_there(plan: TrialPlan, cases: dict[CaseId, TestCase]) -> dict[CaseId, TestCase]:
    """Return the cases of a trial. InputError where some were removed."""
    if missing := len({*plan.cases, *plan.guards} - cases.keys()):
        raise InputError(f"{missing:,} of the trial's cases were removed.", hint="Start a new trial.")
    return cases


def _servers(cases: Mapping[CaseId, TestCase]) -> set[str]:
    return {name for case in cases.values() for name in case.draft.servers}


def _states(plan: TrialPlan, draft: Draft) -> dict[Arm, Draft]:
    """Return the states of the draft that the arms offer; before its first step it is the listing."""
    original = replace(draft, step=plan.against)
    return {Arm.ORIGINAL: original, Arm.DRAFT: original if plan.same_against_same else draft}


def _tools_hash(draft: Draft) -> str:
    return offered_fingerprint(draft.tools, draft.instructions)


def _models(request: TrialRequest) -> tuple[ModelSettings, ...]:
    """Return the settings of the arms in their order; one for both where the tools differ."""
    return (request.against_settings, request.settings) if request.against_settings else (request.settings,)


def _batch_request(request: TrialRequest, plan: TrialPlan) -> BatchRequest:
    return BatchRequest(
        cases=(*plan.cases, *plan.guards),
        models=_models(request),
        repeats=request.rounds,
        concurrency=request.concurrency,
        max_cost_usd=request.max_cost_usd,
        name=request.name or f"Trial of {plan.draft_name}",
        trial=plan.to_json(),
    )


def _named_in(expectation: Expectation, failure: FailureInfo | None) -> str:
    """Return the expected tools that a run's failure names as missing; all of them where it names none."""
    said = (failure.message if failure else "").partition(" The nearest ")[0]
    names = sorted(expectation.tool_names)
    missing = [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said)]
    return listed([ticked(name) for name in missing or names], "or")
