"""What the activity bar says of a batch under way."""

from dataclasses import dataclass

from app.screens.runs.batches import RUN_BESIDE
from app.screens.runs.words import is_baseline, left
from app.text.formatting import money
from mcp_tef import Batch, BatchProgressed, BatchStatus, RunsRejudged


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
