"""Tasks that run beside the window until they end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from PySide6.QtCore import QObject

T = TypeVar("T")


class BackgroundTasks:
    """Holds tasks until they have ended; `failed` receives errors that nobody caught."""

    def __init__(self, failed: Callable[[BaseException], object]) -> None:
        self._failed = failed
        self._running: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T], of: QObject | None = None) -> "asyncio.Task[T]":
        """Start a task; with `of` a dialog, it is cancelled when the dialog is destroyed."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        if of is not None:
            of.destroyed.connect(lambda: task.cancel())
        return task

    async def begun(self) -> None:
        """Wait until every task that was started so far has ended, except the caller's."""
        if tasks := self._running - {asyncio.current_task()}:
            await asyncio.wait(tasks)

    async def end(self) -> None:
        """Cancel every task but the caller's, and wait until all have ended."""
        for task in self._running - {asyncio.current_task()}:
            task.cancel()
        await self.begun()

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failed(error)
