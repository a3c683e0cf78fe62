"""By step of a journey: how long the window's thread worked without a pause, and how late it came.

A timer of 1 ms on the window's thread tells how late it comes, and how long the thread itself computed meanwhile: its
own work, which no load of the machine changes. What the journey's own hands and eyes take is left out, what a key does
at once is not. Limit: no own work of 50 ms or more in any step after the start.
"""

import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.gc_policy import GarbageCollection
from app.theme import ThemeMode, theme
from tests.support.keyboard_user import CTRL, PLAIN, Keyboard, at_the_window

WORST_MS = 50.0


class Watch(QObject):
    """By step, the longest own work of the window's thread and the most that a timer of 1 ms came late, in ms."""

    def __init__(self) -> None:
        super().__init__()
        self.step = "start"
        self.worst: dict[str, tuple[float, float]] = {}
        self.left_out = 0.0
        self._last = (0.0, 0.0, 0.0)
        self._timer = QTimer(self, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def stop(self) -> None:
        """Note no more."""
        self._timer.stop()

    def note(self, own: float, late: float) -> None:
        """One stretch of work."""
        before = self.worst.get(self.step, (0.0, 0.0))
        self.worst[self.step] = max(before[0], own * 1000), max(before[1], late * 1000)

    def _tick(self) -> None:
        now = (time.thread_time(), time.perf_counter(), self.left_out)
        own, late, aside = (one - last for one, last in zip(now, self._last, strict=True))
        if self._last[1]:
            self.note(own - aside, late - aside)
        self._last = now


class Hands:
    """Awaits a journey, and leaves out of the watch what its own steps take."""

    def __init__(self, watch: Watch, journey: Coroutine[Any, Any, None]) -> None:
        self._watch = watch
        self._journey = journey

    def __await__(self) -> Generator[Any, Any, None]:
        given: Any = None
        while True:
            start = time.thread_time()
            try:
                wanted = self._journey.send(given)
            except StopIteration:
                return
            finally:
                self._watch.left_out += time.thread_time() - start
            given = yield wanted


class WatchedKeyboard(Keyboard):
    """Tells the watch what it does, and what a key takes at once."""

    watch: Watch

    def press(self, key: Qt.Key, how: Qt.KeyboardModifier = PLAIN, times: int = 1) -> None:
        for _ in range(times):
            self._do(partial(super().press, key, how))

    def type(self, text: str) -> None:
        self._do(partial(super().press, Qt.Key.Key_A, CTRL))
        for letter in text:
            self._do(partial(QTest.keyClicks, self.focus(), letter))

    def _do(self, deed: Callable[[], object]) -> None:
        start = time.thread_time(), time.perf_counter()
        deed()
        self.watch.note(time.thread_time() - start[0], time.perf_counter() - start[1])

    async def see(self, text: str) -> None:
        self.watch.step = f"see “{text}”"
        await super().see(text)

    async def tab_to(self, name: str) -> Any:
        self.watch.step = f"tab to “{name}”"
        return await super().tab_to(name)

    async def come_to(self, place: str) -> None:
        self.watch.step = f"come to {place}"
        await super().come_to(place)

    async def choose(self, name: str) -> None:
        self.watch.step = f"choose “{name}”"
        await super().choose(name)


async def watched(watch: Watch, workspace: Path, journey: Callable[[Keyboard], Coroutine[Any, Any, None]]) -> None:
    """Go through a journey, watched from the moment that the window is open."""
    async with at_the_window(workspace) as user:
        keyboard = WatchedKeyboard(user.bench)
        keyboard.watch = watch
        await Hands(watch, journey(keyboard))
        watch.step = "closing"


def go_through(work: Awaitable[None]) -> None:
    """Run on a loop that serves Qt."""
    with QEventLoop(QApplication.instance()) as loop:
        loop.run_until_complete(work)


def prepared(home: Path) -> QApplication:
    """The application as it starts, at home in a folder of its own."""
    os.environ.update(dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"), str(home)))
    running = QApplication(["benchmark"])
    running.setQuitOnLastWindowClosed(False)
    theme().install(ThemeMode.LIGHT, application_wide=False)
    garbage_collection = GarbageCollection()
    garbage_collection.setParent(running)
    garbage_collection.start()
    return running


def told(seen: dict[str, Watch]) -> float:
    """Print a table; the most own work after the start."""
    worst = 0.0
    for name, watch in seen.items():
        print(f"{name:<44} own work   late, in ms")
        for step, (own, late) in watch.worst.items():
            print(f"  {step:<42} {own:8.0f} {late:6.0f}{'  TOO LONG' * (step != 'start' and own >= WORST_MS)}")
            worst = max(worst, 0.0 if step == "start" else own)
    print(f"most own work after the start: {worst:.0f} ms, limit {WORST_MS:.0f} ms")
    return worst
