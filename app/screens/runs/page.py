"""The runs screen: batches on the left, the runs of one in the middle, one run in full on the right."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import ResumeBatches, Screen, ShowBatch, ShowRuns, ShowScreen, StartRuns, Target
from app.screens.kit import ViewState
from app.screens.runs.batch_actions import BatchActions, SelectedRuns
from app.screens.runs.batch_events import ScreenChanges
from app.screens.runs.batch_summaries import (
    NO_ACTIONS,
    BatchActivity,
    CrossBatchRuns,
    action_texts,
    batch_activity,
    ended_text,
    judging_activity,
)
from app.screens.runs.commands import EXPORT, RunCommands
from app.screens.runs.filter_controls import FilterCallbacks, FilterControls
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.view import ActivityBars, RunsView, show_no_cases, show_no_runs
from app.text.formatting import count
from app.widgets import Action, at_once, button
from mcp_tef import Batch, BatchId, BatchPaused, Event, RunId

EVENT_DELAY_MS = 50
DETAIL_DELAY_MS = 40


class RunsPage(Page):
    """Owns the presenter and the activity bar; hears every event of the core, visible or not."""

    def __init__(self, session: Session, view: RunsView | None = None) -> None:
        super().__init__(session, key="runs", title="Runs")
        self.presenter = RunsPresenter(session.call, lambda: datetime.now(UTC))
        self._closed = False
        self._loading: asyncio.Task[None] | None = None
        self._event_timer = self._timer(EVENT_DELAY_MS, self._show_changes)
        self._detail_timer = self._timer(DETAIL_DELAY_MS, self._load_detail)
        self.batch_actions = BatchActions(session, self.presenter, self, self._show_started)
        self.activity_bars = ActivityBars(session.activity, self)
        self.view = view or at_once(RunsView.in_parts())
        self.view.restore(session.settings)
        self.batch_list, self.run_list, self.detail = self.view.batch_list, self.view.run_list, self.view.detail
        self.selected_runs = SelectedRuns(session, self.presenter, self.batch_actions, self.run_list.table, self)
        self.restore_layout("runs.table", self.run_list.table)
        self.filter_controls = FilterControls(
            session,
            self.presenter,
            self.header,
            self.run_list,
            self.view.batch_pane,
            FilterCallbacks(
                show_runs=self._show_filtered,
                show_batches=self._show_cards,
                leave_cross_batch=self._show_newest_batch,
            ),
        )
        self.export = button(Action(text=EXPORT, do=self.batch_actions.export, icon="export"))
        self.header.place(self.export)
        self.run_commands = RunCommands(
            presenter=self.presenter,
            actions=self.batch_actions,
            runs=self.selected_runs,
            batches=self.view.batch_pane,
            links=self.detail.links,
            go=session.go,
            pause=self._pause_or_continue,
            cancel=self._cancel,
            spawn=session.spawn,
        )
        self.body.addWidget(self.view, 1)
        self._connect()

    def _timer(self, pause: int, do: Callable[[], None]) -> QTimer:
        made = QTimer(self, singleShot=True, interval=pause)
        made.timeout.connect(do)
        return made

    def _connect(self) -> None:
        for timer in (self._event_timer, self._detail_timer):
            self.session.closing.connect(timer.stop)
        self.session.closing.connect(self._close)
        self.batch_list.chosen.connect(self._choose_batch)
        self.batch_list.set_menu(lambda _ids: self.run_commands.batch_menu())
        self.batch_list.delete_wanted.connect(self._delete)
        self.batch_list.rename_wanted.connect(self.batch_actions.rename)
        self.batch_list.describe_keys(Enter="Go to its runs", F2="Rename the batch", Del="Delete the batches")
        self.run_list.table.chosen.connect(self._choose_run)
        self.run_list.table.set_menu(lambda _: self.run_commands.run_menu())
        self.run_list.table.describe_keys(Enter="Read the run", Space="Read the run")
        self.run_list.rows_needed.connect(self._fetch)
        self.run_list.summary_bar.retry_requested.connect(self._retry)
        self.run_list.summary_bar.resume_requested.connect(self._resume)
        self.detail.retry_requested.connect(self._retry)
        self.detail.link_opened.connect(self.session.go)
        self.activity_bars.pause_toggled.connect(self._pause_or_continue)
        self.activity_bars.cancel_requested.connect(self._cancel)

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        first = self.presenter.current is None
        await self.presenter.load()
        self._show_all()
        if self.presenter.run is not None:
            self._detail_timer.start()
        if first and self.isVisible() and not self.isAncestorOf(self.window().focusWidget() or self):
            self._take_focus()

    def handle(self, event: Event) -> Refresh:
        """Show changes soon, also while the page is hidden: bars, messages and badge are visible on every screen."""
        urgency = self.presenter.handle(event)
        if isinstance(event, BatchPaused):
            self.session.spawn(self._steer(self.batch_actions.ask_to_continue(event)))
        if urgency and not self._event_timer.isActive() and not self._closed:
            self._event_timer.start()
        return urgency

    def receive(self, events: tuple[Event, ...]) -> bool:
        return True

    def open_target(self, target: Target) -> None:
        match target:
            case StartRuns(cases=cases, at_once=True):
                self.session.spawn(self.batch_actions.run_now(cases))
            case StartRuns(cases=cases, model=model, address=address):
                self.batch_actions.open_start_dialog(cases, model, address)
            case ShowRuns(where=where, title=title, run_id=run_id):
                self.session.spawn(self._show_cross_batch(self.presenter.open_cross_batch(title, where), run_id))
            case ShowBatch(batch_id=batch_id, run_id=run_id):
                self.session.spawn(self._show_asked(batch_id, run_id))
            case ResumeBatches(batches=batches):
                self.session.spawn(self._resume_all(batches))

    async def _show_asked(self, batch_id: BatchId, run: RunId | None) -> None:
        await self.settled()
        if await self.batch_actions.check_exists(batch_id):
            await self._show_batch(batch_id, run)
            await self._clear_hiding_filters(run)

    async def _clear_hiding_filters(self, run: RunId | None) -> None:
        """Clear filters that hide the batch or run that was opened."""
        if self.batch_list.current_id() != self.presenter.current:
            self.filter_controls.show_all_batches()
        if run is not None and await self.presenter.is_hidden(run):
            self.presenter.run = run
            self.filter_controls.clear()

    async def _resume_all(self, batches: Sequence[BatchId]) -> None:
        await self.settled()
        for batch_id in batches:
            await self.batch_actions.resume(batch_id)

    def current_target(self) -> Target | None:
        presenter = self.presenter
        if presenter.cross_batch is not None:
            return ShowRuns(presenter.cross_batch.where, presenter.cross_batch.title, presenter.run)
        return ShowBatch(presenter.current, presenter.run) if presenter.current else None

    def commands(self) -> Sequence[Command]:
        return self.run_commands.all()

    def first_focus(self) -> QWidget | None:
        return self.run_list.table if self.presenter.current else None

    def _take_focus(self) -> None:
        widget = self.first_focus() or next(iter(self.header.buttons()), self)
        widget.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ showing

    def _show_all(self) -> None:
        presenter = self.presenter
        self._show_buttons()
        has_batches = presenter.batches.newest() is not None
        self.view.show_panes(shown=has_batches)
        if not has_batches:
            self._show_empty()
        self._show_cards()
        self._show_runs()
        self._show_activity()
        self._show_badge()

    def _show_cards(self) -> None:
        presenter = self.presenter
        self.view.show_cards(presenter.cards(), len(presenter.batches.all()), presenter.current)

    def _show_badge(self) -> None:
        newest = self.presenter.batches.newest()
        self.set_badge(newest.failed if newest else 0)

    def _show_buttons(self) -> None:
        cases, start = len(self.presenter.cases), self.batch_actions.open_start_dialog
        text = f"Run {count(cases, 'case')}…" if cases else "Run…"
        tip = "Select cases and a model, then run (Ctrl+R)"
        kind = "plain" if self.presenter.batches.newest() is None else "primary"  # an empty page has its own
        run = Action(text=text, do=start, kind=kind, icon="play", enabled=cases > 0, tip=tip)
        self.header.set_buttons([run])

    def _show_empty(self) -> None:
        empty, spawn, actions = self.view.empty, self.session.spawn, self.batch_actions
        if cases := len(self.presenter.cases):
            show_no_runs(empty, cases, lambda: spawn(actions.run_offline()), actions.open_start_dialog)
        else:
            show_no_cases(empty, lambda: self.session.go(ShowScreen(Screen.CASES)), lambda: spawn(self._open_sample()))

    def _show_runs(self) -> None:
        self.export.setEnabled(self.batch_actions.export_scope() is not None)
        batch = self.presenter.batch
        if batch is None and self.presenter.cross_batch is None:
            self.detail.show_run(None)
            return
        self._show_summary()
        self.filter_controls.show_filters()
        self.run_list.show_table(
            self.presenter.table, models=len(batch.models) if batch else 2, keep=self.presenter.run
        )
        if self.run_list.table.current_id() != (self.presenter.run or ""):
            self._choose_run(self.run_list.table.current_id())
        self.session.spawn(self._add_metrics())
        self.view.place_panes()

    def _show_summary(self) -> None:
        batch, summary = self.presenter.batch, self.presenter.summary()
        if summary is not None:
            possible = action_texts(batch) if batch else NO_ACTIONS
            self.run_list.summary_bar.show_summary(summary, possible)
            self.detail.set_retry(possible.retry)

    async def _add_metrics(self) -> None:
        if await self.presenter.load_metrics():
            self._show_summary()

    def _show_activity(self) -> None:
        presenter, batches = self.presenter, self.presenter.batches
        works: dict[BatchId | None, BatchActivity] = {
            batch.id: batch_activity(batch, batches.progress(batch.id), batches.queue_text(batch.id))
            for batch in batches.in_start_order()
        }
        if presenter.rejudge_progress is not None:
            works[None] = judging_activity(presenter.rejudge_progress)
        self.activity_bars.show_activities(works)

    # ------------------------------------------------------------------ events

    def _close(self) -> None:
        self._closed = True
        self.view.remember(self.session.settings)

    def _show_changes(self) -> None:
        changes = self.presenter.take_changes()
        if changes.batches:
            self.request_refresh()
        if changes.cases:
            self.session.spawn(self._cases_changed())
        self._show_changed_batches(changes)
        self._show_changed_runs(changes)
        if changes.cards or changes.judging:
            self._show_activity()
            self._show_badge()
        for ended in changes.ended:
            self.session.spawn(self._add_metrics())
            self.session.toast(ended_text(ended.batch, ended.reason))
        if self.presenter.changes.runs:
            self._event_timer.start()

    def _show_changed_batches(self, changes: ScreenChanges) -> None:
        if changes.new_batches:
            self._show_cards()
            self.view.show_panes(shown=True)
            if self.presenter.current is None and self.presenter.cross_batch is None:
                self._show_newest_batch()
        elif changes.ended:
            self._show_cards()
        else:
            self.view.update_cards(self.presenter.cards_of(changes.cards))
        if changes.judged:
            self.session.spawn(self._recount(changes.judged))

    def _show_changed_runs(self, changes: ScreenChanges) -> None:
        if changes.reload:
            self.session.spawn(self._show_batch(self.presenter.current))
        else:
            self.run_list.update_rows(changes.rows, self.presenter.table)
        if changes.rows.added:
            self.filter_controls.show_count()
        if changes.summary:
            self._show_summary()
        if changes.detail:
            self._detail_timer.start()

    async def _recount(self, batches: Collection[BatchId]) -> None:
        await self.presenter.reload_counts(batches)
        self.view.update_cards(self.presenter.cards_of(batches))
        self._show_activity()
        self._show_summary()
        await self._add_metrics()

    async def _cases_changed(self) -> None:
        await self.presenter.load_cases()
        self._show_buttons()
        if self.presenter.batches.newest() is None:
            self._show_empty()

    # ------------------------------------------------------------------ choosing

    def _choose_batch(self, batch_id: str) -> None:
        if batch_id and batch_id != self.presenter.current:
            self.session.spawn(self._show_batch(BatchId(batch_id)))

    async def _show_batch(self, batch_id: BatchId | None, run: RunId | None = None) -> None:
        self.presenter.run = run or self.presenter.run
        await self.presenter.show(batch_id)
        if batch_id == self.presenter.current:
            self.batch_list.select(batch_id or "")
            self._show_runs()

    async def _show_cross_batch(self, found: CrossBatchRuns, run: RunId | None = None) -> None:
        await self.presenter.show_cross_batch(found)
        if self.presenter.current is None:
            self.presenter.run = run
            self.batch_list.setCurrentIndex(QModelIndex())
            self._show_runs()

    def _show_newest_batch(self) -> None:
        if (newest := self.presenter.batches.newest()) is not None:
            self.session.spawn(self._show_batch(newest.id))

    def _show_filtered(self) -> None:
        self.session.spawn(self._show_batch(self.presenter.current))

    def _fetch(self, first: int, last: int) -> None:
        for page in self.presenter.table.request_missing_pages(first, last):
            self.session.spawn(self._fetch_page(page))

    async def _fetch_page(self, page: int) -> None:
        filled = await self.presenter.fetch_page(page)
        if filled is not None:
            self.run_list.show_page(filled)

    def _choose_run(self, run_id: str) -> None:
        self.presenter.run = RunId(run_id) if run_id else None
        self._detail_timer.start()

    def _load_detail(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
        self._loading = self.session.spawn(self._show_detail(self.presenter.run))

    async def _show_detail(self, run_id: RunId | None) -> None:
        detail = await self.presenter.detail(run_id) if run_id else None
        since = await self.presenter.tool_changes(detail) if detail else {}
        misleads = await self.presenter.misleading.shows(detail.summary) if detail else False
        if run_id == self.presenter.run:
            self.detail.show_run(detail, since, misleads=misleads)

    async def _show_started(self, batch: Batch) -> None:
        if not self.isVisible():
            self.session.go(ShowBatch(batch.id))
            return
        if self.presenter.batches.get(batch.id) is None:  # a known one may have ended since this answer was given
            self.presenter.batches.add(batch)
        self.presenter.run = None
        self.presenter.batch_runs_view = ViewState()
        await self.presenter.show(batch.id)
        self._show_all()
        await self._clear_hiding_filters(None)

    async def _open_sample(self) -> None:
        await self.presenter.open_sample()
        await self.refresh()

    def _delete(self, ids: Sequence[str]) -> None:
        self.session.spawn(self.batch_actions.delete(ids))

    def _retry(self) -> None:
        self.session.spawn(self.batch_actions.retry(self.presenter.current))

    def _resume(self) -> None:
        self.session.spawn(self.batch_actions.resume(self.presenter.current))

    def _pause_or_continue(self, batch_id: BatchId | None = None) -> None:
        self.session.spawn(self._steer(self.batch_actions.pause_or_continue(batch_id)))

    def _cancel(self, batch_id: BatchId | None = None) -> None:
        self.session.spawn(self._steer(self.batch_actions.cancel(batch_id)))

    async def _steer(self, work: Awaitable[None]) -> None:
        await work
        self._show_activity()
        self._show_summary()
