"""Bars at the foot of the window for batches that run and for judging again."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.screens.runs.batch_summaries import RUN_NOW
from app.screens.runs.labels import format_wait, is_baseline
from app.text.formatting import money
from app.widgets import Activities, ActivityBar
from mcp_tef import Batch, BatchId, BatchProgressed, BatchStatus, RejudgeProgressed


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchActivity:
    """`fraction` is 0–1; `lead` is the strong first part, `parts` stand after it."""

    fraction: float
    progress_text: str
    details: tuple[str, ...]
    paused: bool
    can_pause: bool = True
    play_text: str = "Continue"


def batch_activity(batch: Batch, progress: BatchProgressed | None, waits: str = "") -> BatchActivity:
    """Done of total, failed, cost of the cap, time left; what is not known is left out. `waits`: why it does not go."""
    paused = batch.status is BatchStatus.PAUSED
    parts = (
        batch.name,
        f"{batch.failed:,} failed" if batch.failed else "",
        _cost(batch, progress),
        waits or ("paused" if paused else _left(progress)),
    )
    done = _done(batch, progress)
    return BatchActivity(
        fraction=done / max(batch.total, 1),
        progress_text=f"{done:,} of {batch.total:,}",
        details=tuple(filter(None, parts)),
        paused=paused or bool(waits),
        play_text=RUN_NOW if waits else "Continue",
    )


def _done(batch: Batch, progress: BatchProgressed | None) -> int:
    return progress.done if progress else batch.judged + batch.count("failed") + batch.count("cancelled")


def judging_activity(judging: RejudgeProgressed) -> BatchActivity:
    """Return the progress of judging again."""
    return BatchActivity(
        fraction=judging.done / max(judging.total, 1),
        progress_text=f"{judging.done:,} of {judging.total:,}",
        details=("rejudged",),
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
    return f"{format_wait(progress.seconds_left)} left"


def ended_text(batch: Batch, result: str, reason: str | None) -> str:
    """Return the toast for a batch that ended; it is shown on every screen."""
    if reason:
        return f"{batch.name} stopped: {reason}"
    if batch.status is BatchStatus.CANCELLED:
        return f"{batch.name} was cancelled. Finished runs are kept."
    failed = f", {batch.failed:,} failed" if batch.failed else ""
    return f"{batch.name}: {result}{failed}."


ActivitiesByBatch = Mapping[BatchId | None, BatchActivity]


class ActivityBars(QObject):
    """Bars by batch, None for the judging. `pressed` asks to pause a batch or to let it go on, `stopped` to end it."""

    pause_toggled = Signal(object)
    cancel_requested = Signal(object)

    def __init__(self, foot: Activities, parent: QObject) -> None:
        super().__init__(parent)
        self._foot = foot
        self._held: dict[BatchId | None, ActivityBar] = {}
        self._free: list[ActivityBar] = []

    def show_activities(self, works: ActivitiesByBatch) -> None:
        """Show these; bars of what has ended go, and serve again."""
        for key in [key for key in self._held if key not in works]:
            bar = self._held.pop(key)
            bar.clear()
            self._free.append(bar)
        for key, work in works.items():
            bar = self.bar(key)
            bar.set_state(
                work.fraction,
                work.progress_text,
                work.details,
                paused=work.paused,
                can_pause=work.can_pause,
                play=work.play_text,
            )

    def bar(self, key: BatchId | None) -> ActivityBar:
        """The bar of a work."""
        if key not in self._held:
            self._held[key] = self._free.pop() if self._free else self._made()
        return self._held[key]

    def _made(self) -> ActivityBar:
        bar = self._foot.add()
        for signal in (bar.pause_wanted, bar.resume_wanted):
            signal.connect(lambda: self.pause_toggled.emit(self._of(bar)))
        bar.cancel_wanted.connect(lambda: self.cancel_requested.emit(self._of(bar)))
        return bar

    def _of(self, bar: ActivityBar) -> BatchId | None:
        return next((key for key, held in self._held.items() if held is bar), None)
