"""A writer that writes what a test says."""

import asyncio
from collections.abc import Callable

from mcp_tef.errors import TefError
from mcp_tef.ports import WritingTask, Written

Writes = Callable[[WritingTask], Written | str | TefError]


class FakeWriter:
    """Writes as its script says, after `gate` opens; knows how many texts were being written at once."""

    def __init__(self, script: Writes) -> None:
        self.script = script
        self.tasks: list[WritingTask] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.under_way = 0
        self.most_under_way = 0
        self.closed = False
        self._begun = asyncio.Condition()

    async def until_under_way(self, count: int) -> None:
        """Wait until so many texts are being written at once."""
        async with self._begun:
            await self._begun.wait_for(lambda: self.under_way >= count)

    async def write(self, task: WritingTask) -> Written:
        """The scripted text."""
        self.tasks.append(task)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            async with self._begun:
                self._begun.notify_all()
            await self.gate.wait()
            reply = self.script(task)
        finally:
            self.under_way -= 1
        if isinstance(reply, TefError):
            raise reply
        return reply if isinstance(reply, Written) else Written(reply)

    async def close(self) -> None:
        """Nothing is held."""
        self.closed = True
