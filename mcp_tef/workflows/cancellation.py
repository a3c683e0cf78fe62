"""Cancellation of all-or-nothing work."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from mcp_tef.model.cancellation import CancellableWork, StoppedError

T = TypeVar("T")


async def to_its_end(work: CancellableWork, doing: Coroutine[Any, Any, T]) -> T:
    """What came of it. Who is cancelled meanwhile stops the work, and hears of it only once nothing of it is left.

    Where it was done before it could be stopped, it counts.
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
