"""What can be taken back, and done again: one line of steps for the whole window, and one turn after the other."""

import asyncio
import inspect
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

MOST: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class UndoStep:
    """One thing that was done. `deed` names it in a verb ("remove files"); `again` does it once more, where it can."""

    deed: str
    back: Callable[[], object]
    again: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """A step that is being taken back, or done again; `place` is where it stood, `aloud` whether its end is told."""

    step: UndoStep
    back: bool
    place: int
    aloud: bool = True

    async def take(self) -> None:
        """Do it, whether it is plain or async."""
        result = self.step.back() if self.back else self.step.again and self.step.again()
        if inspect.isawaitable(result):
            await result


class UndoHistory:
    """The steps that can be taken back, the last one last, and those that were, to be done again.

    A turn counts as done once it is begun, so that the next one is known at once; `mend` says that it was not.
    """

    def __init__(self) -> None:
        self._done: list[UndoStep] = []
        self._taken_back: list[UndoStep] = []

    def add(self, step: UndoStep, *, fresh: bool = True) -> None:
        """Something was done: what was taken back before cannot be done again after it, where it is a fresh deed."""
        self._done = [*self._done[1 - MOST :], step]
        if fresh:
            self._taken_back = []

    def forget(self, step: UndoStep) -> None:
        """There is nothing to take back any more, nor to do again."""
        self._done = [known for known in self._done if known is not step]
        self._taken_back = [known for known in self._taken_back if known is not step]

    def last(self) -> UndoStep | None:
        """What would be taken back now."""
        return self._done[-1] if self._done else None

    def following(self) -> UndoStep | None:
        """What would be done again now."""
        return self._taken_back[-1] if self._taken_back else None

    def back(self, step: UndoStep, *, aloud: bool = True) -> UndoRequest | None:
        """Begin to take back one step; None where it was taken back before."""
        if step not in self._done:
            return None
        turn = UndoRequest(step, back=True, place=self._done.index(step), aloud=aloud)
        self._done.remove(step)
        if step.again is not None:
            self._taken_back.append(step)
        return turn

    def again(self) -> UndoRequest | None:
        """Begin to do again what was taken back last."""
        if not self._taken_back:
            return None
        step = self._taken_back.pop()
        self._done.append(step)
        return UndoRequest(step, back=False, place=len(self._taken_back))

    def mend(self, turn: UndoRequest) -> None:
        """A turn was not done: its step stands where it stood, unless something else was done since."""
        newest = self.last() is turn.step
        self.forget(turn.step)
        if turn.back:
            self._done.insert(turn.place, turn.step)
        elif newest:
            self._taken_back.insert(turn.place, turn.step)


class UndoQueue:
    """Takes turns in the order in which they were wanted, each once the one before has ended.

    `ended` is told of each, with the error that kept it from being done; those that waited behind it are not taken.
    `taking` is the work on them.
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
        self.taking: asyncio.Task[None] | None = None

    def add(self, turn: UndoRequest | None) -> None:
        """Take this one after those that wait."""
        if turn is None:
            return
        self._waiting.append(turn)
        if self.taking is None or self.taking.done():
            self.taking = self._spawn(self._take_all())

    async def idle(self) -> None:
        """Wait until none is under way."""
        if self.taking is not None:
            await asyncio.wait({self.taking})

    async def _take_all(self) -> None:
        while self._waiting:
            turn = self._waiting[0]
            (error,) = await asyncio.gather(turn.take(), return_exceptions=True)
            if error is not None:
                self._give_up()
            else:
                self._waiting.popleft()
            self._ended(turn, error)

    def _give_up(self) -> None:
        while self._waiting:
            self._undos.mend(self._waiting.pop())
