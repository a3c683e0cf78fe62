"""One run: ask the selector, retry, judge the answer, and derive confidence from repeats."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mcp_tef.errors import InputError, ModelError, NotFoundError, TefError
from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import AnsweredRun, Judgement
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.model_catalogue import GROUP_PROVIDER, TARGET_PROVIDERS
from mcp_tef.model.runs import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    FailureInfo,
    ModelSettings,
    PlannedRun,
    RunResult,
    RunStatus,
)
from mcp_tef.model.tools import OfferedTool
from mcp_tef.ports import CaseTools, Question, RunExecutor, RunStore, Selector, Selectors
from mcp_tef.scoring.judge import judge, rank_of_expected
from mcp_tef.scoring.missing_tools import expected_tools, why_not_asked
from mcp_tef.workflows.models import Keys

if TYPE_CHECKING:
    from mcp_tef.workflows.clients import Clients, ClientSearch
    from mcp_tef.workflows.model_targets import ModelTargets

KEPT_SEARCHES = 64
FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 60.0

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: Answer
    seconds: float
    attempts: int


def backoff(attempt: int, retry_after: float | None) -> float:
    """Return seconds before the next attempt: what the provider asked for, else doubling with jitter of a half."""
    if retry_after is not None:
        return min(retry_after, LONGEST_BACKOFF_S)
    return min(FIRST_BACKOFF_S * 2.0**attempt, LONGEST_BACKOFF_S) * random.uniform(0.5, 1.0)  # noqa: S311


async def _ask(selector: Selector, question: Question, sleep: Sleep) -> _Asked:
    for attempt in range(question.settings.max_retries + 1):
        started = time.perf_counter()
        try:
            answer = await selector.select(question)
        except ModelError as error:
            if not error.retryable or attempt == question.settings.max_retries:
                raise
            await sleep(backoff(attempt, error.retry_after))
        else:
            return _Asked(answer, time.perf_counter() - started, attempt + 1)
    raise AssertionError("the last attempt returns or raises")


class TargetSelectors:
    """Satisfies `Selectors`: groups and routers beside the models and baselines that `inner` finds."""

    def __init__(self, inner: Selectors, targets: "Callable[[], ModelTargets]", sleep: Sleep = asyncio.sleep) -> None:
        self._inner = inner
        self.targets = targets
        self._sleep = sleep

    async def resolve(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings that will run; NotFoundError for a group or router that is not known."""
        if settings.provider not in TARGET_PROVIDERS:
            return await self._inner.resolve(settings)
        is_group = settings.provider == GROUP_PROVIDER
        await (self.targets().group(settings.model) if is_group else self.targets().router(settings.model))
        return settings

    def selector_for(self, settings: ModelSettings) -> Selector:
        """Return what asks a group, a router, a model or a baseline."""
        if settings.provider not in TARGET_PROVIDERS:
            return self._inner.selector_for(settings)
        return self._groups if settings.provider == GROUP_PROVIDER else self._routers

    async def close(self) -> None:
        """Close every selector."""
        await self._inner.close()

    @cached_property
    def _groups(self) -> Selector:
        from mcp_tef.workflows.deployment_load import DeploymentLoad
        from mcp_tef.workflows.target_selectors import GroupSelector

        return GroupSelector(self._inner, self.targets, DeploymentLoad(), self._sleep)

    @cached_property
    def _routers(self) -> Selector:
        from mcp_tef.workflows.target_selectors import RouterSelector

        return RouterSelector(self, self.targets)


class SelectorExecutor:
    """Executes runs by asking the selector of their model once, with retries; satisfies `RunExecutor`."""

    def __init__(self, selectors: Selectors, sleep: Sleep = asyncio.sleep) -> None:
        self._selectors = selectors
        self._sleep = sleep

    async def execute(self, run: PlannedRun, case: TestCase, tools: CaseTools, keys: Keys) -> RunResult:
        """Return the result of one run; a provider's error becomes a failed result, never an exception.

        What is not offered cannot be picked: without the tools of any acceptable answer, nothing is sent.
        """
        if reason := why_not_asked(case.draft.expectation, tools.servers):
            return failed(run, _not_offered(reason), tools)
        selector = self._selectors.selector_for(run.settings)
        draft = case.draft
        key = keys.get(run.settings.destination)
        given = (draft.query, tools.offered, run.settings, key, run.batch_id, draft.before)
        question = Question(*given, keys=keys, instructions=tools.instructions)
        try:
            await selector.prepare(question)
            asked = await _ask(selector, question, self._sleep)
        except TefError as error:
            return failed(run, error, tools)
        if asked.answer.cut_off:
            return _cut_off(run, tools, asked)
        expectation = case.draft.expectation
        return RunResult(
            run_id=run.id,
            status=RunStatus.COMPLETED,
            snapshot_id=tools.snapshot_id,
            answer=asked.answer,
            verdict=judge(expectation, tools.tools, asked.answer.calls, asked.answer.confidence),
            execution_time_ms=max(1, round(asked.seconds * 1000)),
            expected_rank=rank_of_expected(expectation, asked.answer.ranking, tools.offered),
            attempts=asked.attempts,
        )


class ClientExecutor:
    """Executes runs with the tools as the client of their settings shows them; satisfies `RunExecutor`.

    Where the client does not show what a case expects, nothing is sent, as for any tool that is not offered.
    """

    def __init__(self, inner: RunExecutor, runs: RunStore, clients: "Callable[[], Clients]") -> None:
        self._inner = inner
        self._clients = clients
        self._runs = runs
        self._searches: dict[tuple[str, str, int], tuple[CaseTools, asyncio.Task[ClientSearch]]] = {}

    async def execute(self, run: PlannedRun, case: TestCase, tools: CaseTools, keys: Keys) -> RunResult:
        """Return the result of one run; see `RunExecutor`."""
        if not run.settings.client:
            return await self._inner.execute(run, case, tools, keys)
        try:
            search = await asyncio.shield(self._search(run, tools))
        except (NotFoundError, InputError) as error:
            return failed(run, error, tools)
        shown = await search.shown(case.draft.query)
        seen = await self._seen(run, tools, search, shown)
        expected = expected_tools(case.draft.expectation, tools.tools)
        if expected and not expected & {(one.tool.server, one.tool.name) for one in shown}:
            why = search.why_missing(expected)
            hint = "Change the name or the description so that the search finds it."
            return failed(run, InputError(why, hint=hint, code=NOT_OFFERED_CODE), seen)
        return await self._inner.execute(run, case, seen, keys)

    async def _seen(
        self, run: PlannedRun, tools: CaseTools, search: "ClientSearch", shown: tuple[OfferedTool, ...]
    ) -> CaseTools:
        """Return what the model sees through the client, which is stored."""
        return replace(
            tools,
            offered=shown,
            tools=tuple(one.tool for one in shown),
            snapshot_id=await self._runs.save_snapshot(shown, run.id, listed=False) if shown else tools.snapshot_id,
            instructions=search.instructions({spec.name: listing.instructions for spec, listing in tools.servers}),
        )

    def _search(self, run: PlannedRun, tools: CaseTools) -> "asyncio.Task[ClientSearch]":
        """Return the search over these tools, made once for all runs that are offered them."""
        key = (run.settings.client, run.settings.model, id(tools.offered))
        if key not in self._searches:
            while len(self._searches) >= KEPT_SEARCHES:
                self._searches.pop(next(iter(self._searches)))
            self._searches[key] = tools, asyncio.create_task(self._prepared(run, tools))
        return self._searches[key][1]

    async def _prepared(self, run: PlannedRun, tools: CaseTools) -> "ClientSearch":
        clients = self._clients()
        profile = await asyncio.to_thread(clients.find, run.settings.client)
        return await clients.search(profile, tools.offered, run.settings.model)


def _not_offered(reason: str) -> TefError:
    message = f"The run was not started, because an expected tool was not offered. {reason}"
    return InputError(message, hint="Correct the test case, or offer the tool.", code=NOT_OFFERED_CODE)


def _cut_off(run: PlannedRun, tools: CaseTools, asked: _Asked) -> RunResult:
    limit = asked.answer.answer_limit
    what = f"the limit of {limit:,} tokens" if limit else "the model's own limit"
    hint = "Run it with a higher answer limit." if limit else "Ask a model with a higher limit."
    return RunResult(
        run_id=run.id,
        status=RunStatus.FAILED,
        snapshot_id=tools.snapshot_id,
        answer=asked.answer,
        failure=FailureInfo(CUT_OFF_CODE, f"The answer was cut off by {what}, so it was not judged.", hint),
        execution_time_ms=max(1, round(asked.seconds * 1000)),
        attempts=asked.attempts,
    )


def failed(run: PlannedRun, error: TefError, case_tools: CaseTools | None = None) -> RunResult:
    """Return the outcome of a run that a server, a provider or bad input kept from an answer."""
    return RunResult(
        run_id=run.id,
        status=RunStatus.FAILED,
        snapshot_id=case_tools.snapshot_id if case_tools else None,
        failure=FailureInfo(error.code, error.message, error.hint),
    )


_Group = tuple[CaseId, str]


def choice(answer: Answer) -> Json:
    """Return the calls of an answer with their arguments, in no order; None for an unreadable answer."""
    if answer.calls is None:
        return None
    return sorted([call.server or "", call.tool, canonical(call.arguments)] for call in answer.calls)


class RepeatConfidence:
    """Waits for all repeats of a case and model, then gives those without a confidence their agreement.

    Agreement is the share (0–1) of all answered repeats that made the same calls with the same arguments. Unreadable
    answers count in its denominator, and have none. `earlier` repeats, by case and model, were answered before the
    batch was resumed; `again` holds new verdicts on those whose agreement changed.
    """

    def __init__(self, runs: Sequence[PlannedRun], earlier: Mapping[_Group, Sequence[AnsweredRun]]) -> None:
        self._left = Counter(_group(run) for run in runs)
        self._answered: defaultdict[_Group, list[RunResult]] = defaultdict(list)
        self._earlier = earlier
        self.again: list[Judgement] = []

    def settle(self, run: PlannedRun, case: TestCase, case_tools: CaseTools, outcome: RunResult) -> Sequence[RunResult]:
        """Return the results to store now: this one, and with the last repeat all that waited for it."""
        group = _group(run)
        self._left[group] -= 1
        answered = self._answered[group]
        if outcome.verdict is not None:
            answered.append(outcome)
        if self._left[group] or len(answered) + len(self._earlier.get(group, ())) < 2:
            return (outcome,)
        agreed = self._agreed(group, case, case_tools)
        return agreed if _is_silent(outcome) else (outcome, *agreed)

    def _agreed(self, group: _Group, case: TestCase, case_tools: CaseTools) -> list[RunResult]:
        """Return the results of a whole group that get their agreement."""
        earlier, answered = self._earlier.get(group, ()), self._answered.pop(group)
        shares = _shares([*(item.answer for item in earlier), *(item.answer for item in answered if item.answer)])
        self.again += [
            _judged_again(item, share) for item, share in zip(earlier, shares, strict=False) if _agrees(item.answer)
        ]
        new = zip(answered, shares[len(earlier) :], strict=True)
        return [_with_share(item, share, case, case_tools) for item, share in new if _is_silent(item)]


def _group(run: PlannedRun) -> _Group:
    return (run.case_id, run.settings.asked)


def _is_silent(outcome: RunResult) -> bool:
    """Return True for a judged, readable answer without a confidence of its own."""
    return outcome.verdict is not None and outcome.answer is not None and _agrees(outcome.answer)


def _agrees(answer: Answer) -> bool:
    own = answer.confidence is not None and answer.confidence_source is not ConfidenceSource.AGREEMENT
    return answer.calls is not None and not own


def _shares(answers: Sequence[Answer]) -> list[float]:
    picked = [canonical(choice(answer)) for answer in answers]
    counts = Counter(picked)
    return [counts[calls] / len(picked) for calls in picked]


def _judged_again(run: AnsweredRun, share: float) -> Judgement:
    """Return the verdict on an earlier run with its new agreement; by the expectation that it was judged by."""
    tools = run.snapshot.tools
    return Judgement(
        run_id=run.id,
        verdict=judge(run.expectation, [offered.tool for offered in tools], run.answer.calls, share),
        expectation=run.expectation,
        expected_rank=rank_of_expected(run.expectation, run.answer.ranking, tools),
        past=None,
        agreement=share,
    )


def _with_share(outcome: RunResult, share: float, case: TestCase, case_tools: CaseTools) -> RunResult:
    if outcome.answer is None:
        return outcome
    answer = replace(outcome.answer, confidence=share, confidence_source=ConfidenceSource.AGREEMENT)
    return replace(outcome, answer=answer, verdict=judge(case.draft.expectation, case_tools.tools, answer.calls, share))
