"""Filters of the metrics screen: declared fields, their values as text, and the filter of the core."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.screens.kit import FilterChip, FilterField, FilterFields, FilterValues
from app.text.formatting import clock, count, model_name
from mcp_tef import Batch, BatchId, FilterChoices, LabelKind, RunFilter, ToolLabel


class Dimension(StrEnum):
    """Property of a run by which runs are filtered."""

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
PERIODS: Final[Mapping[str, str]] = {"1": "Today", "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days"}
NO_TOOL: Final = "\0no tool"
INVENTED: Final = "\0invented tool"
KINDS: Final = {NO_TOOL: LabelKind.NO_TOOL, INVENTED: LabelKind.INVENTED}
FIELDS: Final[FilterFields[None]] = FilterFields(
    tuple(
        FilterField(
            name=one.value, label=TITLES[one], texts=PERIODS if one is Dimension.PERIOD else {}, many=one in MANY
        )
        for one in Dimension
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterChoice:
    """One value that a filter can be set to; `detail` is a second line, `mono` for names of tools."""

    value: str
    text: str
    detail: str = ""
    mono: bool = False


def toggled(filters: FilterValues, dimension: Dimension, value: str) -> FilterValues:
    """Return the filters with a value added, or removed if it was set."""
    return next(one for one in FIELDS.fields if one.name == dimension).toggled(filters, value)


def run_filter(filters: FilterValues, now: datetime) -> RunFilter:
    """Return the filter of the core."""
    return RunFilter(
        suites=filters.of(Dimension.SUITE),
        tags=filters.of(Dimension.TAG),
        models=filters.of(Dimension.MODEL),
        batch_ids=tuple(map(BatchId, filters.of(Dimension.BATCH))),
        expected=_label(filters, Dimension.EXPECTED, Dimension.EXPECTED_SERVER),
        selected=_label(filters, Dimension.SELECTED, Dimension.SELECTED_SERVER),
        offered=_label(filters, Dimension.OFFERED, Dimension.OFFERED_SERVER),
        since=period_start(filters.first(Dimension.PERIOD), now),
    )


def _label(filters: FilterValues, tool: Dimension, server: Dimension) -> ToolLabel | None:
    name, place = filters.first(tool) or None, filters.first(server) or None
    if name in KINDS:
        return ToolLabel(kind=KINDS[name])
    return ToolLabel(tool=name, server=place) if name or place else None


def period_start(period: str, now: datetime) -> datetime | None:
    """Return the local midnight at which a period starts; None if it is unknown."""
    if period not in PERIODS:
        return None
    return now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=int(period) - 1)


def batch_title(batch: Batch, now: datetime, *, with_models: bool = True) -> str:
    """Return a batch in one line: name, model, day unless it is today, and time."""
    day, time = clock(batch.created_at, now), f"{batch.created_at.astimezone():%H:%M}"
    models = model_name(batch.models[0]) if len(batch.models) == 1 else count(len(batch.models), "model")
    parts = [batch.name or "Batch", *([models] if with_models else []), day if day == time else f"{day} {time}"]
    return ", ".join(parts)


def value_text(dimension: Dimension, value: str, batches: Mapping[BatchId, Batch], now: datetime) -> str:
    """Return a value as menus and chips show it."""
    match dimension:
        case Dimension.BATCH:
            batch = batches.get(BatchId(value))
            return batch_title(batch, now) if batch else "a deleted batch"
        case Dimension.PERIOD:
            return PERIODS.get(value, value)
        case Dimension.MODEL:
            return model_name(value)
    return value.removeprefix("\0")


def filter_chips(filters: FilterValues, batches: Mapping[BatchId, Batch], now: datetime) -> tuple[FilterChip, ...]:
    """Return one chip for each value in force, in the order of the menu."""
    return tuple(replace(chip, text=_chip_text(chip, batches, now)) for chip in FIELDS.chips(filters))


def _chip_text(chip: FilterChip, batches: Mapping[BatchId, Batch], now: datetime) -> str:
    dimension = Dimension(chip.name)
    return f"{TITLES[dimension]}: {value_text(dimension, chip.value, batches, now)}"


def filter_choices(
    dimension: Dimension, choices: FilterChoices, batches: Mapping[BatchId, Batch], now: datetime
) -> tuple[FilterChoice, ...]:
    """Return the values that a filter can be set to."""
    match dimension:
        case Dimension.MODEL:
            return tuple(map(_model_choice, choices.models))
        case Dimension.BATCH:
            return tuple(_batch_choice(batch, now) for batch in batches.values())
        case Dimension.PERIOD:
            return tuple(FilterChoice(value=key, text=text) for key, text in PERIODS.items())
        case Dimension.EXPECTED | Dimension.SELECTED | Dimension.OFFERED:
            return (
                *_no_tool_choices(dimension),
                *map(_tool_choice, choices.tools),
            )
    names = {Dimension.SUITE: choices.suites, Dimension.TAG: choices.tags}.get(dimension, choices.servers)
    return tuple(FilterChoice(value=name, text=name) for name in names)


def _tool_choice(name: str) -> FilterChoice:
    return FilterChoice(value=name, text=name, mono=True)


def _model_choice(label: str) -> FilterChoice:
    return FilterChoice(value=label, text=model_name(label), detail=label)


def _batch_choice(batch: Batch, now: datetime) -> FilterChoice:
    models = ", ".join(map(model_name, batch.models))
    return FilterChoice(value=batch.id, text=batch_title(batch, now), detail=models)


def _no_tool_choices(dimension: Dimension) -> tuple[FilterChoice, ...]:
    no_tool = FilterChoice(value=NO_TOOL, text="no tool", detail="No tool was expected, or none was called.")
    invented = FilterChoice(value=INVENTED, text="invented tool", detail="A tool that was not offered.")
    return {Dimension.EXPECTED: (no_tool,), Dimension.SELECTED: (no_tool, invented)}.get(dimension, ())


def button_text(dimension: Dimension, filters: FilterValues, empty: str, batches: Mapping[BatchId, Batch]) -> str:
    """Return the text of a filter button: the value, the number of values, or `empty`."""
    values = filters.of(dimension)
    if not values:
        return empty
    if len(values) > 1:
        return f"{TITLES[dimension]}: {len(values)}"
    text = value_text(dimension, values[0], batches, datetime.now().astimezone())
    short = text if len(text) <= 18 else f"{text[:17]}…"
    return short if dimension is Dimension.PERIOD else f"{TITLES[dimension]}: {short}"
