"""Tables of pairs, of groups and of near-duplicates: the map's content for keyboard and screen reader."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.screens.similarity.analysis import SimilarityAnalysis
from app.screens.similarity.labels import STATUS_LABELS
from app.screens.similarity.pair_list import (
    DUPLICATE_COLUMNS,
    GROUP_COLUMNS,
    HIDDEN_WHEN_NARROW,
    PAIR_COLUMNS,
    SORT_SCORES,
    PairIndices,
    PairList,
    duplicate_rows,
    group_rows,
    pair_of_row,
    row_id,
)
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import Action, FlowText, LineText, ListTable, Rule, column_layout, row_layout
from app.widgets.tokens_edit import ChipRow
from mcp_tef import MatrixKind

ROOMY = 1060
STEP = 90


class ToolPairsPane(QWidget):
    """`opened` gives a pair, `sort_wanted` the score by which the most alike of very many are to be fetched."""

    chosen = Signal(int, int)
    opened = Signal(int, int)
    sort_wanted = Signal(object)
    status_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.list = PairList()
        self._marking = False
        self.table = ListTable(PAIR_COLUMNS, "Pairs of tools")
        self.table.describe_keys(Enter="Open the pair side by side")
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.chips = ChipRow("Restriction")
        self.chips.removed.connect(lambda _: self.status_cleared.emit())
        self.table.chosen.connect(self._choose)
        self.table.opened.connect(lambda row: self._emit(self.opened, row))
        self.table.sorted.connect(self._sorted)
        below = row_layout(None, self.note, margins=(16, 6, 16, 6), spacing=None)
        column = column_layout(self, self.chips)
        column.addWidget(self.table, 1)
        column.addLayout(below)

    def show_pairs(self, found: PairList) -> None:
        """Show these pairs."""
        self.list = found
        status = found.query.status
        self.chips.set_chips([(status.value, STATUS_LABELS[status])] if status else [])
        self._marking = True
        self.table.set_rows(found.table)
        self._marking = False
        self._show_note()

    def mark(self, places: PairIndices | None) -> None:
        """Select the row of a pair that was chosen elsewhere."""
        self._marking = True
        if places is not None:
            self.table.select(row_id(places))
        self._marking = False

    def _choose(self, row: str) -> None:
        if not self._marking:
            self._emit(self.chosen, row)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide further scores in a narrow table, so that names stay readable."""
        super().resizeEvent(event)
        short = max(0, sized(ROOMY) - event.size().width())
        for number, key in enumerate(HIDDEN_WHEN_NARROW):
            place = next(n for n, column in enumerate(PAIR_COLUMNS) if column.key == key)
            self.table.setColumnHidden(place, short > number * sized(STEP))

    def _emit(self, signal: object, row: str) -> None:
        if row:
            signal.emit(*pair_of_row(row))  # type: ignore[attr-defined]  # the stubs hide that a signal emits

    def _show_note(self) -> None:
        """Show the number of pairs, and the score that orders them while no column does."""
        query, whole = self.list.query, 1 < len(self.list.rows) == self.list.fitting
        by_score = whole and query.status is None and self.table.sorted_by is None
        title = next((column.title.lower() for column in PAIR_COLUMNS if column.key == query.by.value), "")
        order = f", ordered by {title}" if by_score and title else ""
        self.note.set_text(pair_count_text(self.list) + order)

    def _sorted(self, key: str, down: bool) -> None:
        self._show_note()
        cut = self.list.fitting > len(self.list.rows)
        if cut and down and key in SORT_SCORES:
            self.sort_wanted.emit(SORT_SCORES[key])
        elif cut and not key:
            self.sort_wanted.emit(MatrixKind.CONFUSABILITY)


def pair_count_text(found: PairList) -> str:
    """Return the number of pairs, and which of them are shown."""
    shown = len(found.rows)
    if not found.fitting:
        narrowed = [
            words
            for words, holds in (("clear the search", found.query.text), ("remove the filter", found.query.status))
            if holds
        ]
        return (
            f"No pairs match. {' or '.join(narrowed).capitalize()} to see others."
            if narrowed
            else "No pairs to compare."
        )
    score = found.query.by.value
    if shown == found.fitting:
        return count(shown, "pair")
    return f"The {shown:,} pairs with the highest {score} of {found.fitting:,}. Search for a tool to see others."


GROUPS = "Tools that a model may confuse. Press Enter or double-click to show a group on the map."
NO_GROUPS = "No pair reaches the threshold under the map. A lower threshold shows more."
COPIES = "Nearly identical tools of different servers."


class ToolGroupsPane(QWidget):
    """`group_opened` gives the members of a group, `pair_opened` two copies."""

    group_opened = Signal(tuple)
    pair_opened = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._analysis: SimilarityAnalysis | None = None
        self.groups = ListTable(GROUP_COLUMNS, "Groups of similar tools")
        self.copies = ListTable(DUPLICATE_COLUMNS, "Near-duplicates on different servers")
        self.titles = (LineText("", strong=True), LineText("", strong=True))
        self.words = (LineText("", size=Size.SMALL, role=Role.DIM), LineText(COPIES, size=Size.SMALL, role=Role.DIM))
        self.groups.describe_keys(Enter="Show the group on the map")
        self.copies.describe_keys(Enter="Open the pair side by side")
        self.groups.set_menu(self._group_menu)
        self.groups.opened.connect(self._open_group)
        self.copies.opened.connect(lambda row: self.pair_opened.emit(*pair_of_row(row)))
        column = column_layout(self)
        for title, words, table, share in zip(self.titles, self.words, (self.groups, self.copies), (3, 2), strict=True):
            head = column_layout(None, title, words, margins=(16, 12, 16, 8))
            column.addLayout(head)
            column.addWidget(table, share)
            if table is self.groups:
                column.addWidget(Rule())
        column.addStretch()

    def show_analysis(self, analysis: SimilarityAnalysis) -> None:
        """Show another."""
        self._analysis = analysis
        self.groups.set_rows(group_rows(analysis))
        self.copies.set_rows(duplicate_rows(analysis))
        self.words[0].set_text(GROUPS if analysis.clusters.groups else NO_GROUPS)
        self.search(" ".join(self.groups.table_rows.words))

    def search(self, text: str) -> None:
        """Show what holds every word."""
        for table in (self.groups, self.copies):
            table.find_rows(text)
        groups, copies = self.groups.rows.rowCount(), self.copies.rows.rowCount()
        back = " match. Clear the search to see all." if text.strip() else ""
        self.titles[0].set_text(count(groups, "group") if groups else f"No groups{back}")
        self.titles[1].set_text(count(copies, "near-duplicate") if copies else f"No near-duplicates{back}")
        self.groups.setVisible(bool(groups))
        self.copies.setVisible(bool(copies))

    def _group_menu(self, rows: Sequence[str]) -> list[Action]:
        if len(rows) != 1:
            return []
        return [Action(text="Show on the map", do=partial(self._open_group, rows[0]), icon="grid-four", keys="Return")]

    def _open_group(self, row: str) -> None:
        if self._analysis is not None:
            self.group_opened.emit(self._analysis.clusters.groups[int(row)].members)
