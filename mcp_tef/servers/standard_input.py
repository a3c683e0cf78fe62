"""Lines of standard input, awaited: a wait for the next one ends at once when the command is told to stop."""

import asyncio
import os
from contextlib import suppress
from threading import Thread

_STDIN = 0


class StandardInput:
    """Iterates over the lines of standard input until its end; a missing one ends like an empty one.

    They are read on a thread, since not everything that can be standard input has events. Nobody waits for the thread,
    which ends with the process: a client may hold its end open for ever. The file is one of its own: Python could not
    end while another thread reads from `sys.stdin`. Programs that are started meanwhile inherit an empty input.
    """

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        reading = (asyncio.get_running_loop(), _taken())
        Thread(target=self._read, args=reading, name="standard input", daemon=True).start()

    def __aiter__(self) -> "StandardInput":
        return self

    async def __anext__(self) -> bytes:
        if line := await self._lines.get():
            return line
        raise StopAsyncIteration

    def _read(self, loop: asyncio.AbstractEventLoop, descriptor: int | None) -> None:
        with suppress(RuntimeError):  # the loop is closed
            if descriptor is not None:
                with suppress(OSError), os.fdopen(descriptor, "rb") as file:
                    while line := file.readline():
                        loop.call_soon_threadsafe(self._lines.put_nowait, line)
            loop.call_soon_threadsafe(self._lines.put_nowait, b"")


def _taken() -> int | None:
    """Return standard input as a descriptor of its own, with the null device in its place; None where there is none."""
    try:
        descriptor = os.dup(_STDIN)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, _STDIN)
        os.close(null)
    except OSError:
        return None
    return descriptor
