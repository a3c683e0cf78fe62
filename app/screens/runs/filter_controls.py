"""Widgets that search, filter and sort runs and batches; their view states are saved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.session import Session
from app.screens.kit import SortState, ViewState, ViewStates
from app.screens.kit.menus import filter_actions, sort_actions
from app.screens.runs.filters import BATCH_ORDERS, FIELDS
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.runs_list import RunsList
from app.text.formatting import count
from app.theme import Role, Size, height
from app.widgets import (
    Action,
    CardList,
    CardRow,
    FlowText,
    IconButton,
    Label,
    PageHeader,
    Rule,
    column_layout,
    row_layout,
    show_menu,
)
from app.widgets.fields import SearchField
from mcp_tef import RunOrder

MIN_BATCHES_TO_SEARCH = 2


class BatchListPane(QWidget):
    """List of batches; its search field is hidden while there are too few to search."""

    view_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.view = ViewState()
        self.list = CardList("Batches", row_height=height("batch_card"), many=True)
        self.search = SearchField("Find a batch")
        self.sort = IconButton("sort-ascending", "")
        self.count = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self.no_match = FlowText("No batch matches. Press Esc to show all.", size=Size.SMALL, role=Role.DIM)
        self._cards = QStackedWidget()
        self._lay_out()
        self.search.searched.connect(lambda text: self._change(replace(self.view, text=text.strip())))
        self.sort.clicked.connect(self._open_orders)
        self.show_view(self.view)

    def _lay_out(self) -> None:
        head = row_layout(
            None,
            Label("Batches", size=Size.SMALL, role=Role.DIM, label=True),
            self.count,
            margins=(16, 0, 8, 0),
            spacing=None,
        )
        head.addStretch(1)
        head.addWidget(Label("Correct call", size=Size.SMALL, role=Role.DIM))
        head.addWidget(self.sort)
        heading = QWidget()
        heading.setFixedHeight(height("list_header"))
        heading.setLayout(head)
        self._search_box = QWidget()
        column_layout(self._search_box, self.search, margins=(8, 0, 8, 8), spacing=None)
        empty = QWidget()
        centered = column_layout(empty, self.no_match, margins=(16, 12, 16, 12), spacing=None)
        centered.addStretch(1)
        self._cards.addWidget(self.list)
        self._cards.addWidget(empty)
        column_layout(self, heading, self._search_box, Rule(), self._cards)

    def show_view(self, view: ViewState) -> None:
        """Show a query and sort order without emitting `view_changed`."""
        self.view = view
        if self.search.text().strip() != view.text:
            self.search.say(view.text)
        order = next(action.text for action in self.sort_actions() if action.checked)
        self.sort.set_icon("sort-ascending", f"Sort batches, now: {order.lower()}")

    def show_cards(self, rows: Sequence[CardRow], total: int) -> None:
        """Show these cards out of all batches."""
        self.list.set_rows(rows)
        self.count.setText(f"{len(rows):,} of {total:,}" if self.view.text else "")
        for part in (self._search_box, self.sort):
            part.setVisible(total >= MIN_BATCHES_TO_SEARCH or bool(self.view.text))
        self._cards.setCurrentIndex(0 if rows else 1)

    def focus_search(self) -> None:
        """Focus the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def sort_actions(self) -> list[Action]:
        """Return the entries of the sort menu."""
        return sort_actions(BATCH_ORDERS, self.view.sort.name, self._sort)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from the search field to the batches found with Down or Enter."""
        to_cards = event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if to_cards and self.focusWidget() is self.search:
            self._sort(self.view.sort.name)
            if not self.list.current_id():
                self.list.select_first()
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def _sort(self, order: str) -> None:
        self._change(replace(self.view, text=self.search.text().strip(), sort=SortState(order)))

    def _change(self, view: ViewState) -> None:
        if view != self.view:
            self.show_view(view)
            self.view_changed.emit(view)

    def _open_orders(self) -> None:
        show_menu(self.sort_actions(), self.sort.mapToGlobal(QPoint(0, self.sort.height() + 4)), self)


BATCHES = "batches"
CROSS_BATCH_CHIP = "cross batch"
TEXT_CHIP = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCallbacks:
    """Callbacks of the page: show other runs, show other batches, and leave the cross-batch view."""

    show_runs: Callable[[], object]
    show_batches: Callable[[], object]
    leave_cross_batch: Callable[[], object]


class FilterControls:
    """Widgets that set the presenter's views of runs and batches."""

    def __init__(
        self,
        session: Session,
        presenter: RunsPresenter,
        header: PageHeader,
        runs: RunsList,
        batches: BatchListPane,
        callbacks: FilterCallbacks,
    ) -> None:
        self._presenter = presenter
        self._header = header
        self._runs = runs
        self._batches = batches
        self._callbacks = callbacks
        self._text = ""
        self._views = ViewStates(session.settings, session.workspace, "runs")
        presenter.view = presenter.batch_runs_view = self._views.load(FIELDS)
        presenter.batch_list_view = self._views.load(part=BATCHES)
        presenter.order, presenter.descending = runs.order()
        batches.show_view(presenter.batch_list_view)
        self.search = header.set_search("Search runs")
        header.set_filter(self._filter_actions)
        self._connect()

    def _connect(self) -> None:
        self.search.searched.connect(self.search_runs)
        self._runs.order_changed.connect(self._sort)
        self._runs.clear_requested.connect(self.clear)
        self._runs.chips.cleared.connect(self._clear_all)
        self._runs.chips.removed.connect(self._remove)
        self._batches.view_changed.connect(self._show_batches)

    def show_filters(self) -> None:
        """Show search, filters and count in force, and save them."""
        presenter, view = self._presenter, self._presenter.view
        self._header.mark_filter(len(view.filters))
        self._show_text(view.text)
        chips = [(chip.key, chip.text) for chip in FIELDS.chips(view.filters)]
        if view.text:
            chips.insert(0, (TEXT_CHIP, f"“{view.text}”"))
        if presenter.cross_batch:
            chips.insert(0, (CROSS_BATCH_CHIP, presenter.cross_batch.title))
        self._runs.chips.set_chips(chips)
        self.show_count()
        self._views.save(presenter.batch_runs_view, FIELDS)

    def show_count(self) -> None:
        """Show how many of all runs pass search and filters."""
        presenter, total = self._presenter, self._presenter.total_runs()
        filtered = presenter.view.text or presenter.view.filters
        text = f"{presenter.table.total:,} of {count(total, 'run')}" if filtered and total is not None else ""
        self._header.set_count(text)

    def _show_text(self, text: str) -> None:
        """Show a query that a link set; a field that is being typed into is left alone."""
        if text != self._text and not self.search.hasFocus():
            self.search.say(text)
        self._text = text

    def show_runs(self, view: ViewState) -> None:
        """Show the runs that pass another search or other filters."""
        self._presenter.change_view(view)
        self._callbacks.show_runs()

    def search_runs(self, text: str) -> None:
        """Show the runs that contain a text."""
        if text.strip() != self._presenter.view.text:
            self.show_runs(replace(self._presenter.view, text=text.strip()))

    def clear(self) -> None:
        """Show all runs of the batch or of the cross-batch view."""
        self.search.say("")
        self.show_runs(ViewState())

    def show_all_batches(self) -> None:
        """Clear the search for batches."""
        self._show_batches(replace(self._presenter.batch_list_view, text=""))

    def _remove(self, key: str) -> None:
        view = self._presenter.view
        if key == CROSS_BATCH_CHIP:
            self._callbacks.leave_cross_batch()
        elif key == TEXT_CHIP:
            self.search.say("")
            self.show_runs(replace(view, text=""))
        else:
            self.show_runs(replace(view, filters=FIELDS.without_chip(view.filters, key)))

    def _clear_all(self) -> None:
        self._presenter.batch_runs_view = ViewState()
        if self._presenter.cross_batch is None:
            self.clear()
        else:
            self._callbacks.leave_cross_batch()

    def _sort(self, order: RunOrder, descending: bool) -> None:
        self._presenter.order, self._presenter.descending = order, descending
        self._callbacks.show_runs()

    def _show_batches(self, view: ViewState) -> None:
        self._presenter.batch_list_view = view
        self._batches.show_view(view)
        self._views.save(view, part=BATCHES)
        self._callbacks.show_batches()

    def _filter_actions(self) -> Sequence[Action]:
        view = self._presenter.view
        return filter_actions(
            FIELDS,
            view.filters,
            lambda filters: self.show_runs(replace(view, filters=filters)),
            show_all="Show all runs",
        )
