"""The list of batches with its search field and sort menu."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.screens.runs.filters import ORDER_LABELS, BatchListState, BatchOrder
from app.theme import Role, Size, height
from app.widgets import Action, CardList, CardRow, FlowText, IconButton, Label, Rule, show_menu
from app.widgets.fields import SearchField

MIN_BATCHES_TO_SEARCH = 2


class BatchListPane(QWidget):
    """`shelved` gives which batches are wanted, and in which order. The field is there once there are some to find."""

    state_changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.state = BatchListState()
        self.list = CardList("Batches", row_height=height("batch_card"), many=True)
        self.search = SearchField("Find a batch")
        self.sort = IconButton("sort-ascending", "")
        self.count = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self.no_match = FlowText("No batch matches. Press Esc to show all.", size=Size.SMALL, role=Role.DIM)
        self._cards = QStackedWidget()
        self._lay_out()
        self.search.searched.connect(lambda text: self._change(BatchListState(text.strip(), self.state.order)))
        self.sort.clicked.connect(self._open_orders)
        self.show_state(self.state)

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
        said.addWidget(self.no_match)
        said.addStretch(1)
        self._cards.addWidget(self.list)
        self._cards.addWidget(empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (heading, self._finding, Rule(), self._cards):
            column.addWidget(part)

    def show_state(self, shelf: BatchListState) -> None:
        """Say which batches are wanted, without telling anyone."""
        self.state = shelf
        if self.search.text().strip() != shelf.text:
            self.search.say(shelf.text)
        self.sort.set_icon("sort-ascending", f"Sort batches, now: {ORDER_LABELS[shelf.order].lower()}")

    def show_cards(self, rows: Sequence[CardRow], every: int) -> None:
        """Show these cards out of so many batches."""
        self.list.set_rows(rows)
        self.count.setText(f"{len(rows):,} of {every:,}" if self.state.text else "")
        for part in (self._finding, self.sort):
            part.setVisible(every >= MIN_BATCHES_TO_SEARCH or bool(self.state.text))
        self._cards.setCurrentIndex(0 if rows else 1)

    def focus_search(self) -> None:
        """Put the keyboard into the field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def sort_actions(self) -> list[Action]:
        """The ways to sort, the one in force ticked."""
        return [
            Action(text=words, do=partial(self._sort, order), checked=order is self.state.order)
            for order, words in ORDER_LABELS.items()
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down and Enter lead from the field to what was found."""
        to_cards = event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if to_cards and self.focusWidget() is self.search:
            self._sort(self.state.order)
            if not self.list.current_id():
                self.list.select_first()
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def _sort(self, order: BatchOrder) -> None:
        self._change(BatchListState(self.search.text().strip(), order))

    def _change(self, shelf: BatchListState) -> None:
        if shelf != self.state:
            self.show_state(shelf)
            self.state_changed.emit(shelf)

    def _open_orders(self) -> None:
        show_menu(self.sort_actions(), self.sort.mapToGlobal(QPoint(0, self.sort.height() + 4)), self)
