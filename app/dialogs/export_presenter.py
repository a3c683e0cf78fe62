"""Core calls behind exports of runs and comparisons; knows no Qt."""

from pathlib import Path

from app.core_link.model_requests import CoreCall
from app.core_link.reports import run_reports
from mcp_tef import BatchId, ReportFormat, RunFilter


class ExportPresenter:
    """Writes reports to files, and returns them as HTML or Markdown."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def write_runs(self, where: RunFilter, title: str, form: ReportFormat, file: Path) -> None:
        """Write the runs of a filter."""
        await self._ask(lambda core: run_reports(core).write_found(where, title, file, form))

    async def runs_html(self, where: RunFilter, title: str) -> str:
        """Return the runs of a filter as an HTML page."""
        return await self._ask(lambda core: run_reports(core).page(where, title))

    async def runs_markdown(self, where: RunFilter, title: str) -> str:
        """Return the runs of a filter as Markdown."""
        return await self._ask(lambda core: run_reports(core).markdown(where, title))

    async def write_comparison(self, before: BatchId, after: BatchId, form: ReportFormat, file: Path) -> None:
        """Write a comparison of two batches."""
        await self._ask(lambda core: run_reports(core).write_comparison(before, after, file, form))

    async def comparison_html(self, before: BatchId, after: BatchId) -> str:
        """Return a comparison of two batches as an HTML page."""
        return await self._ask(lambda core: run_reports(core).comparison_page(before, after))

    async def comparison_markdown(self, before: BatchId, after: BatchId) -> str:
        """Return a comparison of two batches as Markdown."""
        return await self._ask(lambda core: run_reports(core).comparison_markdown(before, after))
