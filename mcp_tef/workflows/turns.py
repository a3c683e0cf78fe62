"""Whose turn it is: one batch after the other, as they came."""

import asyncio

from mcp_tef.model.ids import BatchId


class Turns:
    """A queue of batches. The first goes when none is under way, and any of them when it is let go beside."""

    def __init__(self) -> None:
        self._going: set[BatchId] = set()
        self._waiting: dict[BatchId, asyncio.Event] = {}

    def join(self, batch_id: BatchId) -> asyncio.Event:
        """Stand at the end of the queue; what comes back is set when the turn has come."""
        turn = self._waiting[batch_id] = asyncio.Event()
        self._call_next()
        return turn

    def go(self, batch_id: BatchId) -> None:
        """It is the turn of this one, whatever is under way; nothing where it does not wait."""
        if batch_id in self._waiting:
            self._going.add(batch_id)
            self._waiting.pop(batch_id).set()

    def leave(self, batch_id: BatchId) -> None:
        """It has ended."""
        self._going.discard(batch_id)
        self._waiting.pop(batch_id, None)
        self._call_next()

    def waiting(self) -> tuple[BatchId, ...]:
        """Those whose turn has not come, the next one first."""
        return tuple(self._waiting)

    def _call_next(self) -> None:
        if not self._going and self._waiting:
            self.go(next(iter(self._waiting)))
