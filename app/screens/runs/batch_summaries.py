"""Texts and numbers for batches: cards, summary bar, possible actions, and bars at the foot of the window."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from app.core_link.model_requests import CoreCall
from app.screens.runs.labels import (
    DASH,
    OUTCOME_HELP,
    RUN_MARKS,
    VerdictMark,
    format_models,
    format_wait,
)
from app.text.formatting import MARK_TEXTS, clock, count, model_name, money, percent
from app.text.glossary import explain
from mcp_tef import (
    Batch,
    BatchId,
    BatchProgressed,
    BatchStatus,
    Metrics,
    PassCounts,
    Rate,
    RejudgeProgressed,
    RunFilter,
    RunMark,
    interval_text,
    is_baseline,
    priced_text,
)

COUNT_ORDER = (RunMark.WRONG, RunMark.WRONG_ARGUMENTS, RunMark.CORRECT_CALL)
BAR_ORDER = COUNT_ORDER[::-1]
LIVE = frozenset({BatchStatus.WAITING, BatchStatus.RUNNING, BatchStatus.PAUSED})
RESUMABLE = frozenset({BatchStatus.CANCELLED, BatchStatus.INTERRUPTED})

RUN_NOW = "Run now, in parallel"

STATUS_NOTES: Mapping[BatchStatus, str] = {
    BatchStatus.WAITING: "waiting",
    BatchStatus.RUNNING: "running",
    BatchStatus.PAUSED: "paused",
    BatchStatus.CANCELLED: "cancelled",
    BatchStatus.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCard:
    """Card of a batch; `bar` holds marks with their share of all runs."""

    id: BatchId
    title: str
    when: str
    model: str
    result: str
    judged: bool
    bar: tuple[tuple[VerdictMark, float], ...]
    accessible_text: str
    tooltip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCount:
    """One outcome with how often it came, and what it means."""

    mark: VerdictMark
    count: int
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedShare:
    """A share, or a number of runs, with its name; `detail` is its interval once the metrics are known."""

    value: str
    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsSummary:
    """Summary above the table: the two shares of correct runs, and a count for each outcome."""

    shares: tuple[NamedShare, ...]
    counts: tuple[OutcomeCount, ...]
    note: str = ""
    note_help: str = ""


def is_live(batch: Batch) -> bool:
    """Return True if the batch waits, runs or is paused."""
    return batch.status in LIVE


def is_ranked(batch: Batch) -> bool:
    """Return True if every run ranked the tools; only the baseline does."""
    return all(is_baseline(label) for label in batch.models)


def batch_card(batch: Batch, now: datetime, waits: str = "") -> BatchCard:
    """Return the card of a batch; `waits` is its position in the queue."""
    title = batch.name or "Batch"
    when = clock(batch.created_at, now)
    model = format_models(batch.models)
    result = waits or _result(batch)
    heard = f"{result} correct call" if batch.in_shares and not waits else result
    spoken = f"{title}, {when}, {model}, {heard}, {_spoken_counts(batch)}"
    return BatchCard(
        id=batch.id,
        title=title,
        when=when,
        model=model,
        result=result,
        judged=batch.judged > 0,
        bar=_bar(batch),
        accessible_text=spoken,
        tooltip=batch_tooltip(batch),
    )


def _result(batch: Batch) -> str:
    if batch.interrupted:
        return STATUS_NOTES[BatchStatus.INTERRUPTED]
    if batch.in_shares:
        return percent(batch.correct_calls / batch.in_shares)
    if batch.failed:
        return "all failed" if batch.failed == batch.total else f"{batch.failed} failed"
    return STATUS_NOTES.get(batch.status, DASH)


def _bar(batch: Batch) -> tuple[tuple[VerdictMark, float], ...]:
    total = max(batch.total, batch.judged, 1)
    return tuple((RUN_MARKS[item], batch.tally[item] / total) for item in BAR_ORDER if batch.tally.get(item))


def _spoken_counts(batch: Batch) -> str:
    parts = [f"{batch.tally.get(item, 0)} {MARK_TEXTS[item]}" for item in BAR_ORDER]
    others = {
        "unreadable": batch.unreadable,
        "failed": batch.failed,
        "interrupted": batch.interrupted,
        "cancelled": batch.count("cancelled"),
    }
    parts += [f"{number} {word}" for word, number in others.items() if number]
    return ", ".join(parts)


def batch_summary(batch: Batch, metrics: Metrics | None = None, waits: str = "") -> RunsSummary:
    """Return the summary of a batch; without judged runs, the shares are dashes.

    `metrics` are those of the batch once it has ended: only they know the intervals, since repeats are not cases.
    """
    recall, origins = _metric_notes(batch, metrics) if metrics else ("", "")
    return RunsSummary(
        shares=(
            _share("correct call", batch.correct_calls, batch, metrics.correct_call if metrics else None),
            _share("correct tool", batch.correct_tools, batch, metrics.correct_tool if metrics else None),
        ),
        counts=_outcome_counts(batch.tally.get(item, 0) for item in COUNT_ORDER),
        note=" · ".join(part for part in (waits, _note(batch), recall, origins) if part),
        note_help=explain("recall@k") if recall else "",
    )


def _metric_notes(batch: Batch, metrics: Metrics) -> tuple[str, str]:
    return recall_text(metrics.recall_at) if is_ranked(batch) else "", metrics.origin_sentence


def _share(name: str, number: int, batch: Batch, rate: Rate | None) -> NamedShare:
    known = rate is not None and rate.n == batch.in_shares
    interval = f" ({interval_text(rate.low, rate.high)})" if known and rate else ""
    if not batch.in_shares:
        return NamedShare(value=DASH, name=name, detail="0 judged")
    return NamedShare(
        value=percent(number / batch.in_shares), name=name, detail=f"{number:,}/{batch.in_shares:,}{interval}"
    )


def _outcome_counts(counts: Iterable[int]) -> tuple[OutcomeCount, ...]:
    pairs = zip(COUNT_ORDER, counts, strict=True)
    return tuple(OutcomeCount(mark=RUN_MARKS[item], count=number, help=OUTCOME_HELP[item]) for item, number in pairs)


def recall_text(recall_at: Mapping[int, Rate]) -> str:
    """Return recall at each depth: `expected tool first in 60 %, in the first 3 in 87 %`."""
    known = [(depth, rate) for depth, rate in sorted(recall_at.items()) if rate.value is not None]
    places = [f"{'first' if depth == 1 else f'in the first {depth}'} in {percent(rate.value)}" for depth, rate in known]
    return f"expected tool {', '.join(places)}" if places else ""


def _state_note(batch: Batch) -> str:
    if batch.interrupted:
        return f"{batch.interrupted} interrupted, not judged yet"
    if batch.elsewhere:
        return f"{_done(batch, None):,} of {batch.total:,}, {STATUS_NOTES[batch.status]} in another program"
    return STATUS_NOTES[batch.status] if batch.status in (BatchStatus.INTERRUPTED, BatchStatus.PAUSED) else ""


def _note(batch: Batch) -> str:
    parts = [f"{batch.unreadable:,} unreadable, counted as wrong"] if batch.unreadable else []
    if batch.failed:
        parts.append(f"{batch.failed:,} failed, not counted{_causes(batch)}")
    if batch.count("cancelled"):
        parts.append(f"{batch.count('cancelled')} cancelled")
    if state := _state_note(batch):
        parts.append(state)
    if batch.stopped:
        parts.append(f"stopped early: {batch.stopped}")
    if is_ranked(batch):
        parts.append("offline baseline, not a model")
    if batch.text_calls_note:
        parts.append(batch.text_calls_note)
    return " · ".join(parts)


def _causes(batch: Batch) -> str:
    """Return the failures that have a count of their own, in brackets."""
    known = ((batch.not_offered, "expected tool not offered"), (batch.cut_off, "cut off"))
    told = ", ".join(f"{number:,} {text}" for number, text in known if number)
    return f" ({told})" if told else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchActionTexts:
    """Texts of buttons and menu items for a batch; empty if the action is not possible now."""

    resume: str
    retry: str
    rejudge: str
    rename: str
    delete: str
    run_now: str
    cancel: str


def action_texts(batch: Batch) -> BatchActionTexts:
    """Resume what was cut off, then retry what failed, judge again what was judged, delete what no longer runs."""
    left = batch.total - batch.judged - batch.failed
    live = is_live(batch)
    return BatchActionTexts(
        resume=_if(batch.status in RESUMABLE and left, f"Resume {count(left, 'run')}"),
        retry=_if(batch.failed and not batch.interrupted and not live, f"Retry {batch.failed:,} failed"),
        rejudge=_if(batch.judged and not live, "Judge again"),
        rename=_if(not live, "Rename…"),
        delete=_if(not live, "Delete batch"),
        run_now=_if(batch.status is BatchStatus.WAITING, RUN_NOW),
        cancel=_if(live and not batch.elsewhere, "Cancel batch"),
    )


def _if(possible: object, text: str) -> str:
    return text if possible else ""


def batch_tooltip(batch: Batch) -> str:
    """Return every model with its provider, the two shares, and the counts."""
    models = ", ".join(model_name(label) if is_baseline(label) else label for label in batch.models)
    return f"{models}\n{batch.sentence}\n{_spoken_counts(batch)}\n{count(batch.total, 'run')} in total"


NO_ACTIONS = BatchActionTexts(resume="", retry="", rename="", delete="", run_now="", cancel="", rejudge="")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossBatchRuns:
    """Runs of many batches; `total` and `counts`, by outcome, are set once they are counted."""

    title: str
    where: RunFilter
    total: int | None = None
    counts: tuple[int, ...] = ()


async def count_outcomes(count: Callable[[RunFilter], Awaitable[int]], where: RunFilter) -> tuple[int, tuple[int, ...]]:
    """Count runs, in total and for each outcome in the order of COUNT_ORDER."""
    asked = where.marks or COUNT_ORDER
    counts = [await count(replace(where, marks=(item,))) if item in asked else 0 for item in COUNT_ORDER]
    return await count(where), tuple(counts)


async def pass_counts(ask: CoreCall, batch: Batch | None) -> PassCounts:
    """Return the correct calls of each repeated case of a batch that has ended."""
    if batch is None or batch.repeats < 2 or is_live(batch):
        return {}
    batch_id = batch.id
    return await ask(lambda core: core.runs.pass_counts(batch_id))


def cross_batch_summary(found: CrossBatchRuns) -> RunsSummary:
    """Return the summary above such runs: their number and what they have in common."""
    counts = found.counts or (0,) * len(COUNT_ORDER)
    total = "…" if found.total is None else f"{found.total:,}"
    name = "run" if found.total == 1 else "runs"
    shown = NamedShare(value=total, name=name, detail="from all batches")
    return RunsSummary(shares=(shown,), counts=_outcome_counts(counts), note=found.title)


# ---------------------------------------------------------------- bars at the foot of the window


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchActivity:
    """Contents of one activity bar; `fraction` is from 0 to 1."""

    fraction: float
    progress_text: str
    details: tuple[str, ...]
    paused: bool
    can_pause: bool = True
    play_text: str = "Continue"


def batch_activity(batch: Batch, progress: BatchProgressed | None, waits: str = "") -> BatchActivity:
    """Return the progress, failures, cost and remaining time of a batch; `waits` is its position in the queue."""
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
    batch = progress.batch if progress else batch
    amount = money(cost) if batch.max_cost_usd is None else f"{money(cost)} of {money(batch.max_cost_usd)}"
    return priced_text(amount, batch.priced, batch.unpriced)


def _left(progress: BatchProgressed | None) -> str:
    if progress is None or progress.seconds_left is None:
        return ""
    return f"{format_wait(progress.seconds_left)} left"


def ended_text(batch: Batch, reason: str | None) -> str:
    """Return the toast for a batch that ended; it is shown on every screen."""
    if reason:
        return f"{batch.name} stopped: {reason}"
    if batch.status is BatchStatus.CANCELLED:
        return f"{batch.name} was cancelled. Finished runs are kept."
    if batch.trial is not None:  # shares over both arms together would say nothing
        return f"{batch.name} has ended."
    return f"{batch.name}: {batch.sentence}."
