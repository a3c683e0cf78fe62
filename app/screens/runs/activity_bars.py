"""Bars at the foot of the window for batches that run and for judging again."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.screens.runs.batch_summaries import RUN_BESIDE
from app.screens.runs.labels import is_baseline, left
from app.text.formatting import money
from app.widgets import Activities, ActivityBar
from mcp_tef import Batch, BatchId, BatchProgressed, BatchStatus, RunsRejudged


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """`fraction` is 0–1; `lead` is the strong first part, `parts` stand after it."""

    fraction: float
    lead: str
    parts: tuple[str, ...]
    paused: bool
    can_pause: bool = True
    play: str = "Continue"


def activity(batch: Batch, progress: BatchProgressed | None, waits: str = "") -> Activity:
    """Done of total, failed, cost of the cap, time left; what is not known is left out. `waits`: why it does not go."""
    done = progress.done if progress else batch.judged + batch.count("failed") + batch.count("cancelled")
    paused = batch.status is BatchStatus.PAUSED
    parts = (
        batch.name,
        f"{batch.failed:,} failed" if batch.failed else "",
        _cost(batch, progress),
        waits or ("paused" if paused else _left(progress)),
    )
    return Activity(
        fraction=done / batch.total if batch.total else 1.0,
        lead=f"{done:,} of {batch.total:,}",
        parts=tuple(part for part in parts if part),
        paused=paused or bool(waits),
        play=RUN_BESIDE if waits else "Continue",
    )


def judging_activity(judging: RunsRejudged) -> Activity:
    """How many runs are judged again already."""
    return Activity(
        fraction=judging.done / max(judging.total, 1),
        lead=f"{judging.done:,} of {judging.total:,}",
        parts=("judged again",),
        paused=False,
        can_pause=False,
    )


def _cost(batch: Batch, progress: BatchProgressed | None) -> str:
    if all(is_baseline(label) for label in batch.models):
        return ""
    cost = progress.cost_usd if progress else batch.cost_usd
    if cost is None:
        return f"cost unknown, cap {money(batch.max_cost_usd)}" if batch.max_cost_usd is not None else ""
    return money(cost) if batch.max_cost_usd is None else f"{money(cost)} of {money(batch.max_cost_usd)}"


def _left(progress: BatchProgressed | None) -> str:
    if progress is None or progress.seconds_left is None:
        return ""
    return f"{left(progress.seconds_left)} left"


def farewell(batch: Batch, result: str, reason: str | None) -> str:
    """What is said when a batch has ended, wherever the user is then."""
    if reason:
        return f"{batch.name} stopped: {reason}"
    if batch.status is BatchStatus.CANCELLED:
        return f"{batch.name} was cancelled. What is finished is kept."
    failed = f", {batch.failed:,} failed" if batch.failed else ""
    return f"{batch.name}: {result}{failed}."


Works = Mapping[BatchId | None, Activity]


class Bars(QObject):
    """Bars by batch, None for the judging. `pressed` asks to pause a batch or to let it go on, `stopped` to end it."""

    pressed = Signal(object)
    stopped = Signal(object)

    def __init__(self, foot: Activities, parent: QObject) -> None:
        super().__init__(parent)
        self._foot = foot
        self._held: dict[BatchId | None, ActivityBar] = {}
        self._free: list[ActivityBar] = []

    def show_works(self, works: Works) -> None:
        """Show these; bars of what has ended go, and serve again."""
        for key in [key for key in self._held if key not in works]:
            bar = self._held.pop(key)
            bar.clear()
            self._free.append(bar)
        for key, now in works.items():
            bar = self.bar(key)
            bar.set_state(now.fraction, now.lead, now.parts, paused=now.paused, can_pause=now.can_pause, play=now.play)

    def bar(self, key: BatchId | None) -> ActivityBar:
        """The bar of a work."""
        if key not in self._held:
            self._held[key] = self._free.pop() if self._free else self._made()
        return self._held[key]

    def _made(self) -> ActivityBar:
        bar = self._foot.add()
        for signal in (bar.pause_wanted, bar.resume_wanted):
            signal.connect(lambda: self.pressed.emit(self._of(bar)))
        bar.cancel_wanted.connect(lambda: self.stopped.emit(self._of(bar)))
        return bar

    def _of(self, bar: ActivityBar) -> BatchId | None:
        return next((key for key, held in self._held.items() if held is bar), None)
