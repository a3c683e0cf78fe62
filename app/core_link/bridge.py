"""Where the window's thread and the core's meet, and nowhere else."""

import asyncio
import contextlib
import gc
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from app.core_link.gc_policy import GarbageCollectionPolicy
from mcp_tef import Event, StoreError, TefError

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
FRAME_MS = 16
ROUND_MS = 60_000
TIDY_MS = 100
FULL_EVERY = 100
LOG = logging.getLogger("app.core_link.bridge")


class Addresses(QObject):
    """Takes addresses that the core wants opened from its thread to the window's: `wanted.emit` is what it is given."""

    wanted = Signal(str)


class Bridge(QObject):
    """Runs the core on a thread of its own.

    `events` gives tuples of events in order, one batch every 16 ms at most, on the window's thread.
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
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self._deliver)
        self._calm = GarbageCollectionPolicy()
        self._tidying = QTimer(self, interval=ROUND_MS)
        self._tidying.timeout.connect(lambda: self._calm.tidy(looked_at=_looked_at()))
        self._something_waits.connect(self._on_waiting, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Open the core; calls made meanwhile wait for it."""
        self._calm.begin()
        self._tidying.start()
        self._thread.start()

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """Await something of the core; its errors come out here, a cancel goes in."""
        loop, core = await self._opened()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(do, core), loop))

    async def value(self, do: "Callable[[Engine], T]") -> T:
        """The same for what the core answers at once."""
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
        unsubscribe = core.subscribe(self._take)
        self._ready.set_result(core)
        if not self._stop_asked.is_set():
            await self._stop.wait()
        unsubscribe()
        await core.close()

    def _take(self, event: Event) -> None:
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
            self._calm.settle()
            self.events.emit(batch)


class Tidy(QObject):
    """Collects Python's garbage on the window's thread alone: a Qt object must not die on another."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ticks = 0
        self._timer = QTimer(self, interval=TIDY_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """From now on nothing is collected but here."""
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Collect as ever again."""
        self._timer.stop()
        gc.enable()

    def _tick(self) -> None:
        self._ticks += 1
        young, middle, old = gc.get_count()
        if old > 10 and self._ticks > FULL_EVERY:
            self._ticks = 0
            gc.collect(2)
        elif middle > 10:
            gc.collect(1)
        elif young > 700:
            gc.collect(0)


async def _valued(do: "Callable[[Engine], T]", core: "Engine") -> T:
    return do(core)


def _fail(future: "Future[Engine]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


def _soon(loop: asyncio.AbstractEventLoop, do: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has just closed by itself
        loop.call_soon_threadsafe(do)


async def _awaited(do: "Callable[[Engine], Awaitable[T]]", core: "Engine") -> T:
    return await do(core)


def _looked_at() -> bool:
    return QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive
