"""Operations on batches: start, follow by server-sent events, cancel."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchPaused,
    BatchProgressed,
    ConflictError,
    Engine,
    Event,
    RunEnded,
    batch_to_json,
    run_to_json,
)
from mcp_tef.rest.parameters import EngineOf, KeyHeader, Limit, Offset, keys_of, page_of
from mcp_tef.rest.run_schemas import BatchAnswer, BatchCreate
from mcp_tef.rest.schemas import AnswerPage

HEARTBEAT_SECONDS: Final = 15.0
MOST_WAITING: Final = 1_000
"""Events that wait for a slow reader; further ones are left out, the end never."""
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
    found = page_of(await engine.runs.batches(), limit, offset)
    return AnswerPage(items=[_answer(one) for one in found.items], total=found.total, offset=offset, limit=limit)


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
