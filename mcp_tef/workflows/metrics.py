"""Metrics of all runs of a workspace, or of those that pass filters."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from mcp_tef.model.metrics import (
    CalibrationReport,
    ConfusionMatrix,
    FilterChoices,
    Metrics,
    MetricsOverview,
    ModelMetrics,
    RepeatStatistics,
    TrendPoint,
)
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.verdicts import ConfidenceCategory
from mcp_tef.ports import MetricsStore
from mcp_tef.statistics.calibration import calibration, shows_misleading
from mcp_tef.statistics.confusion import confusions
from mcp_tef.statistics.history import History
from mcp_tef.statistics.metrics import models, repeats, summarise, trend
from mcp_tef.workflows.name_search import require_known

T = TypeVar("T")
EVERYTHING = RunFilter()


class MetricsService:
    """Statistics of all runs that pass a filter, computed in a worker thread.

    A baseline stands apart: where a model was asked as well, only figures by model and the trend count its runs.
    """

    def __init__(self, store: MetricsStore) -> None:
        self._store = store

    async def summary(self, where: RunFilter = EVERYTHING) -> Metrics:
        """Return the rates, means and percentiles, each rate with its interval; by tool, server and model as well."""
        return await self._counted(where, summarise)

    async def confusions(self, where: RunFilter = EVERYTHING) -> ConfusionMatrix:
        """Return the confusion matrix, and each tool against the rest."""
        return await self._counted(where, confusions)

    async def calibration(self, where: RunFilter = EVERYTHING) -> CalibrationReport:
        """Return the accuracy of runs at each level of confidence."""
        return await self._counted(where, calibration)

    async def shows_misleading(self, run: RunSummary) -> bool:
        """Return True if a run is sure and wrong, and past runs show that its confidence speaks of the description."""
        if run.confidence_category is not ConfidenceCategory.MISLEADING:
            return False
        of_model = RunFilter(models=(run.model,))
        of_case = replace(of_model, batch_id=run.batch_id, case_ids=(run.case_id,))
        repeats, past = await self._store.history(of_case), await self._store.history(of_model)
        return await asyncio.to_thread(shows_misleading, run.confidence_source, repeats, past)

    async def repeats(self, where: RunFilter = EVERYTHING) -> RepeatStatistics:
        """Return pass rate, the chance that k runs all pass, and flaky cases."""
        return await self._counted(where, repeats)

    async def trend(self, where: RunFilter = EVERYTHING) -> tuple[TrendPoint, ...]:
        """Return the figures of each batch, oldest first."""
        return await self._counted(where, trend)

    async def models(self, where: RunFilter = EVERYTHING) -> tuple[ModelMetrics, ...]:
        """Return all figures of each model, by label."""
        return await self._counted(where, models)

    async def overview(self, where: RunFilter = EVERYTHING) -> MetricsOverview:
        """Return all of the above, read at one moment."""
        return await self._counted(where, overview_of)

    async def choices(self) -> FilterChoices:
        """Return the names that a filter can be made of."""
        return await self._store.choices()

    async def require_known(self, where: RunFilter) -> None:
        """Raise NotFoundError for a model, tool or server of a filter that occurs in no run."""
        labels = [label for label in (where.expected, where.selected, where.offered) if label]
        if not (where.models or labels):
            return
        known = await self.choices()
        require_known("model among the runs named", where.models, known.models)
        require_known("tool among the runs named", (label.tool for label in labels), known.tools)
        require_known("server among the runs named", (label.server for label in labels), known.servers)

    async def _counted(self, where: RunFilter, count: Callable[[History], T]) -> T:
        history = await self._store.history(where)
        return await asyncio.to_thread(count, history)


def overview_of(history: History) -> MetricsOverview:
    """Return all metrics of a history."""
    history = history.ended
    return MetricsOverview(
        metrics=summarise(history),
        confusions=confusions(history),
        calibration=calibration(history),
        repeats=repeats(history),
        trend=trend(history),
        models=models(history),
    )
