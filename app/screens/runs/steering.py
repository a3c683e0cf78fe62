"""Starting, steering, judging again and deleting, with whatever must be asked of the user on the way."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from PySide6.QtWidgets import QWidget

from app.results import ask_where
from app.screens.runs.batches import actions
from app.screens.runs.hurdles import Hurdles, Keys
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.remembering import form_of, form_to_keep
from app.screens.runs.start import StartForm
from app.screens.runs.start_panel import with_cases
from app.screens.runs.start_sheet import StartSheet
from app.screens.runs.starting import Starting
from app.screens.runs.words import is_baseline
from app.session import Session
from app.text import count
from app.widgets import Action, ask
from mcp_tef import Batch, BatchId, BatchRequest, BatchStatus, CaseId, NotFoundError, RunFilter, RunId

FORM = "runs.form"
UNNAMED = "Test runs"
EXPORT = "Export results…"
Show = Callable[[Batch], Awaitable[None]]


class Steering:
    """`show` is called with every batch that was started, to bring it before the user's eyes."""

    def __init__(self, session: Session, presenter: RunsPresenter, parent: QWidget, show: Show) -> None:
        self._session = session
        self._presenter = presenter
        self._parent = parent
        self._show = show
        self.starting = Starting(session.call)
        self.sheet: StartSheet | None = None
        self._judging: asyncio.Task[None] | None = None

    def open_form(self, chosen: tuple[CaseId, ...] = ()) -> None:
        """Open the start form, for chosen cases or as it was left."""
        if self.sheet is None:
            self._session.spawn(self._fill_form(chosen))

    async def _fill_form(self, chosen: tuple[CaseId, ...]) -> None:
        await self.starting.load()
        form = with_cases(form_of(self._session.settings.get(FORM, {})), chosen)
        self.sheet = StartSheet(self._session, self.starting, form, self._parent)
        try:
            await self.sheet.done_with()
            started = self.sheet.started
        finally:
            self.sheet = None
        if started is not None:
            form, batch = started
            self._session.settings.set(FORM, dict(form_to_keep(form)))
            await self._show(batch)

    async def run_offline(self) -> None:
        """Run all cases with the offline baseline, at once."""
        await self.starting.load()
        request = self.starting.read(StartForm()).request
        if request is None:
            self.open_form()
            return
        await self._run(request)

    async def _run(self, request: BatchRequest) -> None:
        batch = await self._hurdles().past(lambda keys: self.starting.start(request, keys), "")
        if batch is not None:
            await self._show(batch)

    async def retry(self, batch_id: BatchId | None) -> None:
        """Run the failed runs of a batch again."""
        await self._again(batch_id, self._presenter.retry)

    async def resume(self, batch_id: BatchId | None) -> None:
        """Run what was cut off."""
        await self._again(batch_id, self._presenter.resume)

    async def _again(self, batch_id: BatchId | None, do: Callable[[BatchId, Keys], Awaitable[Batch]]) -> None:
        batch = self._presenter.batch(batch_id)
        if batch is None:
            return
        provider = next((label.split("/", 1)[0] for label in batch.models if not is_baseline(label)), "")
        started = await self._hurdles().past(lambda keys: do(batch.id, keys), provider)
        if started is not None:
            await self._show(started)

    async def delete(self, ids: Sequence[str]) -> None:
        """Delete batches for good, once the user has agreed."""
        batches = [batch for item in ids if (batch := self._presenter.batch(BatchId(item)))]
        gone = [batch for batch in batches if actions(batch).delete]
        if not gone:
            return
        runs = sum(batch.total for batch in gone)
        text = f"{count(runs, 'run')} with verdicts and answers will be gone. This cannot be undone."
        title = f"Delete {gone[0].name or 'this batch'}?" if len(gone) == 1 else f"Delete {len(gone)} batches?"
        yes = f"Delete {count(len(gone), 'batch', 'batches')}"
        if await ask(self._parent, title, text, yes=yes, danger=True):
            await self._presenter.remove([batch.id for batch in gone])

    async def pause_or_proceed(self) -> None:
        """Pause the batch under way, or let it go on; one that ended meanwhile needs neither."""
        batch = self._presenter.live()
        if batch is not None:
            paused = batch.status is BatchStatus.PAUSED
            with suppress(NotFoundError):
                await (self._presenter.proceed if paused else self._presenter.pause)(batch.id)

    async def cancel(self) -> None:
        """Stop the batch under way, else the judging under way; what is finished stays."""
        batch = self._presenter.live()
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

    async def _judge_again(self, ids: Sequence[RunId], batch_id: BatchId | None) -> None:
        try:
            report = await self._presenter.rejudge(ids, batch_id)
        finally:
            self._judging = None
        self._session.toast(report.sentence)

    def exportable(self) -> tuple[RunFilter, str] | None:
        """Which runs the screen can export now, and under which title: all of the batch shown, or those found."""
        found, batch = self._presenter.found, self._presenter.batch(self._presenter.current)
        if found is not None:
            return found.where, found.title
        return (RunFilter(batch_id=batch.id), batch.name or UNNAMED) if batch else None

    def export(self) -> None:
        """Ask where the results of what is shown are to go."""
        wanted = self.exportable()
        if wanted is not None:
            ask_where(self._parent, self._session, *wanted)

    def _export_batch(self, batch: Batch) -> None:
        ask_where(self._parent, self._session, RunFilter(batch_id=batch.id), batch.name or UNNAMED)

    def run_menu(self, ids: Sequence[str]) -> Sequence[Action]:
        """What the context menu of runs offers."""
        text = "Judge again" if len(ids) == 1 else f"Judge {count(len(ids), 'run')} again"
        return [Action(text=text, do=lambda: self.judge_again(ids), icon="scales")] if ids else []

    def menu(self, ids: Sequence[str], deleted: Callable[[Sequence[str]], None]) -> Sequence[Action]:
        """What the context menu of a batch offers."""
        batch = self._presenter.batch(BatchId(ids[0])) if ids else None
        if batch is None:
            return ()
        can, spawn = actions(batch), self._session.spawn
        offers = [
            Action(text=can.resume, do=lambda: spawn(self.resume(batch.id)), icon="play"),
            Action(text=can.retry, do=lambda: spawn(self.retry(batch.id)), icon="arrow-clockwise"),
            Action(text=can.rejudge, do=lambda: self.judge_again(batch_id=batch.id), icon="scales"),
            Action(text=EXPORT, do=lambda: self._export_batch(batch), icon="export"),
            Action(text=can.delete, do=lambda: deleted(ids), icon="trash", keys="Del", apart=True),
        ]
        return [offer for offer in offers if offer.text]

    def _hurdles(self) -> Hurdles:
        return Hurdles(self._session, self._parent)
