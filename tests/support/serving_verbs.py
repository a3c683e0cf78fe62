"""Verbs that serve until they are stopped, in this process."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp_tef.cli.main import parser
from mcp_tef.cli.terminal import Terminal

PATIENCE_SECONDS = 60.0


class FirstLine(io.StringIO):
    """Standard error, whose first line is awaited."""

    def __init__(self) -> None:
        super().__init__()
        self.told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def write(self, text: str) -> int:
        """Keep a text."""
        written = super().write(text)
        if "\n" in self.getvalue() and not self.told.done():
            self.told.set_result(self.getvalue().splitlines()[0])
        return written


@asynccontextmanager
async def serving(*words: str | Path) -> AsyncIterator[str]:
    """Serve as these words of a command say; the address is what standard error tells first."""
    given, errors = parser().parse_args([str(word) for word in words]), FirstLine()
    task = asyncio.create_task(given.command(given, Terminal(errors=errors)))
    try:
        yield await asyncio.wait_for(errors.told, PATIENCE_SECONDS)
    finally:
        task.cancel()
        await asyncio.wait({task})
