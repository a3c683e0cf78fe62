"""Asks a core, and holds questions back until a test lets them go, in whichever order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")


class HeldAsks:
    """`waiting` are the questions held back so far, oldest first; set one to have it asked."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.holding = False
        self.waiting: list[asyncio.Event] = []
        self._came = asyncio.Event()

    async def __call__(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """What the core answers, once the question is let go."""
        if self.holding:
            gate = asyncio.Event()
            self.waiting.append(gate)
            self._came.set()
            await gate.wait()
        return await do(self._engine)

    async def held(self, number: int) -> None:
        """Wait until so many questions are held back."""
        while len(self.waiting) < number:
            self._came.clear()
            await self._came.wait()
