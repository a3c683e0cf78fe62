"""The runs screen: batches on a rail, the runs of one, and one run in full."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QWidget

from app.commands import Command
from app.screens.runs.activity import activity, farewell, judging_activity
from app.screens.runs.batches import actions
from app.screens.runs.filtering import active, choices, without_filters
from app.screens.runs.found import NO_ACTIONS, Found
from app.screens.runs.presenter import Changes, RunsPresenter
from app.screens.runs.steering import EXPORT, Steering
from app.screens.runs.view import RunsView
from app.session import Page, Session
from app.text import count
from app.widgets import Action, button
from mcp_tef import Batch, BatchId, CaseId, Event, RunFilter, RunId, RunOrder

GATHER_MS = 50
SETTLE_MS = 40
MOST_AT_ONCE = 250


class RunsPage(Page):
    """Owns the presenter and the activity bar; hears every event of the core, visible or not."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="runs", title="Runs")
        self.presenter = RunsPresenter(session.call, lambda: datetime.now(UTC))
        self._heard: list[Event] = []
        self._closed = False
        self._loading: asyncio.Task[None] | None = None
        self._gather = self._timer(GATHER_MS, self._apply_heard)
        self._settle = self._timer(SETTLE_MS, self._load_detail)
        self.steering = Steering(session, self.presenter, self, self._show_started)
        self.view = RunsView()
        self.view.restore(session.settings)
        self.rail, self.list, self.detail = self.view.rail, self.view.list, self.view.detail
        self.header.set_search("Search runs").searched.connect(self._search)
        self.header.set_filter(self._filter_actions)
        self.export = button(Action(text=EXPORT, do=self.steering.export, icon="export"))
        self.header.place(self.export)
        self.body.addWidget(self.view, 1)
        self._connect()

    def _timer(self, pause: int, do: Callable[[], None]) -> QTimer:
        made = QTimer(self, singleShot=True, interval=pause)
        made.timeout.connect(do)
        return made

    def _connect(self) -> None:
        self.session.events.connect(self._hear)
        for timer in (self._gather, self._settle):
            self.session.closing.connect(timer.stop)
        self.session.closing.connect(self._close)
        self.rail.chosen.connect(self._choose_batch)
        self.rail.set_menu(lambda ids: self.steering.menu(ids, self._delete))
        self.rail.delete_wanted.connect(self._delete)
        self.list.table.chosen.connect(self._choose_run)
        self.list.table.set_menu(self.steering.run_menu)
        self.list.wanted.connect(self._fetch)
        self.list.ordered.connect(self._order)
        self.list.unfilter_wanted.connect(self._unfilter)
        self.list.strip.retry_wanted.connect(self._retry)
        self.list.strip.resume_wanted.connect(self._resume)
        self.view.retry_wanted.connect(self._retry)
        bar = self.session.activity
        bar.pause_wanted.connect(self._pause_or_proceed)
        bar.resume_wanted.connect(self._pause_or_proceed)
        bar.cancel_wanted.connect(self._cancel)

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        first = self.presenter.current is None
        await self.presenter.load()
        self._show_all()
        if self.presenter.run is not None:
            self._settle.start()
        if first and self.isVisible() and not self.isAncestorOf(self.focusWidget() or self):
            self._take_focus()

    def receive(self, events: tuple[Event, ...]) -> bool:
        return True

    def arrive(self, target: object) -> None:
        match target:
            case ("start", tuple() as cases):
                self.steering.open_form(tuple(CaseId(str(case)) for case in cases))
            case ("filter", RunFilter() as where, str(title)):
                self.presenter.found = Found(title=title, where=where)
                self.session.spawn(self._show_found(self.presenter.found))
            case ("batch", str(batch_id)):
                self.session.spawn(self._show_batch(BatchId(batch_id)))
            case _:
                return

    def commands(self) -> Sequence[Command]:
        live = self.presenter.live
        return (
            Command(id="runs.start", text="Run test cases", do=self.steering.open_form, keys="Ctrl+R", group="Runs"),
            Command(
                id="runs.pause",
                text="Pause or continue the batch under way",
                do=self._pause_or_proceed,
                keys="Ctrl+Shift+P",
                needs=lambda: live() is not None,
                group="Runs",
            ),
            Command(
                id="runs.cancel",
                text="Cancel the batch under way",
                do=self._cancel,
                needs=lambda: live() is not None,
                group="Runs",
            ),
            Command(
                id="runs.rejudge",
                text="Judge the chosen runs again",
                do=lambda: self.steering.judge_again(self.list.table.selected_ids()),
                keys="Ctrl+J",
                needs=lambda: bool(self.list.table.selected_ids()),
                group="Runs",
            ),
            Command(
                id="runs.rejudge_batch",
                text="Judge this batch again",
                do=lambda: self.steering.judge_again(batch_id=self.presenter.current),
                needs=lambda: self.presenter.current is not None and live() is None,
                group="Runs",
            ),
            Command(
                id="runs.export",
                text="Export the results shown",
                do=self.steering.export,
                needs=lambda: self.steering.exportable() is not None,
                group="Runs",
            ),
        )

    def first_focus(self) -> QWidget | None:
        return self.list.table if self.presenter.current else next(iter(self.header.buttons()), None)

    def _take_focus(self) -> None:
        if (widget := self.first_focus()) is not None:
            widget.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ showing

    def _show_all(self) -> None:
        presenter = self.presenter
        self._show_buttons()
        self.view.show_panes(shown=bool(presenter.batches()))
        if not presenter.batches():
            self._show_empty()
        self.view.show_cards(presenter.cards(), presenter.current)
        self._show_runs()
        self._show_activity()
        self._show_badge()

    def _show_badge(self) -> None:
        newest = next(iter(self.presenter.batches()), None)
        self.set_badge(newest.count("failed") if newest else 0)

    def _show_buttons(self) -> None:
        cases = len(self.presenter.cases)
        text = f"Run {count(cases, 'case')}" if cases else "Run"
        tip = "Choose cases and a model, then run (Ctrl+R)"
        self.header.set_buttons(
            [Action(text=text, do=self.steering.open_form, kind="primary", icon="play", enabled=cases > 0, tip=tip)]
        )

    def _show_empty(self) -> None:
        cases = len(self.presenter.cases)
        if not cases:
            sentence = "A run asks a model to pick a tool for a test case. Write a case first, or open the sample."
            go = Action(text="Go to test cases", do=lambda: self.session.go("cases"), kind="primary")
            sample = Action(text="Open the sample", do=lambda: self.session.spawn(self._open_sample()))
            self.view.empty.set("check-square", "No test cases to run", sentence, [go, sample])
            return
        sentence = (
            "A run asks a selector to pick a tool for each case, and judges what it picked. "
            "The offline baseline needs no key and no network."
        )
        now = Action(
            text=f"Run {count(cases, 'case')} offline",
            do=lambda: self.session.spawn(self.steering.run_offline()),
            kind="primary",
            icon="play",
        )
        choose = Action(text="Choose a model…", do=self.steering.open_form)
        self.view.empty.set("play-circle", "Nothing has run yet", sentence, [now, choose])

    def _show_runs(self) -> None:
        self.export.setEnabled(self.steering.exportable() is not None)
        batch = self.presenter.batch(self.presenter.current)
        if batch is None and self.presenter.found is None:
            self.detail.show_run(None)
            return
        self._show_summary()
        self.header.mark_filter(active(self.presenter.table.where))
        self.list.show_table(self.presenter.table, models=len(batch.models) if batch else 2, keep=self.presenter.run)
        if self.list.table.current_id() != (self.presenter.run or ""):
            self._choose_run(self.list.table.current_id())
        self.session.spawn(self._add_recall())
        self.view.place_panes()

    def _show_summary(self) -> None:
        batch, summary = self.presenter.batch(self.presenter.current), self.presenter.summary()
        if summary is not None:
            possible = actions(batch) if batch else NO_ACTIONS
            self.list.strip.show_summary(summary, possible)
            self.detail.set_retry(possible.retry)

    async def _add_recall(self) -> None:
        if await self.presenter.load_recall():
            self._show_summary()

    def _show_activity(self) -> None:
        batch, judging = self.presenter.live(), self.presenter.judging
        if batch is not None:
            now = activity(batch, self.presenter.progress(batch.id))
        elif judging is not None:
            now = judging_activity(judging)
        else:
            self.session.activity.clear()
            return
        self.session.activity.set_state(now.fraction, now.lead, now.parts, paused=now.paused, can_pause=now.can_pause)

    # ------------------------------------------------------------------ events, gathered

    def _close(self) -> None:
        self._closed = True
        self.view.remember(self.session.settings)

    def _hear(self, events: tuple[Event, ...]) -> None:
        self._heard.extend(events)
        if not self._gather.isActive() and not self._closed:
            self._gather.start()

    def _apply_heard(self) -> None:
        events, self._heard = self._heard[:MOST_AT_ONCE], self._heard[MOST_AT_ONCE:]
        self._apply(self.presenter.handle(events))
        if self._heard:
            self._gather.start()

    def _apply(self, changes: Changes) -> None:
        if changes.cases:
            self.session.spawn(self._cases_changed())
        if changes.new_batches:
            self.view.show_cards(self.presenter.cards(), self.presenter.current)
            self.view.show_panes(shown=True)
            if self.presenter.current is None and self.presenter.found is None:
                self.session.spawn(self._show_batch(self.presenter.batches()[0].id))
        elif changes.cards:
            self.view.mend_cards(self.presenter.card(batch_id) for batch_id in changes.cards)
        if changes.reload:
            self.session.spawn(self._show_batch(self.presenter.current))
        else:
            self.list.mend(changes.mended, self.presenter.table)
        if changes.summary:
            self._show_summary()
        if changes.detail:
            self._settle.start()
        if changes.cards or changes.judging:
            self._show_activity()
            self._show_badge()
        if changes.judged:
            self.session.spawn(self._recount(changes.judged))
        for ended in changes.ended:
            result = self.presenter.card(ended.batch.id).result
            self.session.spawn(self._add_recall())
            self.session.toast(farewell(ended.batch, result, ended.reason))

    async def _recount(self, batches: Collection[BatchId]) -> None:
        await self.presenter.recount(batches)
        self.view.mend_cards(self.presenter.card(batch_id) for batch_id in batches)
        self._show_activity()
        self._show_summary()
        await self._add_recall()

    async def _cases_changed(self) -> None:
        await self.presenter.load_cases()
        self._show_buttons()
        if not self.presenter.batches():
            self._show_empty()

    # ------------------------------------------------------------------ choosing

    def _choose_batch(self, batch_id: str) -> None:
        if batch_id and batch_id != self.presenter.current:
            self.session.spawn(self._show_batch(BatchId(batch_id)))

    async def _show_batch(self, batch_id: BatchId | None) -> None:
        await self._show_where(batch_id, self.presenter.table.where)

    async def _show_found(self, found: Found) -> None:
        await self.presenter.show_found(found)
        if self.presenter.current is None:
            self.rail.setCurrentIndex(QModelIndex())
            self._show_runs()

    async def _show_where(self, batch_id: BatchId | None, where: RunFilter) -> None:
        await self.presenter.show(batch_id, where)
        if batch_id == self.presenter.current:
            self.rail.select(batch_id or "")
            self._show_runs()

    def _change_where(self, where: RunFilter) -> None:
        self.session.spawn(self._show_where(self.presenter.current, where))

    def _search(self, text: str) -> None:
        self._change_where(replace(self.presenter.table.where, text=text.strip()))

    def _order(self, order: RunOrder, down: bool) -> None:
        self._change_where(replace(self.presenter.table.where, order=order, descending=down))

    def _unfilter(self) -> None:
        if self.header.search is not None:
            self.header.search.clear()
        self._change_where(self.presenter.unfiltered())

    def _filter_actions(self) -> Sequence[Action]:
        return [
            Action(
                text=choice.text,
                do=partial(self._change_where, choice.gives),
                checked=choice.ticked,
                apart=choice.apart,
            )
            for choice in choices(self.presenter.table.where, self.presenter.unfiltered())
        ]

    def _fetch(self, first: int, last: int) -> None:
        for page in self.presenter.table.missing(first, last):
            self.session.spawn(self._fetch_page(page))

    async def _fetch_page(self, page: int) -> None:
        filled = await self.presenter.fetch(page)
        if filled is not None:
            self.list.fill(filled)

    def _choose_run(self, run_id: str) -> None:
        self.presenter.run = RunId(run_id) if run_id else None
        self._settle.start()

    def _load_detail(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
        self._loading = self.session.spawn(self._show_detail(self.presenter.run))

    async def _show_detail(self, run_id: RunId | None) -> None:
        detail = await self.presenter.detail(run_id) if run_id else None
        since = await self.presenter.since(detail) if detail else {}
        if run_id == self.presenter.run:
            self.detail.show_run(detail, since)

    # ------------------------------------------------------------------ steering

    async def _show_started(self, batch: Batch) -> None:
        self.presenter.follow(batch)
        self.presenter.run = None
        await self.presenter.show(batch.id, without_filters(self.presenter.table.where))
        self._show_all()

    async def _open_sample(self) -> None:
        await self.session.call(lambda core: core.open_sample())
        await self.refresh()

    def _delete(self, ids: Sequence[str]) -> None:
        self.session.spawn(self._delete_and_show(ids))

    async def _delete_and_show(self, ids: Sequence[str]) -> None:
        await self.steering.delete(ids)
        self._show_all()

    def _retry(self) -> None:
        self.session.spawn(self.steering.retry(self.presenter.current))

    def _resume(self) -> None:
        self.session.spawn(self.steering.resume(self.presenter.current))

    def _pause_or_proceed(self) -> None:
        self.session.spawn(self._steer(self.steering.pause_or_proceed()))

    def _cancel(self) -> None:
        self.session.spawn(self._steer(self.steering.cancel()))

    async def _steer(self, work: Awaitable[None]) -> None:
        await work
        self._show_activity()
        self._show_summary()
