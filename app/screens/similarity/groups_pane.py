"""Groups of tools that may be confused, and copies of a tool on different servers."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.screens.similarity.maps import Analysis
from app.screens.similarity.pairs import places_of
from app.screens.similarity.rows import COPY_COLUMNS, GROUP_COLUMNS, copy_rows, group_rows
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import Action, LineText, ListTable, Rule

GROUPS = "Tools that a model may take for each other. Enter or a double click shows a group on the map."
NO_GROUPS = "No two tools are as alike as the threshold under the map asks; a lower one shows more."
COPIES = "Nearly the same tool, offered by more than one server."


class GroupsPane(QWidget):
    """`group_opened` gives the members of a group, `pair_opened` two copies."""

    group_opened = Signal(tuple)
    pair_opened = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._analysis: Analysis | None = None
        self.groups = ListTable(GROUP_COLUMNS, "Groups of look-alikes")
        self.copies = ListTable(COPY_COLUMNS, "Near-duplicates on different servers")
        self.titles = (LineText("", strong=True), LineText("", strong=True))
        self.words = (LineText("", size=Size.SMALL, role=Role.DIM), LineText(COPIES, size=Size.SMALL, role=Role.DIM))
        self.groups.tell_keys(Enter="Show the group on the map")
        self.copies.tell_keys(Enter="Open the pair side by side")
        self.groups.set_menu(self._group_menu)
        self.groups.opened.connect(self._open_group)
        self.copies.opened.connect(lambda row: self.pair_opened.emit(*places_of(row)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for title, words, table, share in zip(self.titles, self.words, (self.groups, self.copies), (3, 2), strict=True):
            head = QVBoxLayout()
            head.setContentsMargins(16, 12, 16, 8)
            head.setSpacing(0)
            head.addWidget(title)
            head.addWidget(words)
            column.addLayout(head)
            column.addWidget(table, share)
            if table is self.groups:
                column.addWidget(Rule())
        column.addStretch()

    def show_analysis(self, analysis: Analysis) -> None:
        """Show another."""
        self._analysis = analysis
        self.groups.set_rows(group_rows(analysis))
        self.copies.set_rows(copy_rows(analysis))
        self.words[0].set_text(GROUPS if analysis.clusters.groups else NO_GROUPS)
        self.search(" ".join(self.groups.table_rows.words))

    def search(self, text: str) -> None:
        """Show what holds every word."""
        for table in (self.groups, self.copies):
            table.find_rows(text)
        groups, copies = self.groups.rows.rowCount(), self.copies.rows.rowCount()
        back = " with these words: an empty search shows all" if text.strip() else ""
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
