"""The list of batches with its search field and sort menu."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.screens.kit import SortState, ViewState
from app.screens.kit.menus import sort_actions
from app.screens.runs.filters import BATCH_ORDERS
from app.theme import Role, Size, height
from app.widgets import Action, CardList, CardRow, FlowText, IconButton, Label, Rule, show_menu
from app.widgets.fields import SearchField

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
        head = QHBoxLayout()
        head.setContentsMargins(16, 0, 8, 0)
        head.addWidget(Label("Batches", size=Size.SMALL, role=Role.DIM, label=True))
        head.addWidget(self.count)
        head.addStretch(1)
        head.addWidget(self.sort)
        heading = QWidget()
        heading.setFixedHeight(height("rail_header"))
        heading.setLayout(head)
        self._search_box = QWidget()
        search_box = QVBoxLayout(self._search_box)
        search_box.setContentsMargins(8, 0, 8, 8)
        search_box.addWidget(self.search)
        empty = QWidget()
        centered = QVBoxLayout(empty)
        centered.setContentsMargins(16, 12, 16, 12)
        centered.addWidget(self.no_match)
        centered.addStretch(1)
        self._cards.addWidget(self.list)
        self._cards.addWidget(empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (heading, self._search_box, Rule(), self._cards):
            column.addWidget(part)

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
