"""A small table that sets two values side by side: a mark, a name, both values, and a note on a separate line."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.theme import Role, Size, sized
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, show_menu
from app.widgets.layouts import clear_layout
from app.widgets.marks import Mark, MarkLabel
from app.widgets.safe_text import plain, visible
from app.widgets.text_view import FlowText, Label, LineText, Rule

HEAD, EDGE, GAP, BETWEEN = 32, 16, 8, 4
LONGEST_NOTE = 600
# Least width and stretch: the edge, the mark, the name, both values and the edge.
COLUMNS = ((EDGE - GAP, 0), (EDGE, 0), (0, 36), (0, 32), (0, 32), (EDGE - GAP, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One row; `mark` None shows a dash, `word` is the mark's name for screen readers."""

    mark: Mark | None
    word: str
    name: str
    left: str
    right: str
    note: str = ""
    role: Role = Role.DIM


class ComparisonTable(QWidget):
    """Rows under three titles, hairlines between them; tooltips show whole values. `mono` is for names of code."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self, titles: tuple[str, str, str], *, mono: bool = True) -> None:
        super().__init__()
        self._mono = mono
        self._titles = titles
        self._rows: tuple[ComparisonRow, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, BETWEEN)
        self._grid.setHorizontalSpacing(GAP)
        self._grid.setVerticalSpacing(BETWEEN)
        for column, (least, stretch) in enumerate(COLUMNS):
            self._grid.setColumnMinimumWidth(column, sized(least))
            self._grid.setColumnStretch(column, stretch)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def set_rows(self, rows: Sequence[ComparisonRow]) -> None:
        """Show these rows."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        self.setAccessibleName(visible("; ".join(self.spoken(row) for row in self._rows)))
        clear_layout(self._grid)
        for column, title in enumerate(self._titles):
            label = Label(title, size=Size.SMALL, role=Role.DIM, label=True)
            label.setFixedHeight(sized(HEAD) - BETWEEN - 1)
            self._grid.addWidget(label, 0, column + 2 if column else 1, 1, 1 if column else 2)
        for number, row in enumerate(self._rows):
            self._add_row(row, 1 + 3 * number)

    def rows(self) -> tuple[ComparisonRow, ...]:
        """Return the rows shown."""
        return self._rows

    def spoken(self, row: ComparisonRow) -> str:
        """Return a row as one sentence."""
        left, right = (title.lower() for title in self._titles[1:])
        parts = (row.word, row.name, f"{left} {row.left}", f"{right} {row.right}", row.note)
        return ", ".join(part for part in parts if part)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_menu([Action(text="Copy table", do=self._copy, icon="copy")], event.globalPos(), self)

    def _add_row(self, row: ComparisonRow, place: int) -> None:
        self._grid.addWidget(Rule(), place, 0, 1, len(COLUMNS))
        mark = Label("–", role=Role.CONTROL) if row.mark is None else MarkLabel(row.mark, row.word)
        self._grid.addWidget(mark, place + 1, 1)
        for column, text in enumerate((row.name, row.left, row.right), 2):
            self._grid.addWidget(LineText(text, mono=self._mono), place + 1, column)
        if row.note:
            note = FlowText(plain(row.note, LONGEST_NOTE), size=Size.SMALL, role=row.role)
            self._grid.addWidget(note, place + 2, 2, 1, 3)

    def _copy(self) -> None:
        lines = ["\t".join((*self._titles, ""))]
        lines += ["\t".join((row.name, row.left, row.right, row.note)) for row in self._rows]
        QGuiApplication.clipboard().setText("\n".join(lines))
