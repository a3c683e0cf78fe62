"""Writes results as files."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from mcp_tef.model.ids import BatchId
from mcp_tef.model.runs import RunFilter
from mcp_tef.model.transfer import ReportForm
from mcp_tef.ports import Store
from mcp_tef.workflows.case_forms.texts import write_text
from mcp_tef.workflows.metrics import Figures
from mcp_tef.workflows.reports.html import to_html
from mcp_tef.workflows.reports.junit import to_junit
from mcp_tef.workflows.reports.results import Results
from mcp_tef.workflows.reports.tables import to_csv, to_json

UNNAMED: Final = "Test runs"
WRITERS: Mapping[ReportForm, Callable[[Results], str]] = {
    ReportForm.JSON: to_json,
    ReportForm.CSV: to_csv,
    ReportForm.JUNIT: to_junit,
    ReportForm.HTML: to_html,
}


class Reports:
    """The results of batches, for other programs and for readers."""

    def __init__(self, store: Store, figures: Figures) -> None:
        self._store = store
        self._figures = figures

    async def results(self, batch_id: BatchId) -> Results:
        """A batch with its runs and figures; NotFoundError."""
        batch = await self._store.runs.batch(batch_id)
        found = await self.found(RunFilter(batch_id=batch_id), batch.name or UNNAMED)
        return replace(found, batch_id=batch_id)

    async def found(self, where: RunFilter, title: str) -> Results:
        """The runs that a filter names, from whichever batch, with their figures."""
        return Results(title, await self._store.runs.runs(where), await self._figures.overview(where))

    async def write(self, batch_id: BatchId, path: Path, form: ReportForm) -> None:
        """Write a report; InputError where the file cannot be written."""
        await self.write_all(batch_id, {form: path})

    async def write_all(self, batch_id: BatchId, files: Mapping[ReportForm, Path]) -> None:
        """Write several reports of one batch, which is read once."""
        await _write(await self.results(batch_id), files)

    async def write_found(self, where: RunFilter, title: str, path: Path, form: ReportForm) -> None:
        """Write a report of the runs that a filter names; InputError where the file cannot be written."""
        await _write(await self.found(where, title), {form: path})


async def _write(results: Results, files: Mapping[ReportForm, Path]) -> None:
    for form, path in files.items():
        await asyncio.to_thread(lambda path, form: write_text(path, WRITERS[form](results)), path, form)
