"""Batches followed to their end by front ends that wait for them, with progress and clean cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from mcp_tef.events import BatchProgressed, Event

if TYPE_CHECKING:
    from mcp_tef.engine import Engine
    from mcp_tef.model.runs import Batch


async def batch_to_its_end(
    engine: Engine, start: Awaitable[Batch], heard: Callable[[BatchProgressed], object] | None = None
) -> Batch:
    """Start a batch and return it once it has ended; `heard` gets its progress.

    If the caller is cancelled, the batch is cancelled as well: finished runs are kept, and no further call is made.
    """
    starting = asyncio.ensure_future(start)

    def hear(event: Event) -> None:
        if heard is None or not isinstance(event, BatchProgressed) or not starting.done():
            return
        if event.batch.id == starting.result().id:
            heard(event)

    stop = engine.subscribe(hear)
    try:
        batch = await asyncio.shield(starting)
        return await engine.runs.wait(batch.id)
    except asyncio.CancelledError:
        batch = await starting
        if batch.id in engine.runs.active():
            await engine.runs.cancel(batch.id)
        raise
    finally:
        stop()
