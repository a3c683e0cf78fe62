"""Two lists to look things up in: all shortcuts, and what the window said lately."""

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.commands import Command
from app.session import Said
from app.text import clock
from app.theme import Role, sized
from app.widgets import Action, FlowText, KeyValues, ScrollPane, Section, Sheet

HEIGHT = 560
EVERY_LIST = {
    "Ctrl+A": "Choose all rows, where several can be chosen",
    "Ctrl+C": "Copy the chosen rows",
    "Shift+F10": "Open the menu of the chosen rows",
    "Ctrl+Shift+L": "Arrange the columns of a table: order, width, which are shown",
    "Esc": "Back to the list",
}
Lists = Iterable[tuple[str, Mapping[str, str]]]


def shortcuts_sheet(parent: QWidget, groups: Mapping[str, Sequence[Command]], lists: Lists) -> Sheet:
    """Every shortcut there is, made from the commands and from what the lists in sight answer."""
    tables = [(group, [(one.shown_keys, one.text) for one in commands]) for group, commands in groups.items()]
    tables += [(f"In the list: {name}", list(means.items())) for name, means in lists]
    tables.append(("In every list", list(EVERY_LIST.items())))
    return _sheet(parent, "Shortcuts", tables, sized(168))


def messages_sheet(parent: QWidget, said: Sequence[Said]) -> Sheet:
    """What was said lately, the last first."""
    rows = [(f"{clock(one.at)}", one.text) for one in reversed(said)]
    return _sheet(parent, "Recent messages", [("", rows)] if rows else [], sized(72))


def _sheet(parent: QWidget, title: str, tables: Sequence[tuple[str, list[tuple[str, str]]]], wide: int) -> Sheet:
    sheet = Sheet(title, parent, width=480)
    inside = QWidget()
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 0, 0, 0)
    for name, rows in tables:
        section = Section(name, margins=False)
        table = KeyValues(label_width=wide)
        table.set_rows(rows)
        section.add(table)
        column.addWidget(section)
    if not tables:
        column.addWidget(FlowText("Nothing was said yet.", role=Role.DIM))
    column.addStretch(1)
    sheet.body.addWidget(ScrollPane(inside, title))
    sheet.need(height=min(HEIGHT, inside.sizeHint().height() + 140))
    sheet.set_buttons([Action(text="Close", do=sheet.accept, kind="primary")])
    sheet.open()
    return sheet
