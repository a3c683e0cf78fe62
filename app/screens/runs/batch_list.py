"""The list of batches with its search field and sort menu."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.screens.runs.filters import ORDERS, BatchOrder, Shelf
from app.theme import Role, Size, height
from app.widgets import Action, FlowText, IconButton, Label, RailList, RailRow, Rule, show_menu
from app.widgets.fields import SearchField

FEW = 2


class BatchRail(QWidget):
    """`shelved` gives which batches are wanted, and in which order. The field is there once there are some to find."""

    shelved = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf()
        self.list = RailList("Batches", row_height=height("batch_card"), many=True)
        self.search = SearchField("Find a batch")
        self.sort = IconButton("sort-ascending", "")
        self.count = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self.nothing = FlowText("No batch fits. Esc in the field shows all.", size=Size.SMALL, role=Role.DIM)
        self._cards = QStackedWidget()
        self._lay_out()
        self.search.searched.connect(lambda text: self._change(Shelf(text.strip(), self.shelf.order)))
        self.sort.clicked.connect(self._open_orders)
        self.show_shelf(self.shelf)

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
        self._finding = QWidget()
        finding = QVBoxLayout(self._finding)
        finding.setContentsMargins(8, 0, 8, 8)
        finding.addWidget(self.search)
        empty = QWidget()
        said = QVBoxLayout(empty)
        said.setContentsMargins(16, 12, 16, 12)
        said.addWidget(self.nothing)
        said.addStretch(1)
        self._cards.addWidget(self.list)
        self._cards.addWidget(empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (heading, self._finding, Rule(), self._cards):
            column.addWidget(part)

    def show_shelf(self, shelf: Shelf) -> None:
        """Say which batches are wanted, without telling anyone."""
        self.shelf = shelf
        if self.search.text().strip() != shelf.text:
            self.search.say(shelf.text)
        self.sort.set_icon("sort-ascending", f"Sort batches, now: {ORDERS[shelf.order].lower()}")

    def show_cards(self, rows: Sequence[RailRow], every: int) -> None:
        """Show these cards out of so many batches."""
        self.list.set_rows(rows)
        self.count.setText(f"{len(rows):,} of {every:,}" if self.shelf.text else "")
        for part in (self._finding, self.sort):
            part.setVisible(every >= FEW or bool(self.shelf.text))
        self._cards.setCurrentIndex(0 if rows else 1)

    def focus_search(self) -> None:
        """Put the keyboard into the field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def orders(self) -> list[Action]:
        """The ways to sort, the one in force ticked."""
        return [
            Action(text=words, do=partial(self._sort, order), checked=order is self.shelf.order)
            for order, words in ORDERS.items()
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down and Enter lead from the field to what was found."""
        to_cards = event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if to_cards and self.focusWidget() is self.search:
            self._sort(self.shelf.order)
            if not self.list.current_id():
                self.list.select_first()
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def _sort(self, order: BatchOrder) -> None:
        self._change(Shelf(self.search.text().strip(), order))

    def _change(self, shelf: Shelf) -> None:
        if shelf != self.shelf:
            self.show_shelf(shelf)
            self.shelved.emit(shelf)

    def _open_orders(self) -> None:
        show_menu(self.orders(), self.sort.mapToGlobal(QPoint(0, self.sort.height() + 4)), self)
