"""Undo and redo: one history for the whole window, worked off one step at a time."""

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

MOST: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class UndoStep:
    """An action that can be undone. `name` is in a verb ("remove files"); `again` redoes it."""

    name: str
    back: Callable[[], object]
    again: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """A step being undone or redone; `place` is its index in the history, `shows_message` is False for a silent one."""

    step: UndoStep
    back: bool
    place: int
    shows_message: bool = True

    async def run(self) -> None:
        """Run the step, whether it is plain or async."""
        result = self.step.back() if self.back else self.step.again and self.step.again()
        if inspect.isawaitable(result):
            await result


class UndoHistory:
    """Steps that can be undone, the last one last, and steps that can be redone.

    A request moves its step as soon as it starts, so that the next one is known at once; after a failure, `roll_back`
    moves it back.
    """

    def __init__(self) -> None:
        self._done: list[UndoStep] = []
        self._taken_back: list[UndoStep] = []

    def add(self, step: UndoStep, *, fresh: bool = True) -> None:
        """Add a step; a `fresh` one clears the steps that could be redone."""
        self._done = [*self._done[1 - MOST :], step]
        if fresh:
            self._taken_back = []

    def forget(self, step: UndoStep) -> None:
        """Remove a step from both lists."""
        self._done = [known for known in self._done if known is not step]
        self._taken_back = [known for known in self._taken_back if known is not step]

    def last(self) -> UndoStep | None:
        """Return the step that undo would reverse now."""
        return self._done[-1] if self._done else None

    def following(self) -> UndoStep | None:
        """Return the step that redo would repeat now."""
        return self._taken_back[-1] if self._taken_back else None

    def back(self, step: UndoStep, *, aloud: bool = True) -> UndoRequest | None:
        """Start undoing a step; None if it was undone before."""
        if step not in self._done:
            return None
        turn = UndoRequest(step, back=True, place=self._done.index(step), shows_message=aloud)
        self._done.remove(step)
        if step.again is not None:
            self._taken_back.append(step)
        return turn

    def again(self) -> UndoRequest | None:
        """Start redoing the step that was undone last."""
        if not self._taken_back:
            return None
        step = self._taken_back.pop()
        self._done.append(step)
        return UndoRequest(step, back=False, place=len(self._taken_back))

    def roll_back(self, turn: UndoRequest) -> None:
        """Restore the step of a failed request at its place, unless a newer step was added since."""
        newest = self.last() is turn.step
        self.forget(turn.step)
        if turn.back:
            self._done.insert(turn.place, turn.step)
        elif newest:
            self._taken_back.insert(turn.place, turn.step)


class UndoQueue:
    """Runs requests in order, each after the one before has ended.

    `ended` receives each request with its error, if any; after an error, the requests behind it are dropped. `taking`
    is the task that runs them.
    """

    def __init__(
        self,
        undos: UndoHistory,
        spawn: "Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]",
        ended: Callable[[UndoRequest, BaseException | None], object],
    ) -> None:
        self._undos = undos
        self._spawn = spawn
        self._ended = ended
        self._waiting: deque[UndoRequest] = deque()
        self.task: asyncio.Task[None] | None = None

    def add(self, turn: UndoRequest | None) -> None:
        """Run this request after those that wait."""
        if turn is None:
            return
        self._waiting.append(turn)
        if self.task is None or self.task.done():
            self.task = self._spawn(self._take_all())

    async def idle(self) -> None:
        """Wait until no request is running."""
        if self.task is not None:
            await asyncio.wait({self.task})

    async def _take_all(self) -> None:
        while self._waiting:
            turn = self._waiting[0]
            (error,) = await asyncio.gather(turn.run(), return_exceptions=True)
            if error is not None:
                self._roll_back_waiting()
            else:
                self._waiting.popleft()
            self._ended(turn, error)

    def _roll_back_waiting(self) -> None:
        while self._waiting:
            self._undos.roll_back(self._waiting.pop())
