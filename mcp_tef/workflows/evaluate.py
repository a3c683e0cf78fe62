"""One run: ask the selector, retry, judge the answer, and derive confidence from repeats."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from mcp_tef.errors import ModelError, TefError
from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.runs import FailureInfo, PlannedRun, RunResult, RunStatus
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import CaseTools, Question, Selector, Selectors
from mcp_tef.scoring.judge import judge
from mcp_tef.statistics.metrics import rank_of_expected

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


class SelectorExecutor:
    """Executes runs by asking the selector of their model once, with retries; satisfies `RunExecutor`."""

    def __init__(self, selectors: Selectors, sleep: Sleep = asyncio.sleep) -> None:
        self._selectors = selectors
        self._sleep = sleep

    async def execute(self, run: PlannedRun, case: TestCase, tools: CaseTools, key: Secret | None) -> RunResult:
        """Return the result of one run; a provider's error becomes a failed result, never an exception."""
        selector = self._selectors.selector_for(run.settings)
        question = Question(case.draft.query, tools.offered, run.settings, key)
        try:
            await selector.prepare(question)
            asked = await _ask(selector, question, self._sleep)
        except TefError as error:
            return failed(run, error, tools)
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


def failed(run: PlannedRun, error: TefError, kit: CaseTools | None = None) -> RunResult:
    """Return the outcome of a run that a server, a provider or bad input kept from an answer."""
    return RunResult(
        run_id=run.id,
        status=RunStatus.FAILED,
        snapshot_id=kit.snapshot_id if kit else None,
        failure=FailureInfo(error.code, error.message, error.hint),
    )


_Group = tuple[str, str]
_Choice = tuple[tuple[str, str], ...]


def choice(answer: Answer) -> _Choice:
    """Return the tools that an answer selected, in no order."""
    return tuple(sorted((call.server or "", call.tool) for call in answer.calls or ()))


class RepeatConfidence:
    """Waits for all repeats of a case and model, then gives those without a confidence their agreement (0–1)."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self._left = Counter(_group(run) for run in runs)
        self._silent: defaultdict[_Group, list[RunResult]] = defaultdict(list)

    def settle(self, run: PlannedRun, case: TestCase, kit: CaseTools, outcome: RunResult) -> Sequence[RunResult]:
        """Return the results to store now: this one, and with the last repeat all that waited for it."""
        group = _group(run)
        self._left[group] -= 1
        silent = self._silent[group]
        is_silent = outcome.answer is not None and outcome.answer.confidence is None
        if is_silent:
            silent.append(outcome)
        if self._left[group] or len(silent) < 2:
            return (outcome,)
        agreed = [_with_share(item, share, case, kit) for item, share in _shares(silent)]
        return agreed if is_silent else (outcome, *agreed)


def _group(run: PlannedRun) -> _Group:
    return (run.case_id, run.settings.label)


def _shares(outcomes: Sequence[RunResult]) -> list[tuple[RunResult, float]]:
    picked = [(outcome, choice(outcome.answer)) for outcome in outcomes if outcome.answer]
    counts = Counter(tools for _, tools in picked)
    return [(outcome, counts[tools] / len(picked)) for outcome, tools in picked]


def _with_share(outcome: RunResult, share: float, case: TestCase, kit: CaseTools) -> RunResult:
    if outcome.answer is None:
        return outcome
    answer = replace(outcome.answer, confidence=share, confidence_source=ConfidenceSource.AGREEMENT)
    return replace(outcome, answer=answer, verdict=judge(case.draft.expectation, kit.tools, answer.calls, share))
