"""Actions on batches and on the runs selected in the table."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import ApiKeys
from app.core_link.session import Session
from app.core_link.targets import CompareBatches
from app.dialogs.consent import Preflight
from app.dialogs.export import copy_markdown, export_runs
from app.screens.runs.batch_summaries import action_texts
from app.screens.runs.cell_styles import table_row
from app.screens.runs.dialogs import PausedBatchDialog, StartDialog, rename_batch, start_with_higher_cap
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.run_table import RunTableRow
from app.screens.runs.start_form import StartForm, form_from_settings, form_to_settings
from app.screens.runs.start_panel import with_cases
from app.screens.runs.start_presenter import StartPresenter
from app.text.formatting import count
from app.widgets import Row as TableRow
from app.widgets.paged import PagedTable
from mcp_tef import (
    Batch,
    BatchId,
    BatchPaused,
    BatchRequest,
    BatchStatus,
    CaseId,
    NotFoundError,
    RunFilter,
    RunId,
    is_baseline,
)

FORM_KEY = "runs.form"
DEFAULT_TITLE = "Test runs"
OnBatchShown = Callable[[Batch], Awaitable[None]]
StartAgain = Callable[[BatchId, ApiKeys, float | None], Awaitable[Batch]]


class BatchActions:
    """Actions on batches; `show` is called with each started batch."""

    def __init__(self, session: Session, presenter: RunsPresenter, parent: QWidget, show: OnBatchShown) -> None:
        self._session = session
        self._presenter = presenter
        self._parent = parent
        self._show = show
        self.start_presenter = StartPresenter(session.call)
        self.start_dialog: StartDialog | None = None
        self._judging: asyncio.Task[None] | None = None

    def open_start_dialog(self, chosen: tuple[CaseId, ...] = (), model: str = "", address: str = "") -> None:
        """Open the start form as it was left, or for chosen cases and a model."""
        if self.start_dialog is None:
            self._session.spawn(self._show_start_dialog(chosen, model, address))

    async def _show_start_dialog(self, chosen: tuple[CaseId, ...], model: str, address: str) -> None:
        await self.start_presenter.load()
        form = with_cases(await self._saved_form(), chosen)
        if model:
            offline = is_baseline(model)
            form = replace(form, offline=offline, own_server=False, model=model, base_url=address)
        if self.start_dialog is not None:
            return
        self.start_dialog = StartDialog(self._session, self.start_presenter, form, self._parent)
        try:
            await self.start_dialog.done_with()
            started = self.start_dialog.started
        finally:
            self.start_dialog = None
        if started is not None:
            form, batch = started
            self._session.settings.set(FORM_KEY, dict(form_to_settings(form)))
            await self._show(batch)

    async def _saved_form(self) -> StartForm:
        """Return the last form; a model set in the environment replaces the last one."""
        form = form_from_settings(self._session.settings.get(FORM_KEY, {}))
        usual = await self.start_presenter.default_model()
        return form if usual.offline else replace(form, offline=False, model=usual.label)

    async def run_offline(self) -> None:
        """Run all cases with the offline baseline, at once."""
        await self.start_presenter.load()
        await self._run(self.start_presenter.parse(StartForm()).request, ())

    async def run_now(self, cases: tuple[CaseId, ...]) -> None:
        """Run cases at once with the last settings; open the form where these are not enough."""
        await self.start_presenter.load()
        form = with_cases(await self._saved_form(), cases)
        await self._run(self.start_presenter.parse(form).request, cases)

    async def _run(self, request: BatchRequest | None, cases: tuple[CaseId, ...]) -> None:
        if request is None:
            self.open_start_dialog(cases)
            return
        provider = next((model.provider for model in request.models if not model.offline), "")
        batch = await self._preflight().run(lambda keys: self.start_presenter.start(request, keys), provider)
        if batch is not None:
            await self._show(batch)

    async def retry(self, batch_id: BatchId | None) -> None:
        """Run the failed runs of a batch again."""
        await self._start_again(batch_id, self._presenter.retry)

    async def resume(self, batch_id: BatchId | None) -> None:
        """Run what was cut off."""
        await self._start_again(batch_id, self._presenter.resume)

    async def _start_again(self, batch_id: BatchId | None, do: StartAgain) -> None:
        batch = self._presenter.batches.get(batch_id)
        if batch is None:
            return
        provider = next((label.split("/", 1)[0] for label in batch.models if not is_baseline(label)), "")
        preflight = self._preflight()
        started = await start_with_higher_cap(
            lambda cap: preflight.run(lambda keys: do(batch.id, keys, cap), provider), self._parent
        )
        if started is not None:
            await self._show(started)

    async def check_exists(self, batch_id: BatchId) -> bool:
        """Return True if a batch exists, reloading the list first if it is new; otherwise show a toast."""
        if self._presenter.batches.get(batch_id) is None:
            await self._presenter.load()
        there = self._presenter.batches.get(batch_id) is not None
        if not there:
            self._session.toast("That batch no longer exists")
        return there

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete batches that no longer run, with a way back."""
        batches = [batch for item in ids if (batch := self._presenter.batches.get(BatchId(item)))]
        gone = [batch for batch in batches if action_texts(batch).delete]
        if not gone:
            return
        deleted = [batch.id for batch in gone]
        await self._presenter.delete(deleted)
        what = (gone[0].name or "a batch") if len(gone) == 1 else count(len(gone), "batch", "batches")
        back, again = partial(self._presenter.restore, deleted), partial(self._presenter.delete, deleted)
        self._session.toast(f"Deleted {what}", back, again, action=f"delete {what}")

    def rename(self, batch_id: str) -> None:
        """Ask what a batch that has ended is to be called."""
        batch = self._presenter.batches.get(BatchId(batch_id))
        if batch is not None and action_texts(batch).rename:
            self._session.spawn(rename_batch(self._session, self._presenter, batch, self._parent))

    async def pause_or_continue(self, batch_id: BatchId | None = None) -> None:
        """Pause a batch, else the newest that goes, or let it go on; one that ended meanwhile needs neither."""
        batch = self._presenter.batches.get(batch_id) or self._presenter.batches.newest_active()
        if batch is not None:
            presenter = self._presenter
            with suppress(NotFoundError):
                if batch.status is BatchStatus.WAITING:
                    await presenter.run_beside(batch.id)
                else:
                    await presenter.set_paused(batch.id, paused=batch.status is not BatchStatus.PAUSED)

    async def ask_to_continue(self, paused: BatchPaused) -> None:
        """Ask what to do with a batch that paused because one run after another failed."""
        batch = paused.batch
        self._presenter.batches.set_paused(batch.id, paused=True)
        dialog = PausedBatchDialog(batch.name, paused.reason, self._parent)
        if await dialog.done_with():
            with suppress(NotFoundError):
                proceed = partial(self._presenter.set_paused, paused=False)
                await (self._presenter.cancel if dialog.stops else proceed)(batch.id)

    async def cancel(self, batch_id: BatchId | None = None) -> None:
        """Stop a batch, or the judging under way; what is finished stays."""
        batch = self._presenter.batches.get(batch_id)
        if batch is not None:
            with suppress(NotFoundError):
                await self._presenter.cancel(batch.id)
        elif self._judging is not None:
            self._judging.cancel()
            self._session.toast("Judging was stopped. New verdicts are kept.")

    def judge_again(self, ids: Sequence[str] = (), batch_id: BatchId | None = None) -> None:
        """Judge runs, or those of a batch, by what their cases expect now; one such work at a time."""
        if self._judging is None:
            runs = tuple(RunId(run_id) for run_id in ids)
            self._judging = self._session.spawn(self._judge_again(runs, batch_id))

    async def _judge_again(self, ids: Sequence[RunId], batch_id: BatchId | None) -> None:
        try:
            report = await self._presenter.rejudge(ids, batch_id)
        finally:
            self._judging = None
        self._session.toast(report.sentence)

    def export_scope(self) -> tuple[RunFilter, str] | None:
        """Return the filter and title for an export: the whole batch, or the cross-batch runs."""
        found, batch = self._presenter.cross_batch, self._presenter.batch
        if found is not None:
            return found.where, found.title
        return (RunFilter(batch_id=batch.id), batch.name or DEFAULT_TITLE) if batch else None

    def export(self) -> None:
        """Ask where the results of what is shown are to go."""
        wanted = self.export_scope()
        if wanted is not None:
            export_runs(self._parent, self._session, *wanted)

    def copy_results(self) -> None:
        """Copy the results of the runs shown to the clipboard as Markdown."""
        if (scope := self.export_scope()) is not None:
            where, title = scope
            self._session.spawn(copy_markdown(self._session, self._presenter.results_markdown(where, title), title))

    def compare(self, batches: Sequence[Batch]) -> None:
        """Compare two batches, given the newer one first."""
        newer, older = sorted(batches, key=lambda batch: batch.created_at, reverse=True)
        self._session.go(CompareBatches(older.id, newer.id))

    def _preflight(self) -> Preflight:
        return Preflight(self._session, self._parent)


class SelectedRuns:
    """Actions on the selected rows of the run table; rows that were not loaded are read first."""

    def __init__(
        self, session: Session, presenter: RunsPresenter, actions: BatchActions, table: PagedTable, parent: QWidget
    ) -> None:
        self._session = session
        self._presenter = presenter
        self._actions = actions
        self._table = table
        self._parent = parent
        table.set_reader(self._give_rows)

    def _give_rows(self, places: Sequence[int], do: Callable[[Sequence[TableRow]], None]) -> None:
        """Read rows as the table shows them."""
        self._session.spawn(self._read(places, lambda rows: do([table_row(row) for row in rows])))

    def positions(self) -> tuple[int, ...]:
        """Return the positions of the selected rows in the table."""
        return self._table.selected_places()

    def judge(self) -> None:
        """Judge the selected runs by the current expectations of their cases."""
        self._with_rows(lambda rows: self._actions.judge_again([row.id for row in rows]))

    def run_again(self) -> None:
        """Open the start form for the cases of the selected runs."""
        self._with_rows(lambda rows: self._actions.open_start_dialog(tuple(dict.fromkeys(row.case_id for row in rows))))

    def export(self) -> None:
        """Ask for the file to export the selected runs to."""
        self._with_rows(lambda rows: export_runs(self._parent, self._session, _only(rows), self._title(rows)))

    def copy(self) -> None:
        """Copy one run in full, or the results of several, to the clipboard as Markdown."""
        self._with_rows(self._copy)

    def _copy(self, rows: Sequence[RunTableRow]) -> None:
        if len(rows) == 1:
            markdown, what = self._presenter.run_markdown(rows[0].id), "the run"
        else:
            markdown = self._presenter.results_markdown(_only(rows), self._title(rows))
            what = count(len(rows), "run")
        self._session.spawn(copy_markdown(self._session, markdown, what))

    def _title(self, rows: Sequence[RunTableRow]) -> str:
        shown = self._actions.export_scope()
        return f"{count(len(rows), 'run')} of {shown[1] if shown else DEFAULT_TITLE}"

    def _with_rows(self, do: Callable[[Sequence[RunTableRow]], object]) -> None:
        if places := self.positions():
            self._session.spawn(self._read(places, do))

    async def _read(self, places: Sequence[int], do: Callable[[Sequence[RunTableRow]], object]) -> None:
        if rows := await self._presenter.rows_at(places):
            do(rows)


def _only(rows: Sequence[RunTableRow]) -> RunFilter:
    return RunFilter(run_ids=tuple(RunId(row.id) for row in rows))
