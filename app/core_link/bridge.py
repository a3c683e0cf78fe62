"""The only meeting point of the window's thread and the core's thread."""

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from mcp_tef import Event, StoreError, TefError

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
FRAME_MS = 16
MOST_SECONDS_TO_END = 10
"""How long calls may take to end when the core closes."""
LOG = logging.getLogger("app.core_link.bridge")


class Addresses(QObject):
    """A signal that carries addresses to open from the core's thread to the window's; the core calls `wanted.emit`."""

    wanted = Signal(str)


class Bridge(QObject):
    """Runs the core on a thread of its own.

    `events` carries tuples of events in order, at most one batch every 16 ms, on the window's thread.
    """

    events = Signal(tuple)
    _something_waits = Signal()

    def __init__(self, open_core: "Callable[[], Awaitable[Engine]]") -> None:
        super().__init__()
        self._open_core = open_core
        self._thread = threading.Thread(target=self._run, name="core", daemon=True)
        self._waiting: deque[Event] = deque()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: Future[Engine] = Future()
        self._ended: Future[None] = Future()
        self._stop: asyncio.Event | None = None
        self._stop_asked = threading.Event()
        self._calls: set[asyncio.Task[Any]] = set()
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self._deliver)
        self._something_waits.connect(self._on_waiting, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Open the core; calls made meanwhile wait for it."""
        self._thread.start()

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """Await a call of the core; its errors are raised here, and a cancel reaches it."""
        loop, core = await self._opened()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._awaited(do, core), loop))

    async def value(self, do: "Callable[[Engine], T]") -> T:
        """Return what the core answers without waiting, as computed on its thread."""
        loop, core = await self._opened()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_valued(do, core), loop))

    async def stop(self) -> None:
        """Close the core and wait for its thread."""
        if not self._thread.is_alive():
            return
        self._stop_asked.set()
        if self._loop is not None and self._stop is not None:
            _soon(self._loop, self._stop.set)
        await asyncio.wrap_future(self._ended)
        self._thread.join()

    async def _opened(self) -> "tuple[asyncio.AbstractEventLoop, Engine]":
        core = await asyncio.shield(asyncio.wrap_future(self._ready))
        if self._loop is None or self._loop.is_closed() or self._stop_asked.is_set():
            raise StoreError("The workspace is closed.", hint="Start mcp-tef again.")
        return self._loop, core

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except Exception:  # the thread's outermost frame
            LOG.exception("The core ended unexpectedly.")
            _fail(self._ready, StoreError("The core could not be started.", hint="The log says why."))
        finally:
            self._ended.set_result(None)

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        try:
            core = await self._open_core()
        except TefError as error:
            LOG.info("The workspace was not opened: %s", error)
            _fail(self._ready, error)
            return
        unsubscribe = core.subscribe(self._on_event)
        self._ready.set_result(core)
        if not self._stop_asked.is_set():
            await self._stop.wait()
        unsubscribe()
        await self._end_calls()
        await core.close()

    async def _awaited(self, do: "Callable[[Engine], Awaitable[T]]", core: "Engine") -> T:
        if task := asyncio.current_task():
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
        return await do(core)

    async def _end_calls(self) -> None:
        """Wait for calls to end, since what they clean up needs the core; a second cancel would cut that.

        Calls that do not end in time are left to the closing of the core.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(MOST_SECONDS_TO_END):
                while self._calls:
                    for call in self._calls:
                        if not call.cancelling():
                            call.cancel()
                    await asyncio.wait(tuple(self._calls))

    def _on_event(self, event: Event) -> None:
        with self._lock:
            self._waiting.append(event)
            first = len(self._waiting) == 1
        if first:
            self._something_waits.emit()

    def _on_waiting(self) -> None:
        if not self._frame.isActive():
            self._frame.start()

    def _deliver(self) -> None:
        with self._lock:
            batch = tuple(self._waiting)
            self._waiting.clear()
        if batch:
            self.events.emit(batch)


async def _valued(do: "Callable[[Engine], T]", core: "Engine") -> T:
    return do(core)


def _fail(future: "Future[Engine]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _soon(loop: asyncio.AbstractEventLoop, do: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has just closed by itself
        loop.call_soon_threadsafe(do)
