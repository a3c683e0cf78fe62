"""Filters of the runs screen: runs by outcome, kind and state, batches by name and order, saved per workspace."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from app.core_link.settings import Settings
from app.screens.runs.batch_summaries import BatchCard, correct_rate
from app.text.formatting import KIND_WORDS, OUTCOME_WORDS, STATUS_WORDS
from mcp_tef import Batch, Classification, RunFilter, RunStatus, VerdictKind

OUTCOMES = (Classification.FN, Classification.FP, Classification.TP, Classification.TN)
KINDS = (
    VerdictKind.WRONG_TOOL,
    VerdictKind.NO_TOOL,
    VerdictKind.INVENTED_TOOL,
    VerdictKind.EXTRA_CALL,
    VerdictKind.UNEXPECTED_CALL,
)


class RunState(StrEnum):
    """State of a run without a verdict; interrupted runs are told apart from failed ones."""

    FAILED = "failed"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    PENDING = "pending"
    CANCELLED = "cancelled"


STATES: tuple[RunState, ...] = tuple(RunState)
STATE_STATUSES = tuple(RunStatus(state.value) for state in RunState if state is not RunState.INTERRUPTED)
STATE_LABELS: Mapping[RunState, str] = {RunState.INTERRUPTED: "interrupted"} | {
    RunState(status.value): STATUS_WORDS[status] for status in STATE_STATUSES
}

Item = TypeVar("Item")
Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterChoice:
    """One line of the menu: whether it is ticked, and the filter that choosing it gives."""

    text: str
    checked: bool
    result: RunFilter
    separated: bool = False


def filter_choices(where: RunFilter, unfiltered: RunFilter) -> tuple[FilterChoice, ...]:
    """The lines of the menu for a filter; a run has an outcome or a state, so one takes the other away."""
    usual = _not_offered(unfiltered)
    judged = replace(where, statuses=usual, interrupted=None)
    standing = replace(where, classifications=(), kinds=())
    lines = [
        *_group(OUTCOMES, OUTCOME_WORDS, where.classifications, lambda items: replace(judged, classifications=items)),
        *_group(KINDS, KIND_WORDS, where.kinds, lambda items: replace(judged, kinds=items)),
        *_group(STATES, STATE_LABELS, states_of(where), lambda items: with_states(standing, items, usual)),
    ]
    if active_count(where):
        lines.append(FilterChoice(text="Show all runs", checked=False, result=unfiltered, separated=True))
    return tuple(lines)


def _group(
    offered: Sequence[Item],
    words: Mapping[Item, str],
    ticked: tuple[Item, ...],
    gives: Callable[[tuple[Item, ...]], RunFilter],
) -> Iterator[FilterChoice]:
    for number, item in enumerate(offered):
        text = f"{words[item][:1].upper()}{words[item][1:]}"
        yield FilterChoice(
            text=text, checked=item in ticked, result=gives(_toggled(ticked, item)), separated=number == 0
        )


def states_of(where: RunFilter) -> tuple[RunState, ...]:
    """The states that a filter names; one that does not tell interrupted runs from failed ones names both."""
    named = {item.value for item in where.statuses}
    cut_off = RunStatus.FAILED in where.statuses if where.interrupted is None else where.interrupted
    return tuple(state for state in RunState if (cut_off if state is RunState.INTERRUPTED else state.value in named))


def with_states(where: RunFilter, states: Sequence[RunState], otherwise: tuple[RunStatus, ...] = ()) -> RunFilter:
    """The filter that names these states; where there are none, as was said."""
    if not states:
        return replace(where, statuses=otherwise, interrupted=None)
    statuses = tuple(RunStatus(state.value) for state in states if state is not RunState.INTERRUPTED)
    failed, cut_off = RunState.FAILED in states, RunState.INTERRUPTED in states
    return replace(where, statuses=statuses, interrupted=None if failed is cut_off else cut_off)


def _not_offered(where: RunFilter) -> tuple[RunStatus, ...]:
    """States that are asked for and cannot be ticked: another screen may want only runs that were judged."""
    return tuple(item for item in where.statuses if item not in STATE_STATUSES)


def _toggled(items: tuple[Item, ...], item: Item) -> tuple[Item, ...]:
    return tuple(other for other in items if other != item) if item in items else (*items, item)


@dataclass(frozen=True, slots=True)
class RunFilterChip:
    """One filter in force, in words."""

    key: str
    text: str


def filter_chips(where: RunFilter, unfiltered: RunFilter) -> tuple[RunFilterChip, ...]:
    """Return a chip for each filter that is not part of `unfiltered`."""
    searched = [RunFilterChip("text", f"“{where.text}”")] if where.text != unfiltered.text else []
    groups = (
        *_ticked(where.classifications, unfiltered.classifications, OUTCOME_WORDS),
        *_ticked(where.kinds, unfiltered.kinds, KIND_WORDS),
        *_ticked(_not_offered(where), _not_offered(unfiltered), STATUS_WORDS),
        *_ticked(states_of(where), states_of(unfiltered), STATE_LABELS),
    )
    return (*searched, *groups)


def _ticked(
    ticked: tuple[Word, ...], unfiltered: tuple[Word, ...], words: Mapping[Word, str]
) -> Iterator[RunFilterChip]:
    for item in ticked if ticked != unfiltered else ():
        yield RunFilterChip(item.value, f"{words[item][:1].upper()}{words[item][1:]}")


def without_chip(where: RunFilter, unfiltered: RunFilter, key: str) -> RunFilter:
    """The same without one of what narrows it."""
    states = tuple(item for item in states_of(where) if item.value != key)
    judged = tuple(item for item in _not_offered(where) if item.value != key)
    return replace(
        with_states(where, states, judged or _not_offered(unfiltered)),
        text="" if key == "text" else where.text,
        classifications=tuple(item for item in where.classifications if item.value != key),
        kinds=tuple(item for item in where.kinds if item.value != key),
    )


def active_count(where: RunFilter) -> int:
    """Count the checked lines of the menu."""
    return len(where.classifications) + len(where.kinds) + len(states_of(where))


def without_filters(where: RunFilter) -> RunFilter:
    """The same batch and order, all runs."""
    return RunFilter(batch_id=where.batch_id, order=where.order, descending=where.descending)


FILTERS_KEY: Final = "runs.narrowed"
MAX_WORKSPACES: Final = 10
Value = TypeVar("Value", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFilters:
    """Words that batches are found by, and a filter of runs of which only words and ticks count."""

    batches: str = ""
    runs: RunFilter = RunFilter()  # noqa: RUF009  # it is frozen

    def apply_to(self, where: RunFilter) -> RunFilter:
        """The same words and ticks on another filter."""
        kept = self.runs
        return replace(
            where,
            text=kept.text,
            classifications=kept.classifications,
            kinds=kept.kinds,
            statuses=kept.statuses,
            interrupted=kept.interrupted,
        )


def load_filters(settings: Settings, workspace: str) -> SavedFilters:
    """Return the filters saved for a workspace; invalid values are left out."""
    values = next((values for place, values in _kept(settings) if place == workspace), {})
    runs = RunFilter(
        text=_text(values.get("text")),
        classifications=_known(values.get("outcomes"), OUTCOMES),
        kinds=_known(values.get("kinds"), KINDS),
    )
    states = _known(values.get("states"), STATES)
    return SavedFilters(batches=_text(values.get("batches")), runs=with_states(runs, states))


def save_filters(settings: Settings, workspace: str, narrowed: SavedFilters) -> None:
    """Remember it; of very many workspaces, those that were narrowed last."""
    runs = narrowed.runs
    values = {
        "batches": narrowed.batches,
        "text": runs.text,
        "outcomes": [item.value for item in runs.classifications],
        "kinds": [item.value for item in runs.kinds],
        "states": [item.value for item in states_of(runs)],
    }
    others = [(place, kept) for place, kept in _kept(settings) if place != workspace]
    now = [*others, (workspace, values)] if any(values.values()) else others
    settings.set(FILTERS_KEY, [[place, kept] for place, kept in now[-MAX_WORKSPACES:]])


def _kept(settings: Settings) -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    for one in settings.get(FILTERS_KEY, []):
        match one:
            case [str(place), dict(values)]:
                found.append((place, values))
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _known(values: object, offered: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(item for item in offered if isinstance(values, list) and item.value in values)


class BatchOrder(StrEnum):
    """Sort order of the batch list."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    WORST = "worst"
    BEST = "best"


ORDER_LABELS: Final[Mapping[BatchOrder, str]] = {
    BatchOrder.NEWEST: "Newest first",
    BatchOrder.OLDEST: "Oldest first",
    BatchOrder.NAME: "By name",
    BatchOrder.WORST: "Least right first",
    BatchOrder.BEST: "Most right first",
}


@dataclass(frozen=True, slots=True)
class BatchListState:
    """Words that must all stand in a batch's card or among its models, and the order."""

    text: str = ""
    order: BatchOrder = BatchOrder.NEWEST

    def matches(self, card: BatchCard, batch: Batch) -> bool:
        """Return True if every word is in the batch's card or models."""
        told = " ".join((card.title, card.when, card.model, card.result, *batch.models)).casefold()
        return all(word in told for word in self.text.casefold().split())

    def sorted(self, batches: Iterable[Batch]) -> list[Batch]:
        """Batches that come newest first in the order that is wanted; those without a verdict come last."""
        newest = list(batches)
        match self.order:
            case BatchOrder.OLDEST:
                return newest[::-1]
            case BatchOrder.NAME:
                return sorted(newest, key=lambda batch: batch.name.casefold())
            case BatchOrder.WORST:
                return sorted(newest, key=lambda batch: _share(batch, unknown=2.0))
            case BatchOrder.BEST:
                return sorted(newest, key=lambda batch: -_share(batch, unknown=-1.0))
        return newest


def _share(batch: Batch, *, unknown: float) -> float:
    value = correct_rate(batch).value
    return unknown if value is None else value


def parse_order(kept: str) -> BatchOrder:
    """The order that was kept, else the newest first."""
    return next((order for order in BatchOrder if order.value == kept), BatchOrder.NEWEST)
