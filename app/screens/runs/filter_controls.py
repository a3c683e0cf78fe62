"""Search field, filter menu and chips of the runs screen, and the batch list's search and order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from app.core_link.session import Session
from app.screens.runs.batch_list import BatchListPane
from app.screens.runs.filters import (
    BatchListState,
    SavedFilters,
    active_count,
    filter_chips,
    filter_choices,
    load_filters,
    parse_order,
    save_filters,
    without_chip,
    without_filters,
)
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.runs_list import RunsList
from app.text.formatting import count
from app.widgets import Action, PageHeader
from mcp_tef import RunFilter, RunOrder

BATCH_ORDER_KEY = "runs.batches"
CROSS_BATCH_CHIP = "found"


class FilterControls:
    """`show` is called with every other filter, `show_rail` with another choice of batches.

    `leave_found` is wanted by who lets go of runs that another screen asked for.
    """

    def __init__(
        self,
        session: Session,
        presenter: RunsPresenter,
        header: PageHeader,
        runs: RunsList,
        rail: BatchListPane,
        show: Callable[[RunFilter], None],
        show_rail: Callable[[], None],
        leave_found: Callable[[], None],
    ) -> None:
        self._session = session
        self._presenter = presenter
        self._header = header
        self._runs = runs
        self._rail = rail
        self._show = show
        self._show_rail = show_rail
        self._leave_found = leave_found
        self._workspace: str | None = None
        self._text = ""
        self.search = header.set_search("Search runs")
        header.set_filter(self._actions)
        order, down = runs.order()
        presenter.where = RunFilter(order=order, descending=down)
        self._connect()

    def _connect(self) -> None:
        self.search.searched.connect(self.search_runs)
        self._runs.order_changed.connect(self._order)
        self._runs.clear_requested.connect(self.clear)
        self._runs.chips.cleared.connect(self._clear_all)
        self._runs.chips.removed.connect(self._remove)
        self._rail.state_changed.connect(self._change_batch_list)

    def restore(self) -> None:
        """Narrow the screen as it was when this workspace was left; once."""
        if self._workspace is not None:
            return
        self._workspace = self._session.workspace
        kept = load_filters(self._session.settings, self._workspace)
        presenter = self._presenter
        presenter.batch_filter = kept.apply_to(presenter.batch_filter if presenter.cross_batch else presenter.where)
        if presenter.cross_batch is None:
            presenter.where = presenter.batch_filter
        shelf = BatchListState(kept.batches, parse_order(self._session.settings.get(BATCH_ORDER_KEY, "")))
        presenter.batch_list_state = shelf
        self._rail.show_state(shelf)

    def show_filters(self) -> None:
        """Show what is in force."""
        presenter, where = self._presenter, self._presenter.table.where
        self._header.mark_filter(active_count(where))
        self._say_text(where.text)
        found = [(CROSS_BATCH_CHIP, presenter.cross_batch.title)] if presenter.cross_batch else []
        narrowing = ((chip.key, chip.text) for chip in filter_chips(where, presenter.unfiltered()))
        self._runs.chips.set_chips([*found, *narrowing])
        self.show_count()
        self._save()

    def show_count(self) -> None:
        """Say how many runs are shown of how many, where something narrows them."""
        presenter = self._presenter
        batch = presenter.batch(presenter.current)
        every = batch.total if batch else presenter.cross_batch.total if presenter.cross_batch else None
        shown = "" if every is None else f"{presenter.table.total:,} of {count(every, 'run')}"
        self._header.set_count(shown if filter_chips(presenter.table.where, presenter.unfiltered()) else "")

    def _say_text(self, text: str) -> None:
        """Words that came from elsewhere stand in the field too; what is being typed is left alone."""
        if text != self._text and not self.search.hasFocus():
            self.search.say(text)
        self._text = text

    def search_runs(self, text: str) -> None:
        """Show runs that say so."""
        if text.strip() != self._presenter.where.text:
            self._show(replace(self._presenter.where, text=text.strip()))

    def clear(self) -> None:
        """Show all runs: of the batch, or of those that another screen asked for."""
        self.search.say("")
        self._show(self._presenter.unfiltered())

    def show_all_batches(self) -> None:
        """Show every batch."""
        self._change_batch_list(BatchListState("", self._presenter.batch_list_state.order))

    def _remove(self, key: str) -> None:
        if key == CROSS_BATCH_CHIP:
            self._leave_found()
            return
        where = without_chip(self._presenter.where, self._presenter.unfiltered(), key)
        if not where.text:
            self.search.say("")
        self._show(where)

    def _clear_all(self) -> None:
        self._presenter.batch_filter = without_filters(self._presenter.batch_filter)
        if self._presenter.cross_batch is None:
            self.clear()
        else:
            self._leave_found()

    def _order(self, order: RunOrder, down: bool) -> None:
        self._show(replace(self._presenter.where, order=order, descending=down))

    def _change_batch_list(self, shelf: BatchListState) -> None:
        self._presenter.batch_list_state = shelf
        self._rail.show_state(shelf)
        self._session.settings.set(BATCH_ORDER_KEY, shelf.order.value)
        self._show_rail()
        self._save()

    def _save(self) -> None:
        """Runs that another screen asked for are not what the user will want to see at the next start."""
        if self._workspace is None:
            return
        runs = self._presenter.batch_filter if self._presenter.cross_batch else self._presenter.where
        narrowed = SavedFilters(batches=self._presenter.batch_list_state.text, runs=runs)
        save_filters(self._session.settings, self._workspace, narrowed)

    def _actions(self) -> Sequence[Action]:
        return [
            Action(
                text=choice.text,
                do=partial(self._show, choice.result),
                checked=choice.checked,
                apart=choice.separated,
            )
            for choice in filter_choices(self._presenter.where, self._presenter.unfiltered())
        ]
