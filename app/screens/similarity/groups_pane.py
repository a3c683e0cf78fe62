"""Groups of tools that may be confused, and copies of a tool on different servers."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.screens.similarity.maps import Analysis
from app.screens.similarity.pairs import places_of
from app.screens.similarity.rows import COPY_COLUMNS, GROUP_COLUMNS, copy_rows, group_rows
from app.text import count
from app.theme import Role, Size
from app.widgets import LineText, ListTable, Row, Rule


class GroupsPane(QWidget):
    """`group_opened` gives the members of a group, `pair_opened` two copies."""

    group_opened = Signal(tuple)
    pair_opened = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._analysis: Analysis | None = None
        self._all: tuple[list[Row], list[Row]] = ([], [])
        self.groups = ListTable(GROUP_COLUMNS, "Groups of look-alikes")
        self.copies = ListTable(COPY_COLUMNS, "Near-duplicates on different servers")
        self.titles = (LineText("", strong=True), LineText("", strong=True))
        self.groups.opened.connect(self._open_group)
        self.copies.opened.connect(lambda row: self.pair_opened.emit(*places_of(row)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        help_of = (
            "Tools that a model may take for each other. Enter or a double click shows a group on the map.",
            "Nearly the same tool, offered by more than one server.",
        )
        for title, words, table, share in zip(self.titles, help_of, (self.groups, self.copies), (3, 2), strict=True):
            head = QVBoxLayout()
            head.setContentsMargins(16, 12, 16, 8)
            head.setSpacing(0)
            head.addWidget(title)
            head.addWidget(LineText(words, size=Size.SMALL, role=Role.DIM))
            column.addLayout(head)
            column.addWidget(table, share)
            if table is self.groups:
                column.addWidget(Rule())

    def show_analysis(self, analysis: Analysis) -> None:
        """Show another."""
        self._analysis = analysis
        self._all = list(group_rows(analysis)), list(copy_rows(analysis))
        self.search("")

    def search(self, text: str) -> None:
        """Show what holds every word."""
        words = text.casefold().split()
        groups, copies = ([row for row in rows if _holds(row, words)] for rows in self._all)
        self.titles[0].set_text(count(len(groups), "group") if groups else "No groups")
        self.titles[1].set_text(count(len(copies), "near-duplicate") if copies else "No near-duplicates")
        self.copies.setVisible(bool(copies))
        self.groups.set_rows(groups)
        self.copies.set_rows(copies)

    def _open_group(self, row: str) -> None:
        if self._analysis is not None:
            self.group_opened.emit(self._analysis.clusters.groups[int(row)].members)


def _holds(row: Row, words: Sequence[str]) -> bool:
    if not words:
        return True
    told = " ".join(cell.text for cell in row.cells).casefold()
    return all(word in told for word in words)
