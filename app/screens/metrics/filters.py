"""Filters of the metrics screen, as selected, shown as chips and saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.screens.metrics.formatting import model_name
from app.text.formatting import clock
from mcp_tef import Batch, BatchId, FilterChoices, LabelKind, RunFilter, ToolLabel


class Dimension(StrEnum):
    """What runs can be told apart by."""

    SUITE = "suite"
    TAG = "tag"
    MODEL = "model"
    BATCH = "batch"
    PERIOD = "period"
    EXPECTED = "expected"
    SELECTED = "selected"
    OFFERED = "offered"
    EXPECTED_SERVER = "expected_server"
    SELECTED_SERVER = "selected_server"
    OFFERED_SERVER = "offered_server"


TITLES: Final[Mapping[Dimension, str]] = {
    Dimension.SUITE: "Suite",
    Dimension.TAG: "Tag",
    Dimension.MODEL: "Model",
    Dimension.BATCH: "Batch",
    Dimension.PERIOD: "Date",
    Dimension.EXPECTED: "Expected tool",
    Dimension.SELECTED: "Selected tool",
    Dimension.OFFERED: "Offered tool",
    Dimension.EXPECTED_SERVER: "Expected on server",
    Dimension.SELECTED_SERVER: "Selected on server",
    Dimension.OFFERED_SERVER: "Offered by server",
}
MANY: Final = frozenset({Dimension.SUITE, Dimension.TAG, Dimension.MODEL, Dimension.BATCH})
PERIODS: Final[Mapping[str, tuple[str, int]]] = {
    "1": ("Today", 1),
    "7": ("Last 7 days", 7),
    "30": ("Last 30 days", 30),
    "90": ("Last 90 days", 90),
}
NO_TOOL: Final = "\0no tool"
INVENTED: Final = "\0invented tool"
KINDS: Final = {NO_TOOL: LabelKind.NO_TOOL, INVENTED: LabelKind.INVENTED}


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter in force, in words."""

    dimension: Dimension
    value: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One value that a filter can be set to; `detail` is a second line, `mono` for names of tools."""

    value: str
    text: str
    detail: str = ""
    mono: bool = False


@dataclass(frozen=True, slots=True)
class MetricsFilters:
    """Values by dimension; several where any of them may hold, one where there is only one way to hold."""

    values: Mapping[Dimension, tuple[str, ...]] = field(default_factory=dict)

    def of(self, dimension: Dimension) -> tuple[str, ...]:
        """The values of a dimension."""
        return self.values.get(dimension, ())

    def toggled(self, dimension: Dimension, value: str) -> "MetricsFilters":
        """With a value that was not set, or without one that was."""
        if value in self.of(dimension):
            return self.without(dimension, value)
        kept = self.of(dimension) if dimension in MANY else ()
        return MetricsFilters({**self.values, dimension: (*kept, value)})

    def without(self, dimension: Dimension, value: str) -> "MetricsFilters":
        """Without one value."""
        rest = tuple(other for other in self.of(dimension) if other != value)
        others = {key: kept for key, kept in self.values.items() if key != dimension}
        return MetricsFilters({**others, dimension: rest} if rest else others)

    def cleared(self, dimension: Dimension) -> "MetricsFilters":
        """Without anything in a dimension."""
        return MetricsFilters({key: kept for key, kept in self.values.items() if key != dimension})

    def to_keep(self) -> dict[str, list[str]]:
        """As plain values, for the settings."""
        return {dimension.value: list(values) for dimension, values in self.values.items()}

    def where(self, now: datetime) -> RunFilter:
        """The filter as the core knows it."""
        period = next(iter(self.of(Dimension.PERIOD)), "")
        return RunFilter(
            suites=self.of(Dimension.SUITE),
            tags=self.of(Dimension.TAG),
            models=self.of(Dimension.MODEL),
            batch_ids=tuple(BatchId(value) for value in self.of(Dimension.BATCH)),
            expected=self._label(Dimension.EXPECTED, Dimension.EXPECTED_SERVER),
            selected=self._label(Dimension.SELECTED, Dimension.SELECTED_SERVER),
            offered=self._label(Dimension.OFFERED, Dimension.OFFERED_SERVER),
            since=since(period, now),
        )

    def _label(self, tool: Dimension, server: Dimension) -> ToolLabel | None:
        name, place = next(iter(self.of(tool)), None), next(iter(self.of(server)), None)
        if name in KINDS:
            return ToolLabel(kind=KINDS[name])
        return ToolLabel(tool=name, server=place) if name or place else None


def kept_filters(kept: Mapping[str, object]) -> MetricsFilters:
    """The filters of plain values; whatever does not fit is left out."""
    known = {dimension.value: dimension for dimension in Dimension}
    values: dict[Dimension, tuple[str, ...]] = {}
    for key, found in kept.items():
        texts = tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()
        if key in known and texts:
            values[known[key]] = texts if known[key] in MANY else texts[:1]
    return MetricsFilters(values)


def since(period: str, now: datetime) -> datetime | None:
    """The local midnight that a period begins at; None where it is none."""
    if period not in PERIODS:
        return None
    days = PERIODS[period][1]
    return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)


def batch_title(batch: Batch, now: datetime) -> str:
    """A batch in one line: its name, the day where that was not today, and the time."""
    day, time = clock(batch.created_at, now), f"{batch.created_at.astimezone():%H:%M}"
    return f"{batch.name or 'Batch'}, {day if day == time else f'{day} {time}'}"


def value_words(dimension: Dimension, value: str, batches: Mapping[BatchId, Batch], now: datetime) -> str:
    """A value as people read it."""
    if dimension is Dimension.BATCH:
        batch = batches.get(BatchId(value))
        return batch_title(batch, now) if batch else "a batch that is gone"
    if dimension is Dimension.PERIOD:
        return PERIODS[value][0] if value in PERIODS else value
    return model_name(value) if dimension is Dimension.MODEL else value.removeprefix("\0")


def chips(filters: MetricsFilters, batches: Mapping[BatchId, Batch], now: datetime) -> tuple[Chip, ...]:
    """Every filter in force, one chip a value, in the order of the menu."""
    return tuple(
        Chip(dimension, value, f"{TITLES[dimension]}: {value_words(dimension, value, batches, now)}")
        for dimension in Dimension
        for value in filters.of(dimension)
    )


def offers(
    dimension: Dimension, choices: FilterChoices, batches: Mapping[BatchId, Batch], now: datetime
) -> tuple[Offer, ...]:
    """What a dimension can be set to."""
    match dimension:
        case Dimension.SUITE:
            return _plain(choices.suites)
        case Dimension.TAG:
            return _plain(choices.tags)
        case Dimension.MODEL:
            return tuple(Offer(value=label, text=model_name(label), detail=label) for label in choices.models)
        case Dimension.BATCH:
            return tuple(_batch_offer(batch, now) for batch in batches.values())
        case Dimension.PERIOD:
            return tuple(Offer(value=key, text=words) for key, (words, _) in PERIODS.items())
        case Dimension.EXPECTED | Dimension.SELECTED | Dimension.OFFERED:
            return (*_kinds(dimension), *(Offer(value=tool, text=tool, mono=True) for tool in choices.tools))
    return _plain(choices.servers)


def _plain(values: Sequence[str]) -> tuple[Offer, ...]:
    return tuple(Offer(value=value, text=value) for value in values)


def _batch_offer(batch: Batch, now: datetime) -> Offer:
    models = ", ".join(model_name(label) for label in batch.models)
    return Offer(value=batch.id, text=batch_title(batch, now), detail=models)


def _kinds(dimension: Dimension) -> tuple[Offer, ...]:
    nothing = Offer(value=NO_TOOL, text="no tool", detail="Nothing was to be called, or nothing was.")
    invented = Offer(value=INVENTED, text="invented tool", detail="A tool that nobody offered.")
    return {Dimension.EXPECTED: (nothing,), Dimension.SELECTED: (nothing, invented)}.get(dimension, ())


def button_words(dimension: Dimension, filters: MetricsFilters, empty: str, batches: Mapping[BatchId, Batch]) -> str:
    """What the button of a dimension says: the one value, how many, or that all count."""
    values = filters.of(dimension)
    if not values:
        return empty
    if len(values) > 1:
        return f"{TITLES[dimension]}: {len(values)}"
    words = value_words(dimension, values[0], batches, datetime.now().astimezone())
    short = words if len(words) <= 18 else f"{words[:17]}…"
    return short if dimension is Dimension.PERIOD else f"{TITLES[dimension]}: {short}"
