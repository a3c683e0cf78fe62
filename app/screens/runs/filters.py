"""Filters of runs by outcome, kind and state, and sort orders and search of the batch list; knows no Qt."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from app.screens.kit import FilterField, FilterFields, SortOrder, ViewState, matches_all_words
from app.screens.runs.batch_summaries import BatchCard, correct_rate
from app.text.formatting import OUTCOME_TEXTS, RUN_STATUS_TEXTS, VERDICT_KIND_TEXTS
from mcp_tef import Batch, Classification, RunFilter, RunStatus, RunSummary, VerdictKind


class RunState(StrEnum):
    """State of a run without a verdict; interrupted and failed runs are distinct."""

    FAILED = "failed"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    PENDING = "pending"
    CANCELLED = "cancelled"


OUTCOMES: Final = (Classification.FN, Classification.FP, Classification.TP, Classification.TN)
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


# A run has a verdict or is in one of these states: setting one kind of filter clears the other.
OUTCOME: Final[FilterField[RunSummary]] = FilterField(
    name="outcomes",
    texts=_capitalized({outcome: OUTCOME_TEXTS[outcome] for outcome in OUTCOMES}),
    many=True,
    excludes=("states",),
)
KIND: Final[FilterField[RunSummary]] = FilterField(
    name="kinds",
    texts=_capitalized({kind: VERDICT_KIND_TEXTS[kind] for kind in KINDS}),
    many=True,
    excludes=("states",),
)
STATE: Final[FilterField[RunSummary]] = FilterField(
    name="states",
    texts={RunState.FAILED.value: "Failed", RunState.INTERRUPTED.value: "Interrupted"}
    | _capitalized({state: RUN_STATUS_TEXTS[status] for state, status in STATE_STATUSES.items()}),
    many=True,
    excludes=("outcomes", "kinds"),
)
FIELDS: Final = FilterFields((OUTCOME, KIND, STATE))


def run_filter(unfiltered: RunFilter, view: ViewState) -> RunFilter:
    """Return the runs of `unfiltered` that pass search and filters; a filter set by the user replaces its own."""
    outcomes, kinds, states = (view.filters.of(field.name) for field in FIELDS.fields)
    where = replace(unfiltered, text=view.text or unfiltered.text)
    if states:
        return _with_states(replace(where, classifications=(), kinds=()), map(RunState, states))
    judged = _without_states(where) if outcomes or kinds else where
    return replace(
        judged,
        classifications=tuple(map(Classification, outcomes)) or where.classifications,
        kinds=tuple(map(VerdictKind, kinds)) or where.kinds,
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
    value = correct_rate(batch).value
    return unknown if value is None else value


BATCH_ORDERS: Final[tuple[SortOrder[Batch], ...]] = (
    SortOrder(name="newest", text="Newest first"),
    SortOrder(name="oldest", text="Oldest first", descending=True),
    SortOrder(name="name", text="By name", key=lambda batch: batch.name.casefold()),
    SortOrder(name="worst", text="Least correct first", key=lambda batch: _share(batch, unknown=2.0)),
    SortOrder(name="best", text="Most correct first", key=lambda batch: -_share(batch, unknown=-1.0)),
)
"""Orders of batches that come newest first; batches without a verdict come last."""


def matches_batch(card: BatchCard, batch: Batch, query: str) -> bool:
    """Return True if every word of the query is in the batch's card or models."""
    return matches_all_words(" ".join((card.title, card.when, card.model, card.result, *batch.models)), query)
