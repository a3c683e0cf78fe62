"""Every pair as a row: the map for those who read rather than look, sortable and searchable."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.similarity.pairs import PairList, Places, places_of, row_id
from app.screens.similarity.rows import NARROW_OUT, PAIR_COLUMNS, SORTED_BY
from app.screens.similarity.words import STANDINGS
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import FlowText, ListTable
from app.widgets.chips import ChipRow
from mcp_tef import MatrixKind

ROOMY = 1060
STEP = 90


class PairsPane(QWidget):
    """`opened` gives a pair, `sort_wanted` the score by which the most alike of very many are to be fetched."""

    chosen = Signal(int, int)
    opened = Signal(int, int)
    sort_wanted = Signal(object)
    standing_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.list = PairList()
        self._marking = False
        self.table = ListTable(PAIR_COLUMNS, "Pairs of tools")
        self.table.tell_keys(Enter="Open the pair side by side")
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.chips = ChipRow("Restriction")
        self.chips.removed.connect(lambda _: self.standing_cleared.emit())
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(lambda row: self._emit(self.opened, row))
        self.table.sorted.connect(self._sorted)
        below = QHBoxLayout()
        below.setContentsMargins(16, 6, 16, 6)
        below.addWidget(self.note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.chips)
        column.addWidget(self.table, 1)
        column.addLayout(below)

    def show_pairs(self, found: PairList) -> None:
        """Show these pairs."""
        self.list = found
        standing = found.query.standing
        self.chips.set_chips([(standing.value, STANDINGS[standing])] if standing else [])
        self._marking = True
        self.table.set_rows(found.table)
        self._marking = False
        self.note.set_text(list_words(found))

    def mark(self, places: Places | None) -> None:
        """Select the row of a pair that was chosen elsewhere."""
        self._marking = True
        if places is not None:
            self.table.select(row_id(places))
        self._marking = False

    def _choose(self, row: str) -> None:
        if not self._marking:
            self._emit(self.chosen, row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, names are worth more than further scores."""
        super().resizeEvent(event)
        short = max(0, sized(ROOMY) - event.size().width())
        for number, key in enumerate(NARROW_OUT):
            place = next(n for n, column in enumerate(PAIR_COLUMNS) if column.key == key)
            self.table.setColumnHidden(place, short > number * sized(STEP))

    def _emit(self, signal: object, row: str) -> None:
        if row:
            signal.emit(*places_of(row))  # type: ignore[attr-defined]  # the stubs hide that a signal emits

    def _sorted(self, key: str, down: bool) -> None:
        cut = self.list.fitting > len(self.list.rows)
        if cut and down and key in SORTED_BY:
            self.sort_wanted.emit(SORTED_BY[key])
        elif cut and not key:
            self.sort_wanted.emit(MatrixKind.SIMILARITY)


def list_words(found: PairList) -> str:
    """How many pairs there are, and which of them are shown."""
    shown = len(found.rows)
    if not found.fitting:
        narrowed = [
            words
            for words, holds in (("empty the search", found.query.text), ("take the chip away", found.query.standing))
            if holds
        ]
        return f"No pair fits: {' or '.join(narrowed)} to see others." if narrowed else "There is no pair to compare."
    if shown == found.fitting:
        return count(shown, "pair")
    return (
        f"The {shown:,} pairs highest in {found.query.by.value} of {found.fitting:,}. Search for a tool to see others."
    )
