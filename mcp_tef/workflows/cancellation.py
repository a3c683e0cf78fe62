"""Wait for all-or-nothing work so that a cancelled caller leaves nothing of it behind."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from mcp_tef.model.cancellation import CancellableWork, StoppedError

T = TypeVar("T")


async def to_its_end(work: CancellableWork, doing: Coroutine[Any, Any, T]) -> T:
    """Wait for the work and return its result; cancellation stops it and is raised once nothing of it is left.

    Work that was done before it could be stopped counts.
    """
    task, given_up = asyncio.ensure_future(doing), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            given_up = True
            work.stop()
    try:
        return task.result()
    except StoppedError:
        if given_up:
            raise asyncio.CancelledError from None
        raise
