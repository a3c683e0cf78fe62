"""Two dialogs with a searchable list: all shortcuts, and recent messages."""

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.session import Message
from app.text.formatting import clock
from app.theme import Role, sized
from app.widgets import Action, Dialog, FlowText, KeyValues, ScrollPane, SearchField, Section, column_layout

HEIGHT = 560
EVERY_LIST = {
    "Ctrl+A": "Select all rows, where several can be selected",
    "Ctrl+C": "Copy the selected rows",
    "Shift+F10": "Open the menu of the selected rows",
    "Ctrl+Shift+L": "Arrange the columns of a table: order, width, which are shown",
    "Esc": "Back to the list",
}
Lists = Iterable[tuple[str, Mapping[str, str]]]
Table = tuple[str, list[tuple[str, str]]]
NONE = "Nothing was said yet. What is done, undone or goes wrong is told here."
NONE_FIT = "Nothing here holds these words. An empty search shows all."


def open_shortcuts(parent: QWidget, groups: Mapping[str, Sequence[Command]], lists: Lists) -> Dialog:
    """Open the list of shortcuts of all commands and of the lists in view."""
    tables = [(group, [(one.shown_keys, one.text) for one in commands]) for group, commands in groups.items()]
    tables += [(f"In the list: {name}", list(means.items())) for name, means in lists]
    tables.append(("In every list", list(EVERY_LIST.items())))
    dialog = SearchableListDialog(parent, "Shortcuts", tables, sized(168))
    dialog.open()
    return dialog


def open_messages(parent: QWidget, said: Sequence[Message]) -> Dialog:
    """Open the list of recent messages, the latest first."""
    rows = [(f"{clock(one.at)}", one.text) for one in reversed(said)]
    dialog = SearchableListDialog(parent, "Recent messages", [("", rows)] if rows else [], sized(72))
    dialog.open()
    return dialog


class SearchableListDialog(Dialog):
    """Titled tables with a search that keeps the rows containing every word, in the row or in the title."""

    def __init__(self, parent: QWidget, title: str, tables: Sequence[Table], wide: int) -> None:
        super().__init__(title, parent, width=480)
        self.search = SearchField(f"Search {title.lower()}", self)
        self._nothing = FlowText(role=Role.DIM)
        self._parts = [(table, *_section(table, wide)) for table in tables]
        inside = QWidget()
        column = column_layout(inside, spacing=None)
        for _, section, _ in self._parts:
            column.addWidget(section)
        column.addWidget(self._nothing)
        column.addStretch(1)
        self.body.addWidget(self.search)
        self.body.addWidget(ScrollPane(inside, title))
        self.search.setVisible(bool(tables))
        self._find("")
        self.need(height=min(HEIGHT, inside.sizeHint().height() + 180))
        self.set_buttons([Action(text="Close", do=self.accept, kind="primary")])
        self.search.searched.connect(self._find)

    def _find(self, text: str) -> None:
        words = text.casefold().split()
        for (name, rows), section, table in self._parts:
            found = [row for row in rows if _holds((name, *row), words)]
            section.setVisible(bool(found))
            table.set_rows(found)
        nothing = not any(_holds((name, *row), words) for (name, rows), *_ in self._parts for row in rows)
        self._nothing.set_text((NONE_FIT if self._parts else NONE) if nothing else "")
        self._nothing.setVisible(nothing)


def _section(table: Table, wide: int) -> tuple[Section, KeyValues]:
    section, rows = Section(table[0], margins=False), KeyValues(label_width=wide)
    section.add(rows)
    return section, rows


def _holds(texts: Sequence[str], words: Sequence[str]) -> bool:
    told = "\n".join(texts).casefold()
    return all(word in told for word in words)
