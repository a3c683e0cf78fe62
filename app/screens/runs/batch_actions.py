"""Start, stop, rename, export, judge again and delete batches, with the dialogs that these need."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.core_link.targets import CompareBatches
from app.dialogs.export import ask_where, copy_markdown
from app.dialogs.preflight import ApiKeys, Preflight
from app.screens.runs.batch_summaries import action_texts
from app.screens.runs.labels import is_baseline
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.start_dialog import StartDialog
from app.screens.runs.start_form import StartForm, form_from_settings, form_to_settings
from app.screens.runs.start_panel import with_cases
from app.screens.runs.start_presenter import StartPresenter
from app.text.formatting import count, money
from app.widgets import Action, Dialog, Field, FlowText, LineEdit, one_line
from mcp_tef import (
    Batch,
    BatchId,
    BatchRequest,
    BatchStatus,
    CaseId,
    NotFoundError,
    RunFilter,
    RunId,
    UsedUpCap,
    parse_dollars,
    start_within_cap,
)

StartWithCap = Callable[[float | None], Awaitable[Batch | None]]


class CostCapDialog(Dialog):
    """`cap` is the new one, once the sheet was accepted; what is proposed is enough for the rest."""

    def __init__(self, used_up: UsedUpCap, parent: QWidget) -> None:
        super().__init__("The cost cap is used up", parent, width=440)
        self.cap: float | None = None
        self._old = used_up.cap
        spent = f"{money(used_up.spent)} of {money(used_up.cap)} was spent."
        said = f"{spent} The runs that are left take about {money(used_up.left)} more."
        self.body.addWidget(FlowText(said))
        self.edit = LineEdit()
        self.edit.setText(f"{used_up.suggestion:g}")
        self.edit.selectAll()
        self._field = Field("New cap in US dollars, for the whole batch", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Resume", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell(self._problem()))
        self.edit.setFocus()

    def _agree(self) -> None:
        if problem := self._problem():
            self._field.set_error(problem)
            return
        self.cap = parse_dollars(self.edit.text())
        self.accept()

    def _problem(self) -> str:
        number = parse_dollars(self.edit.text())
        return "" if number is not None and number > self._old else f"Write a number above {self._old:g}."


async def start_with_higher_cap(work: StartWithCap, parent: QWidget) -> Batch | None:
    """Do the work with the cap that it has; where that is used up, with what the user allows; None for a no."""

    async def ask(used_up: UsedUpCap) -> float | None:
        dialog = CostCapDialog(used_up, parent)
        return dialog.cap if await dialog.done_with() else None

    return await start_within_cap(work, ask)


NAME_REQUIRED = "Write a name."


class RenameBatchDialog(Dialog):
    """`name` is the new one, once the sheet was accepted."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__("Rename the batch", parent, width=420)
        self.name = name
        self.edit = LineEdit()
        self.edit.setText(name)
        self.edit.selectAll()
        self._field = Field("Name", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell("" if self.edit.text().strip() else NAME_REQUIRED))
        self.edit.setFocus()

    def _agree(self) -> None:
        name = self.edit.text().strip()
        if not name:
            self._field.set_error(NAME_REQUIRED)
        elif name == self.name:
            self.reject()
        else:
            self.name = name
            self.accept()


async def rename_batch(session: Session, presenter: RunsPresenter, batch: Batch, parent: QWidget) -> None:
    """Ask, and rename, with a way back."""
    sheet = RenameBatchDialog(batch.name, parent)
    if await sheet.done_with():
        await presenter.rename(batch.id, sheet.name)
        back, again = (partial(presenter.rename, batch.id, name) for name in (batch.name, sheet.name))
        deed = f"rename “{one_line(batch.name, 40)}”"
        session.toast(f"Renamed to {one_line(sheet.name, 60)}", back, again, deed=deed)


FORM_KEY = "runs.form"
DEFAULT_TITLE = "Test runs"
EXPORT = "Export results…"
COPY_MARKDOWN = "Copy as Markdown"
OnBatchShown = Callable[[Batch], Awaitable[None]]
StartAgain = Callable[[BatchId, ApiKeys, float | None], Awaitable[Batch]]


class BatchActions:
    """`show` is called with every batch that was started, to bring it before the user's eyes."""

    def __init__(self, session: Session, presenter: RunsPresenter, parent: QWidget, show: OnBatchShown) -> None:
        self._session = session
        self._presenter = presenter
        self._parent = parent
        self._show = show
        self.start_presenter = StartPresenter(session.call)
        self.start_dialog: StartDialog | None = None
        self._judging: asyncio.Task[None] | None = None

    def open_start_dialog(self, chosen: tuple[CaseId, ...] = ()) -> None:
        """Open the start form, for chosen cases or as it was left."""
        if self.start_dialog is None:
            self._session.spawn(self._show_start_dialog(chosen))

    async def _show_start_dialog(self, chosen: tuple[CaseId, ...]) -> None:
        await self.start_presenter.load()
        form = with_cases(await self._saved_form(), chosen)
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
        """As it was left; the model of the environment goes before the one that was asked last."""
        form = form_from_settings(self._session.settings.get(FORM_KEY, {}))
        usual = await self.start_presenter.default_model()
        return form if usual.offline else replace(form, offline=False, model=usual.label)

    async def run_offline(self) -> None:
        """Run all cases with the offline baseline, at once."""
        await self.start_presenter.load()
        request = self.start_presenter.parse(StartForm()).request
        if request is None:
            self.open_start_dialog()
            return
        await self._run(request)

    async def _run(self, request: BatchRequest) -> None:
        batch = await self._preflight().run(lambda keys: self.start_presenter.start(request, keys), "")
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
        hurdles = self._preflight()
        started = await start_with_higher_cap(
            lambda cap: hurdles.run(lambda keys: do(batch.id, keys, cap), provider), self._parent
        )
        if started is not None:
            await self._show(started)

    async def check_exists(self, batch_id: BatchId) -> bool:
        """Return True if a batch exists, reloading the list first if it is new; otherwise show a toast."""
        if self._presenter.batches.get(batch_id) is None:
            await self._presenter.load()
        there = self._presenter.batches.get(batch_id) is not None
        if not there:
            self._session.toast("That batch is not there any more")
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
        self._session.toast(f"Deleted {what}", back, again, deed=f"delete {what}")

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
            held = {BatchStatus.PAUSED: presenter.continue_batch, BatchStatus.WAITING: presenter.run_beside}
            with suppress(NotFoundError):
                await held.get(batch.status, presenter.pause)(batch.id)

    async def cancel(self, batch_id: BatchId | None = None) -> None:
        """Stop a batch, or the judging under way; what is finished stays."""
        batch = self._presenter.batches.get(batch_id)
        if batch is not None:
            with suppress(NotFoundError):
                await self._presenter.cancel(batch.id)
        elif self._judging is not None:
            self._judging.cancel()
            self._session.toast("Judging again was stopped. What was judged until then is kept.")

    def judge_again(self, ids: Sequence[str] = (), batch_id: BatchId | None = None) -> None:
        """Judge runs, or those of a batch, by what their cases expect now; one such work at a time."""
        if self._judging is None:
            runs = tuple(RunId(run_id) for run_id in ids)
            self._judging = self._session.spawn(self._judge_again(runs, batch_id))

    def judge_current_batch(self) -> None:
        """Judge all runs of the batch that is shown."""
        self.judge_again(batch_id=self._presenter.current)

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
            ask_where(self._parent, self._session, *wanted)

    def _export_batch(self, batch: Batch) -> None:
        ask_where(self._parent, self._session, RunFilter(batch_id=batch.id), batch.name or DEFAULT_TITLE)

    def copy_results(self) -> None:
        """Put what came of all that are shown on the clipboard as Markdown."""
        if (found := self.export_scope()) is not None:
            self._copy_runs(*found)

    def _copy_runs(self, where: RunFilter, name: str) -> None:
        title = name or DEFAULT_TITLE
        self._session.spawn(copy_markdown(self._session, self._presenter.results_markdown(where, title), title))

    def menu(self, ids: Sequence[str], deleted: Callable[[Sequence[str]], None]) -> Sequence[Action]:
        """Return the context menu of batches."""
        batches = [batch for item in ids if (batch := self._presenter.batches.get(BatchId(item)))]
        if len(batches) == 1:
            return self._menu_of(batches[0], deleted)
        return [
            Action(
                text="Compare these two", do=lambda: self.compare(batches), enabled=len(batches) == 2, icon="scales"
            ),
            Action(
                text=f"Delete {count(len(batches), 'batch', 'batches')}",
                do=lambda: deleted(ids),
                enabled=any(action_texts(batch).delete for batch in batches),
                icon="trash",
                keys="Del",
                apart=True,
            ),
        ]

    def compare(self, batches: Sequence[Batch]) -> None:
        """Show two batches, given the newer one first, beside each other."""
        newer, older = sorted(batches, key=lambda batch: batch.created_at, reverse=True)
        self._session.go(CompareBatches(older.id, newer.id))

    def _menu_of(self, batch: Batch, deleted: Callable[[Sequence[str]], None]) -> Sequence[Action]:
        can, spawn = action_texts(batch), self._session.spawn
        offers = [
            Action(text=can.run_now, do=lambda: spawn(self.pause_or_continue(batch.id)), icon="play"),
            Action(text=can.cancel, do=lambda: spawn(self.cancel(batch.id)), icon="x"),
            Action(text=can.resume, do=lambda: spawn(self.resume(batch.id)), icon="play"),
            Action(text=can.retry, do=lambda: spawn(self.retry(batch.id)), icon="arrow-clockwise"),
            Action(text=can.rejudge, do=lambda: self.judge_again(batch_id=batch.id), icon="scales"),
            Action(text=EXPORT, do=lambda: self._export_batch(batch), icon="export"),
            Action(
                text=COPY_MARKDOWN, do=lambda: self._copy_runs(RunFilter(batch_id=batch.id), batch.name), icon="copy"
            ),
            Action(text=can.rename, do=lambda: self.rename(batch.id), icon="pencil-simple", keys="F2"),
            Action(text=can.delete, do=lambda: deleted([batch.id]), icon="trash", keys="Del", apart=True),
        ]
        return [offer for offer in offers if offer.text]

    def _preflight(self) -> Preflight:
        return Preflight(self._session, self._parent)
