"""Work in small steps of the event loop, so that keys and painting never wait for all of it.

Build more than about 20 widgets in steps: no turn of the window's thread may take 50 ms.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Final, TypeAlias, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

TURN_S: Final = 0.006
Item = TypeVar("Item")
IncrementalBuild: TypeAlias = Generator[None, None, Item]


async def yield_to_ui() -> None:
    """Let keys, layouts and painting have their turn before going on."""
    await asyncio.sleep(0)


def in_turns(items: Iterable[Item], do: Callable[[Item], object]) -> Iterator[None]:
    """Do something with each item, and yield whenever that took a turn."""
    began = time.thread_time()
    for item in items:
        do(item)
        if time.thread_time() - began >= TURN_S:
            yield
            began = time.thread_time()


def take_turns(owner: QObject, steps: Iterator[None]) -> None:
    """Go through steps, one a turn, as long as their owner lives."""
    timer = QTimer(owner, interval=0)

    def go_on() -> None:
        try:
            next(steps)
        except StopIteration:
            timer.stop()
            timer.deleteLater()

    timer.timeout.connect(go_on)
    timer.start()


def at_once(making: IncrementalBuild[Item]) -> Item:
    """Run an incremental build in one go and return its result."""
    while True:
        try:
            next(making)
        except StopIteration as end:
            made: Item = end.value
            return made


@asynccontextmanager
async def frozen_updates(part: QWidget) -> AsyncIterator[None]:
    """Paint nothing of a part before all of it is there and laid out."""
    part.setUpdatesEnabled(False)
    try:
        yield
        await yield_to_ui()
    finally:
        if isValid(part):
            part.setUpdatesEnabled(True)
