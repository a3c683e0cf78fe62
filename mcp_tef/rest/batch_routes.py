"""Operations on batches (start, follow by server-sent events, cancel, compare), on runs, and on metrics."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from mcp_tef import (
    LARGEST_PAGE,
    Batch,
    BatchEnded,
    BatchId,
    BatchPaused,
    BatchProgressed,
    CaseId,
    ConflictError,
    Engine,
    Event,
    InputError,
    RunEnded,
    RunFilter,
    RunId,
    RunStatus,
    batch_to_json,
    comparison_to_json,
    page_within,
    run_detail_to_json,
    run_to_json,
)
from mcp_tef.rest.parameters import EngineOf, KeyHeader, Limit, Offset, json_size, keys_of, page_of
from mcp_tef.rest.run_schemas import (
    BatchAnswer,
    BatchCreate,
    MetricsAnswer,
    ResultAnswer,
    RunAnswer,
    metrics_answer,
    result_answer,
    run_answer,
)
from mcp_tef.rest.schemas import AnswerPage

HEARTBEAT_SECONDS: Final = 15.0
MOST_WAITING: Final = 1_000
"""Events that wait for a slow reader; further ones are left out, the end never."""
_READ_AT_ONCE: Final = 50
router = APIRouter(prefix="/batches", tags=["batches"])


def _answer(batch: Batch) -> BatchAnswer:
    return BatchAnswer.model_validate(batch_to_json(batch))


@router.post("", status_code=202)
async def start_batch(engine: EngineOf, body: BatchCreate, key: KeyHeader = None) -> BatchAnswer:
    """Start a batch, or line it up behind those under way; `/batches/{id}/events` tells its progress."""
    request = body.request()
    return _answer(await engine.runs.start(request, keys_of(engine, key, request.models)))


@router.get("")
async def list_batches(engine: EngineOf, limit: Limit = 50, offset: Offset = 0) -> AnswerPage[BatchAnswer]:
    """List batches, newest first."""
    return page_of(await engine.runs.batches(), limit, offset, _answer)


@router.get("/{batch_id}")
async def get_batch(engine: EngineOf, batch_id: str) -> BatchAnswer:
    """Return a batch with its counts."""
    return _answer(await engine.runs.batch(BatchId(batch_id)))


@router.post("/{batch_id}/cancel")
async def cancel_batch(engine: EngineOf, batch_id: str) -> BatchAnswer:
    """Cancel a batch that is running or waits; finished runs are kept."""
    batch = await engine.runs.batch(BatchId(batch_id))
    if batch.id not in engine.runs.active():
        raise ConflictError(f"The batch is {batch.status} and cannot be cancelled.", hint="Only a running one can be.")
    await engine.runs.cancel(batch.id)
    return _answer(await engine.runs.batch(batch.id))


@router.get(
    "/{batch_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def follow_batch(engine: EngineOf, batch_id: str) -> StreamingResponse:
    """Follow a batch: events `run`, `progress` and `paused`, then one `end` with the batch."""
    batch = await engine.runs.batch(BatchId(batch_id))
    return StreamingResponse(_events(engine, batch.id), media_type="text/event-stream")


async def _events(engine: Engine, batch_id: BatchId) -> AsyncIterator[str]:
    progress = _Progress(batch_id)
    stop = engine.subscribe(progress.hear)
    try:
        if batch_id not in engine.runs.active():
            progress.ended = True
        while texts := await progress.next():
            yield texts
        yield _event("end", batch_to_json(await engine.runs.batch(batch_id)))
    finally:
        stop()


class _Progress:
    """Collects the events of a batch, for a reader that takes all that have come at once."""

    def __init__(self, batch_id: BatchId) -> None:
        self._batch_id = batch_id
        self._texts: list[str] = []
        self._news = asyncio.Event()
        self.ended = False

    def hear(self, event: Event) -> None:
        """Note an event of the batch."""
        if isinstance(event, BatchEnded) and event.batch.id == self._batch_id:
            self.ended = True
        elif len(self._texts) < MOST_WAITING and (text := _event_text(event, self._batch_id)):
            self._texts.append(text)
        else:
            return
        self._news.set()

    async def next(self) -> str:
        """Return what has come, or a comment that keeps the connection open; "" where the batch has ended."""
        if not (self._texts or self.ended):
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                return ":\n\n"
        self._news.clear()
        texts = "".join(self._texts)
        self._texts.clear()
        return texts


def _event_text(event: Event, batch_id: BatchId) -> str:
    match event:
        case RunEnded(run) if run.batch_id == batch_id:
            return _event("run", run_to_json(run))
        case BatchProgressed(batch=batch) if batch.id == batch_id:
            counts = {"done": event.done, "total": batch.total, "tokens": event.tokens, "cost_usd": event.cost_usd}
            return _event("progress", counts | {"seconds_left": event.seconds_left})
        case BatchPaused(batch, reason) if batch.id == batch_id:
            return _event("paused", {"reason": reason})
    return ""


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


FIRST_YEAR: Final = 1971
LAST_YEAR: Final = 9998

run_router = APIRouter(tags=["test-runs"])


@run_router.get("/test-runs")
async def list_runs(
    engine: EngineOf,
    test_case_id: str | None = None,
    batch_id: str | None = None,
    status: RunStatus | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> AnswerPage[RunAnswer]:
    """List runs, newest batch first."""
    where = RunFilter(
        case_id=CaseId(test_case_id) if test_case_id is not None else None,
        batch_id=BatchId(batch_id) if batch_id is not None else None,
        statuses=(status,) if status else (),
    )
    total = await engine.runs.count(where)
    items: list[RunAnswer] = []
    left = LARGEST_PAGE
    for start in range(0, min(limit, max(total - offset, 0)), _READ_AT_ONCE):
        read = min(_READ_AT_ONCE, limit - start)
        runs = await engine.runs.list(where, limit=read, offset=offset + start)
        fitting, left = page_within(map(run_answer, runs), json_size, left)
        items += fitting
        if left < 0:
            break
    return AnswerPage(items=items, total=total, offset=offset, limit=limit)


@run_router.get("/test-runs/{test_run_id}")
async def get_run(engine: EngineOf, test_run_id: str) -> RunAnswer:
    """Return a run with the settings of its model, never the key."""
    detail = await engine.runs.detail(RunId(test_run_id))
    return run_answer(detail.summary, detail)


@run_router.get("/test-runs/{test_run_id}/result")
async def get_result(engine: EngineOf, test_run_id: str) -> ResultAnswer:
    """Return the evaluation of a run that has ended with a verdict."""
    detail = await engine.runs.detail(RunId(test_run_id))
    if detail.verdict is None:
        hint = "GET /test-runs/{id} says why."
        raise ConflictError(f"The run is {detail.summary.status} and has no verdict.", hint=hint, code="no_verdict")
    return result_answer(detail.summary, detail.verdict)


@run_router.get("/test-runs/{test_run_id}/detail")
async def get_run_detail(engine: EngineOf, test_run_id: str) -> dict[str, Any]:
    """Return everything that was kept of a run, as `mcp-tef runs show --json` has it."""
    detail = await engine.runs.detail(RunId(test_run_id))
    shape: dict[str, Any] = run_detail_to_json(detail, {})
    return shape


@run_router.get("/metrics/summary", tags=["metrics"])
async def get_metrics(
    engine: EngineOf,
    test_case_ids: Annotated[str | None, Query(description="ids, separated by commas", max_length=500_000)] = None,
    batch_id: str | None = None,
    model: str | None = None,
    from_date: datetime | None = None,
    to_date: datetime | None = None,
) -> MetricsAnswer:
    """Return the metrics of all judged runs, or of those that pass the filter."""
    where = RunFilter(
        case_ids=tuple(CaseId(one.strip()) for one in (test_case_ids or "").split(",") if one.strip()),
        batch_id=BatchId(batch_id) if batch_id is not None else None,
        model=model,
        since=_aware(from_date),
        until=_aware(to_date),
    )
    return metrics_answer(await engine.metrics.summary(where))


def _aware(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC; one without a time zone is in the machine's own. InputError for other years."""
    if moment is None:
        return None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InputError(f"The year {moment.year} is out of bounds.", hint=f"Use {FIRST_YEAR} to {LAST_YEAR}.")
    return moment.astimezone(UTC)


@run_router.get("/compare", tags=["batches"])
async def compare_batches(
    engine: EngineOf, before: str, after: str, must_hold: Annotated[list[str] | None, Query()] = None
) -> dict[str, Any]:
    """Compare two batches, as `mcp-tef compare --json` does; `must_hold` are ids of cases."""
    held = [(await engine.cases.get(CaseId(one))).id for one in must_hold or ()]
    ids = [(await engine.runs.batch(BatchId(one))).id for one in (before, after)]
    return comparison_to_json(await engine.compare.batches(ids[0], ids[1], held))
