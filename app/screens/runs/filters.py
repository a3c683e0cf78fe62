"""Filters of runs by outcome, kind and state, and sort orders and search of the batch list; knows no Qt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from app.screens.kit import FilterField, FilterFields, SortOrder, ViewState, matches_all_words
from app.screens.runs.batch_summaries import BatchCard
from app.text.formatting import MARK_TEXTS, RUN_STATUS_TEXTS, UNREADABLE_TEXT, VERDICT_KIND_TEXTS
from mcp_tef import CUT_OFF_CODE, NOT_OFFERED_CODE, Batch, RunFilter, RunMark, RunStatus, RunSummary, VerdictKind


class RunState(StrEnum):
    """State of a run without a verdict; interrupted and failed runs are distinct."""

    FAILED = "failed"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    PENDING = "pending"
    CANCELLED = "cancelled"


OUTCOMES: Final = (RunMark.WRONG, RunMark.WRONG_ARGUMENTS, RunMark.CORRECT_CALL)
UNREADABLE: Final = "unreadable"
KINDS: Final = (
    VerdictKind.WRONG_TOOL,
    VerdictKind.NO_TOOL,
    VerdictKind.INVENTED_TOOL,
    VerdictKind.EXTRA_CALL,
    VerdictKind.UNEXPECTED_CALL,
)
STATE_STATUSES: Final = {state: RunStatus(state.value) for state in RunState if state is not RunState.INTERRUPTED}


def _capitalized(texts: Mapping[StrEnum, str]) -> dict[str, str]:
    return {value.value: f"{text[:1].upper()}{text[1:]}" for value, text in texts.items()}


# A run has a verdict, a reason why it failed, or is in one of these states: setting one clears the others.
OUTCOME: Final[FilterField[RunSummary]] = FilterField(
    name="outcomes",
    texts=_capitalized({outcome: MARK_TEXTS[outcome] for outcome in OUTCOMES}),
    many=True,
    excludes=("states", "failures"),
)
KIND: Final[FilterField[RunSummary]] = FilterField(
    name="kinds",
    texts=_capitalized({kind: VERDICT_KIND_TEXTS[kind] for kind in KINDS}),
    many=True,
    excludes=("states", "failures"),
)
ANSWER: Final[FilterField[RunSummary]] = FilterField(
    name="answer", texts={UNREADABLE: UNREADABLE_TEXT.capitalize()}, excludes=("states", "failures")
)
FAILURE: Final[FilterField[RunSummary]] = FilterField(
    name="failures",
    texts={NOT_OFFERED_CODE: "Expected tool not offered", CUT_OFF_CODE: "Answer cut off"},
    many=True,
    excludes=("outcomes", "kinds", "answer", "states"),
)
STATE: Final[FilterField[RunSummary]] = FilterField(
    name="states",
    texts={RunState.FAILED.value: "Failed", RunState.INTERRUPTED.value: "Interrupted"}
    | _capitalized({state: RUN_STATUS_TEXTS[status] for state, status in STATE_STATUSES.items()}),
    many=True,
    excludes=("outcomes", "kinds", "answer", "failures"),
)
FIELDS: Final = FilterFields((OUTCOME, KIND, ANSWER, FAILURE, STATE))


def run_filter(unfiltered: RunFilter, view: ViewState) -> RunFilter:
    """Return the runs of `unfiltered` that pass search and filters; a filter set by the user replaces its own."""
    *verdicts, failures, states = (view.filters.of(field.name) for field in FIELDS.fields)
    where = replace(unfiltered, text=view.text or unfiltered.text)
    if states or failures:
        without = replace(where, marks=(), kinds=(), unreadable=None, failures=failures)
        return _with_states(without, map(RunState, states)) if states else _without_states(without)
    return _with_verdicts(where, *verdicts)


def _with_verdicts(where: RunFilter, outcomes: Sequence[str], kinds: Sequence[str], answer: Sequence[str]) -> RunFilter:
    judged = _without_states(where) if outcomes or kinds or answer else where
    return replace(
        judged,
        marks=tuple(map(RunMark, outcomes)) or where.marks,
        kinds=tuple(map(VerdictKind, kinds)) or where.kinds,
        unreadable=True if answer else where.unreadable,
    )


def _without_states(where: RunFilter) -> RunFilter:
    statuses = tuple(status for status in where.statuses if status not in STATE_STATUSES.values())
    return replace(where, statuses=statuses, interrupted=None)


def _with_states(where: RunFilter, states: Iterable[RunState]) -> RunFilter:
    """Return the filter for these states; the core keeps interrupted runs as failed ones with a flag."""
    chosen = tuple(states)
    failed, interrupted = RunState.FAILED in chosen, RunState.INTERRUPTED in chosen
    statuses = tuple(status for state, status in STATE_STATUSES.items() if state in chosen)
    return replace(where, statuses=statuses, interrupted=None if failed is interrupted else interrupted)


# ---------------------------------------------------------------- the batch list


def _share(batch: Batch, *, unknown: float) -> float:
    return batch.correct_calls / batch.in_shares if batch.in_shares else unknown


BATCH_ORDERS: Final[tuple[SortOrder[Batch], ...]] = (
    SortOrder(name="newest", text="Newest first"),
    SortOrder(name="oldest", text="Oldest first", descending=True),
    SortOrder(name="name", text="By name", key=lambda batch: batch.name.casefold()),
    SortOrder(name="worst", text="Fewest correct calls first", key=lambda batch: _share(batch, unknown=2.0)),
    SortOrder(name="best", text="Most correct calls first", key=lambda batch: -_share(batch, unknown=-1.0)),
)
"""Orders of batches that come newest first; batches without a verdict come last."""


def matches_batch(card: BatchCard, batch: Batch, query: str) -> bool:
    """Return True if every word of the query is in the batch's card or models."""
    return matches_all_words(" ".join((card.title, card.when, card.model, card.result, *batch.models)), query)
