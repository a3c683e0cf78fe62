"""Access to the core's reports, whose modules are loaded at the first use and not with the window."""

from pathlib import Path
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall

if TYPE_CHECKING:
    from mcp_tef import AnalysisReports, BatchId, Engine, ReportFormat, RunFilter, RunReports


def run_reports(core: "Engine") -> "RunReports":
    """Return the reports about runs."""
    from mcp_tef import RunReports

    return RunReports(core)


def analysis_reports() -> "AnalysisReports":
    """Return the reports about tools."""
    from mcp_tef import AnalysisReports

    return AnalysisReports()


class RunExports:
    """Reports of runs and of comparisons, as files and HTML pages."""

    def __init__(self, call: CoreCall) -> None:
        self._call = call

    async def write(self, where: "RunFilter", title: str, form: "ReportFormat", file: Path) -> None:
        """Write the runs of a filter."""
        await self._call(lambda core: run_reports(core).write_found(where, title, file, form))

    async def html(self, where: "RunFilter", title: str) -> str:
        """Return the runs of a filter as an HTML page."""
        return await self._call(lambda core: run_reports(core).page(where, title))

    async def write_comparison(self, before: "BatchId", after: "BatchId", form: "ReportFormat", file: Path) -> None:
        """Write the comparison of two batches."""
        await self._call(lambda core: run_reports(core).write_comparison(before, after, file, form))

    async def comparison_html(self, before: "BatchId", after: "BatchId") -> str:
        """Return the comparison of two batches as an HTML page."""
        return await self._call(lambda core: run_reports(core).comparison_page(before, after))
