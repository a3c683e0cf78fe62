"""State of the metrics screen and its calls into the core."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.screens.kit import FilterChip, FilterValues, ViewState
from app.screens.metrics.batch_comparison import ComparisonView, by_column, comparison_view, default_pair
from app.screens.metrics.charts import ChartData, calibration_data, trend_data
from app.screens.metrics.filters import Dimension, FilterChoice, batch_title, filter_chips, filter_choices, run_filter
from app.screens.metrics.group_values import (
    ConfusionView,
    GroupRow,
    RepeatsView,
    best_model,
    confusion_view,
    model_rows,
    models_table,
    repeats_view,
    server_rows,
    tools_table,
    worst_first,
)
from app.screens.metrics.metric_values import (
    MetricValue,
    SideMetric,
    headline_metrics,
    metrics_table,
    side_metrics,
)
from app.text.data_tables import DataTable
from mcp_tef import (
    Batch,
    BatchId,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    CasePair,
    ComparedRuns,
    Event,
    FilterChoices,
    MetricsOverview,
    NotFoundError,
    NoticePublished,
    RejudgeProgressed,
    RunComparison,
    RunEnded,
    RunFilter,
    RunStarted,
    ServersChanged,
    ServerStateChanged,
    ToolMetrics,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")


class MetricsState(Enum):
    """Reason for empty metrics, or FULL."""

    NOTHING_RAN = "nothing ran"
    NOTHING_FITS = "nothing fits"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsView:
    """Everything on the screen, ready-made off the window's thread.

    `model` is the best of several models, "" for one: all but `models` and `repeats` is about it, not pooled.
    `origins` is the sentence that keeps generated and written cases apart, "" without generated ones.
    """

    state: MetricsState
    model: str
    origins: str
    headline: tuple[MetricValue, ...]
    side_metrics: tuple[SideMetric, ...]
    confusion: ConfusionView
    tools: tuple[ToolMetrics, ...]
    calibration: ChartData
    trend: ChartData
    models: tuple[GroupRow, ...]
    servers: tuple[GroupRow, ...]
    repeats: RepeatsView
    tables: tuple[DataTable, ...]


@dataclass(slots=True)
class _Known:
    """Batches and filter values."""

    batches: dict[BatchId, Batch] = field(default_factory=dict)
    choices: FilterChoices = field(default_factory=FilterChoices)


class MetricsPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: CoreCall, now: Callable[[], datetime]) -> None:
        self._ask = ask
        self.now = now
        self.view_state = ViewState()
        self.view: MetricsView | None = None
        self._known = _Known()
        self._reading = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case NoticePublished() | RunStarted() | ServersChanged() | ServerStateChanged() | RejudgeProgressed():
                return Refresh.NONE
            case RunEnded() | BatchProgressed() | BatchQueued() | BatchStarted():
                return Refresh.LATER
            case _:
                return Refresh.NOW

    @property
    def filters(self) -> FilterValues:
        """The filters in force."""
        return self.view_state.filters

    @property
    def where(self) -> RunFilter:
        """The filter of the runs that the metrics are computed from."""
        return run_filter(self.filters, self.now())

    @property
    def shown(self) -> RunFilter:
        """The filter of the runs behind the overview: of several models, those of the best one."""
        model = self.view.model if self.view else ""
        return replace(self.where, models=(model,)) if model else self.where

    @property
    def batches(self) -> Mapping[BatchId, Batch]:
        """Every batch, newest first."""
        return self._known.batches

    async def load(self) -> bool:
        """Read everything again; return False if a later reading overtook this one."""
        self._reading += 1
        mine = self._reading
        where, now = self.where, self.now()
        known, view = await self._ask(lambda core: _read(core, where, now))
        if mine != self._reading:
            return False
        self._known, self.view = known, view
        return True

    def chips(self) -> tuple[FilterChip, ...]:
        """Return the filters in force as chips."""
        return filter_chips(self.filters, self.batches, self.now())

    def title(self) -> str:
        """Return the title of a report of the runs that pass the filters."""
        return ", ".join(chip.text for chip in self.chips()) or "All runs"

    def filter_choices(self, dimension: Dimension) -> tuple[FilterChoice, ...]:
        """Return the values that a filter can be set to."""
        return filter_choices(dimension, self._known.choices, self.batches, self.now())

    def default_pair(self) -> tuple[BatchId, BatchId] | None:
        """Return the two batches to compare first: older, newer."""
        return default_pair(tuple(self.batches.values()))

    async def compare(self, before: BatchId, after: BatchId) -> ComparisonView:
        """Return the comparison of two batches."""
        now = self.now()

        async def read(core: "Engine") -> ComparisonView:
            return comparison_view(await core.compare.batches(before, after), now)

        return await self._ask(read)

    async def pairs(self, pairs: Sequence[CasePair]) -> tuple[ComparedRuns, ...]:
        """Return pairs with their runs."""
        return await self._ask(lambda core: core.compare.pairs(pairs))

    async def saying(
        self, pairs: Sequence[CasePair], batches: tuple[BatchId, BatchId] | None, text: str
    ) -> tuple[CasePair, ...]:
        """Return the pairs of which a run contains a text."""
        where = RunFilter(batch_ids=batches or (), text=text)

        async def read(core: "Engine") -> tuple[CasePair, ...]:
            said = {run.id for run in await core.runs.list(where)}
            return tuple(pair for pair in pairs if said.intersection(pair.shown))

        return await self._ask(read)

    async def by_column(self, pairs: Sequence[CasePair], column: str, *, down: bool) -> tuple[CasePair, ...]:
        """Return the pairs sorted by a column."""
        return await asyncio.to_thread(by_column, await self.pairs(pairs), column, down=down)

    async def both(self, pair: CasePair) -> RunComparison | None:
        """Return the two runs to look at of a pair; None if it has only one, or one was deleted."""
        before, after = pair.shown
        if before is None or after is None:
            return None
        try:
            return await self._ask(lambda core: core.compare.runs(before, after))
        except NotFoundError:
            return None


async def _read(core: "Engine", where: RunFilter, now: datetime) -> tuple[_Known, MetricsView]:
    """Read everything on the core's thread and format it there."""
    batches = {batch.id: batch for batch in await core.runs.batches()}
    choices = await core.metrics.choices()
    overview = await core.metrics.overview(where)
    model = best_model(overview.models)
    if model:
        of_model = await core.metrics.overview(replace(where, models=(model,)))
        overview = replace(of_model, models=overview.models, repeats=overview.repeats)
    return _Known(batches, choices), metrics_view(overview, batches, now, model)


def metrics_view(
    overview: MetricsOverview, batches: Mapping[BatchId, Batch], now: datetime, model: str = ""
) -> MetricsView:
    """Return an overview as the screen shows it; `model` is the best of several."""
    metrics = overview.metrics
    confusion = confusion_view(overview.confusions)
    calibration, trend = calibration_data(overview.calibration), trend_data(overview.trend, now)
    repeats = repeats_view(overview.repeats, batches)
    summed = [batch_title(batches[one.batch_id], now) for one in overview.trend[::-1] if one.batch_id in batches]
    return MetricsView(
        state=_state(overview, batches),
        model=model,
        origins=metrics.origin_sentence,
        headline=headline_metrics(metrics),
        side_metrics=side_metrics(metrics, overview.models, model, summed),
        confusion=confusion,
        tools=worst_first(overview.confusions),
        calibration=calibration,
        trend=trend,
        models=model_rows(overview.models),
        servers=server_rows(metrics.by_server),
        repeats=repeats,
        tables=(
            metrics_table(metrics),
            tools_table(overview.confusions),
            models_table(overview.models),
            repeats.table,
        ),
    )


def _state(overview: MetricsOverview, batches: Mapping[BatchId, Batch]) -> MetricsState:
    if overview.metrics.n:
        return MetricsState.FULL
    ran = any(batch.judged or batch.count("failed") for batch in batches.values())
    return MetricsState.NOTHING_FITS if ran else MetricsState.NOTHING_RAN
