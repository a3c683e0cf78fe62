"""Search field, filter menu and chips of the runs screen, and the batch list's search and order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from app.core_link.session import Session
from app.screens.runs.batch_list import BatchRail
from app.screens.runs.filters import (
    Narrowed,
    Shelf,
    active,
    chips,
    choices,
    keep_narrowed,
    narrowed_in,
    order_of,
    without_chip,
    without_filters,
)
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.runs_list import RunsList
from app.text.formatting import count
from app.widgets import Action, PageHeader
from mcp_tef import RunFilter, RunOrder

ORDER = "runs.batches"
FOUND = "found"


class Narrowing:
    """`show` is called with every other filter, `show_rail` with another choice of batches.

    `leave_found` is wanted by who lets go of runs that another screen asked for.
    """

    def __init__(
        self,
        session: Session,
        presenter: RunsPresenter,
        header: PageHeader,
        runs: RunsList,
        rail: BatchRail,
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
        self.search.searched.connect(self.find)
        self._runs.ordered.connect(self._order)
        self._runs.unfilter_wanted.connect(self.clear)
        self._runs.chips.cleared.connect(self._clear_all)
        self._runs.chips.removed.connect(self._remove)
        self._rail.shelved.connect(self._shelve)

    async def restore(self) -> None:
        """Narrow the screen as it was when this workspace was left; once."""
        if self._workspace is not None:
            return
        self._workspace = str(await self._session.value(lambda core: core.workspace))
        kept = narrowed_in(self._session.settings, self._workspace)
        presenter = self._presenter
        presenter.usual = kept.onto(presenter.usual if presenter.found else presenter.where)
        if presenter.found is None:
            presenter.where = presenter.usual
        shelf = Shelf(kept.batches, order_of(self._session.settings.get(ORDER, "")))
        presenter.shelf = shelf
        self._rail.show_shelf(shelf)

    def show_now(self) -> None:
        """Show what is in force."""
        presenter, where = self._presenter, self._presenter.table.where
        self._header.mark_filter(active(where))
        self._say_text(where.text)
        found = [(FOUND, presenter.found.title)] if presenter.found else []
        narrowing = ((chip.key, chip.text) for chip in chips(where, presenter.unfiltered()))
        self._runs.chips.set_chips([*found, *narrowing])
        self.count_now()
        self._keep()

    def count_now(self) -> None:
        """Say how many runs are shown of how many, where something narrows them."""
        presenter = self._presenter
        batch = presenter.batch(presenter.current)
        every = batch.total if batch else presenter.found.total if presenter.found else None
        shown = "" if every is None else f"{presenter.table.total:,} of {count(every, 'run')}"
        self._header.set_count(shown if chips(presenter.table.where, presenter.unfiltered()) else "")

    def _say_text(self, text: str) -> None:
        """Words that came from elsewhere stand in the field too; what is being typed is left alone."""
        if text != self._text and not self.search.hasFocus():
            self.search.say(text)
        self._text = text

    def find(self, text: str) -> None:
        """Show runs that say so."""
        if text.strip() != self._presenter.where.text:
            self._show(replace(self._presenter.where, text=text.strip()))

    def clear(self) -> None:
        """Show all runs: of the batch, or of those that another screen asked for."""
        self.search.say("")
        self._show(self._presenter.unfiltered())

    def find_all(self) -> None:
        """Show every batch."""
        self._shelve(Shelf("", self._presenter.shelf.order))

    def _remove(self, key: str) -> None:
        if key == FOUND:
            self._leave_found()
            return
        where = without_chip(self._presenter.where, self._presenter.unfiltered(), key)
        if not where.text:
            self.search.say("")
        self._show(where)

    def _clear_all(self) -> None:
        self._presenter.usual = without_filters(self._presenter.usual)
        if self._presenter.found is None:
            self.clear()
        else:
            self._leave_found()

    def _order(self, order: RunOrder, down: bool) -> None:
        self._show(replace(self._presenter.where, order=order, descending=down))

    def _shelve(self, shelf: Shelf) -> None:
        self._presenter.shelf = shelf
        self._rail.show_shelf(shelf)
        self._session.settings.set(ORDER, shelf.order.value)
        self._show_rail()
        self._keep()

    def _keep(self) -> None:
        """Runs that another screen asked for are not what the user will want to see at the next start."""
        if self._workspace is None:
            return
        runs = self._presenter.usual if self._presenter.found else self._presenter.where
        narrowed = Narrowed(batches=self._presenter.shelf.text, runs=runs)
        keep_narrowed(self._session.settings, self._workspace, narrowed)

    def _actions(self) -> Sequence[Action]:
        return [
            Action(
                text=choice.text,
                do=partial(self._show, choice.gives),
                checked=choice.ticked,
                apart=choice.apart,
            )
            for choice in choices(self._presenter.where, self._presenter.unfiltered())
        ]
