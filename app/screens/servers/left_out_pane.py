"""Tools that the user left out: which they are, and the way back."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.text.formatting import count
from app.theme import Role, Size, height
from app.widgets import Action, FlowText, Label, RailList, RailRow, Rule, button, one_line

WORDS = "What is left out is offered to no model and counted in no analysis. The server still has it."


class LeftOutPane(QWidget):
    """A list of names; `wanted` gives those that are to be offered again."""

    wanted = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.list = RailList("Tools that are left out", row_height=height("table_row"), many=True)
        self.list.set_menu(lambda names: [Action(text="Offer again", do=lambda: self.wanted.emit(names))])
        self.list.opened.connect(lambda name: self.wanted.emit((name,)))
        self.list.tell_keys(Enter="Offer the tool again")
        self.again = button(Action(text="Offer all again", do=lambda: self.wanted.emit(tuple(self.list.rows.ids()))))
        self._title = Label(size=Size.TITLE, strong=True)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(self._title, 1)
        head.addWidget(self.again)
        top = QVBoxLayout()
        top.setContentsMargins(16, 16, 16, 12)
        top.setSpacing(8)
        top.addLayout(head)
        top.addWidget(FlowText(WORDS, role=Role.DIM))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(Rule())
        column.addWidget(self.list, 1)

    def show_names(self, names: Sequence[str]) -> None:
        """Show these."""
        self._title.setText(f"{count(len(names), 'tool')} left out")
        self.list.set_rows([RailRow(id=name, title=one_line(name), mono=True) for name in names])
