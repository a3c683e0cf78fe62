"""Results of runs and comparisons of batches as files."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.comparison import BatchComparison
from mcp_tef.model.ids import BatchId, RunId
from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.transfer import ReportFormat
from mcp_tef.reports.comparison import ComparedBatches, comparison_csv, comparison_html, comparison_json
from mcp_tef.reports.junit import comparison_junit, to_junit
from mcp_tef.reports.markdown import comparison_markdown, results_markdown, run_markdown, write_markdown
from mcp_tef.reports.results import Results, to_csv, to_json
from mcp_tef.reports.results_html import to_html
from mcp_tef.reports.sarif import results_sarif

if TYPE_CHECKING:
    from mcp_tef.engine import Engine

UNNAMED: Final = "Test runs"
WRITERS: Mapping[ReportFormat, Callable[[Results], str]] = {
    ReportFormat.JSON: to_json,
    ReportFormat.CSV: to_csv,
    ReportFormat.JUNIT: to_junit,
    ReportFormat.HTML: to_html,
    ReportFormat.SARIF: results_sarif,
    ReportFormat.MARKDOWN: results_markdown,
}
COMPARISONS: Mapping[ReportFormat, Callable[[ComparedBatches], str]] = {
    ReportFormat.JSON: comparison_json,
    ReportFormat.CSV: comparison_csv,
    ReportFormat.HTML: comparison_html,
    ReportFormat.JUNIT: comparison_junit,
    ReportFormat.MARKDOWN: comparison_markdown,
}


class RunReports:
    """The results of batches, for other programs and for readers."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    async def results(self, batch_id: BatchId) -> Results:
        """Return a batch with its runs and figures; NotFoundError."""
        batch = await self._engine.runs.batch(batch_id)
        found = await self.found(RunFilter(batch_id=batch_id), batch.name or UNNAMED)
        first = {run.model: run.id for run in reversed(found.runs)}
        settings = {model: (await self._engine.runs.detail(run)).settings for model, run in first.items()}
        return replace(found, batch_id=batch_id, settings=settings)

    async def found(self, where: RunFilter, title: str) -> Results:
        """Return the runs that a filter names, from whichever batch, with their figures."""
        return Results(title, await self._engine.runs.list(where), await self._engine.metrics.overview(where))

    async def write(self, batch_id: BatchId, path: Path, form: ReportFormat) -> None:
        """Write a report; InputError where the file cannot be written."""
        await self.write_all(batch_id, {form: path})

    async def write_all(
        self,
        batch_id: BatchId,
        files: Mapping[ReportFormat, Path],
        *,
        checks: Sequence[ThresholdCheck] = (),
        case_file: Path | None = None,
    ) -> None:
        """Write several reports of one batch, which is read once; with the thresholds, and the file of its cases."""
        results = replace(await self.results(batch_id), checks=tuple(checks), case_file=case_file)
        await asyncio.to_thread(write_results, results, files)

    async def page(self, where: RunFilter, title: str) -> str:
        """Return the report of the runs that pass a filter as an HTML page."""
        return await asyncio.to_thread(to_html, await self.found(where, title))

    async def comparison_page(self, before: BatchId, after: BatchId) -> str:
        """Return the report of a comparison as an HTML page."""
        return await asyncio.to_thread(comparison_html, await self.comparison(before, after))

    async def markdown(self, where: RunFilter, title: str) -> str:
        """Return the results of the filtered runs as Markdown."""
        return await asyncio.to_thread(results_markdown, await self.found(where, title))

    async def comparison_markdown(self, before: BatchId, after: BatchId) -> str:
        """Return a comparison as Markdown."""
        return await asyncio.to_thread(comparison_markdown, await self.comparison(before, after))

    async def run_markdown(self, run_id: RunId) -> str:
        """One run, to be pasted; NotFoundError."""
        return run_markdown(await self._engine.runs.detail(run_id))

    async def comparison(self, before: BatchId, after: BatchId) -> ComparedBatches:
        """Two batches beside each other, with both runs of each pair; InputError, NotFoundError."""
        found = await self._engine.compare.batches(before, after)
        return ComparedBatches(found, await self._engine.compare.pairs(found.pairs))

    async def write_comparison(self, before: BatchId, after: BatchId, path: Path, form: ReportFormat) -> None:
        """Write a comparison; InputError where the file cannot be written."""
        await self.write_compared(await self._engine.compare.batches(before, after), {form: path})

    async def write_compared(
        self, found: BatchComparison, files: Mapping[ReportFormat, Path], *, checks: Sequence[ThresholdCheck] = ()
    ) -> None:
        """Write several reports of one comparison, with what decides; InputError where a file cannot be written."""
        if files:
            compared = ComparedBatches(found, await self._engine.compare.pairs(found.pairs), tuple(checks))
            await asyncio.to_thread(_write_all, {form: COMPARISONS[form](compared) for form in files}, files)

    async def write_found(self, where: RunFilter, title: str, path: Path, form: ReportFormat) -> None:
        """Write a report of the runs that a filter names; InputError where the file cannot be written."""
        await asyncio.to_thread(write_results, await self.found(where, title), {form: path})


def write_results(results: Results, files: Mapping[ReportFormat, Path]) -> None:
    """Write several reports of the same results; InputError where a file cannot be written."""
    _write_all({form: WRITERS[form](results) for form in files}, files)


def _write_all(texts: Mapping[ReportFormat, str], files: Mapping[ReportFormat, Path]) -> None:
    for form, path in files.items():
        write = write_markdown if form is ReportFormat.MARKDOWN else write_text
        write(path, texts[form])
