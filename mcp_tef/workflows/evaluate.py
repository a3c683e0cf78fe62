"""One run: ask the selector, try again where that may help, judge the answer."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mcp_tef.errors import ModelError, TefError
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import TestCase
from mcp_tef.model.runs import Failure, Outcome, PlannedRun, RunStatus
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import Question, Selector
from mcp_tef.scoring.judge import judge
from mcp_tef.scoring.retrieval import rank_of_expected
from mcp_tef.workflows.ingest import Kit

FIRST_BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 60.0

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: Answer
    seconds: float
    attempts: int


def backoff(attempt: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what the provider asked for, else doubling with jitter of a half."""
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


async def evaluate(
    run: PlannedRun, case: TestCase, kit: Kit, selector: Selector, key: Secret | None, sleep: Sleep = asyncio.sleep
) -> Outcome:
    """The outcome of one run; a provider's error becomes a failed outcome, never an exception."""
    question = Question(case.draft.query, kit.offered, run.settings, key)
    try:
        await selector.prepare(question)
        asked = await _ask(selector, question, sleep)
    except TefError as error:
        return failed(run, error, kit)
    expectation = case.draft.expectation
    return Outcome(
        run_id=run.id,
        status=RunStatus.COMPLETED,
        snapshot_id=kit.snapshot_id,
        answer=asked.answer,
        verdict=judge(expectation, kit.tools, asked.answer.calls, asked.answer.confidence),
        execution_time_ms=max(1, round(asked.seconds * 1000)),
        expected_rank=rank_of_expected(expectation, asked.answer.ranking, kit.offered),
        attempts=asked.attempts,
    )


def failed(run: PlannedRun, error: TefError, kit: Kit | None = None) -> Outcome:
    """The outcome of a run that a server, a provider or bad input kept from an answer."""
    return Outcome(
        run_id=run.id,
        status=RunStatus.FAILED,
        snapshot_id=kit.snapshot_id if kit else None,
        failure=Failure(error.code, error.message, error.hint),
    )
