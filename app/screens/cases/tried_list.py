"""The last answers to a case, and how the expectation as it is now would judge them."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.cases.marks import MARKS
from app.screens.cases.rows import LAST_WORDS
from app.screens.cases.tried import Change, Tried, TriedLine
from app.theme import Role, Size, sized
from app.widgets import Label, LineText, Mark, MarkLabel, Rule

ROLES = {Change.NONE: Role.DIM, Change.BETTER: Role.GOOD, Change.WORSE: Role.BAD}
WHEN_WIDTH = 64
SELECTED_WIDTH = 132


class TriedList(QWidget):
    """Hidden while there is nothing to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = Label(size=Size.SMALL, role=Role.DIM, strong=True)
        self._summary = Label(size=Size.SMALL, strong=True)
        self._lines: list[_Line] = []
        head = QHBoxLayout()
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._summary)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(Rule())
        self._column.addSpacing(12)
        self._column.addLayout(head)
        self._column.addSpacing(4)
        self.hide()

    def show_tried(self, tried: Tried) -> None:
        """Show these lines."""
        while len(self._lines) < len(tried.lines):
            self._lines.append(_Line(self))
            self._column.addWidget(self._lines[-1])
        for number, line in enumerate(self._lines):
            line.setVisible(number < len(tried.lines))
        for line, shown in zip(self._lines, tried.lines, strict=False):
            line.show_line(shown)
        count = len(tried.lines)
        self._title.setText("Tried on the last answer" if count == 1 else f"Tried on the last {count} answers")
        self._summary.setText(tried.summary)
        self.setVisible(count > 0)


class _Line(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._mark = MarkLabel()
        self._when = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self._when.setFixedWidth(sized(WHEN_WIDTH))
        self._selected = LineText(mono=True)
        self._selected.setFixedWidth(sized(SELECTED_WIDTH))
        self._plain = LineText(size=Size.SMALL, role=Role.DIM)
        self._strong = LineText(size=Size.SMALL, strong=True)
        row = QHBoxLayout()
        row.setContentsMargins(0, 4, 0, 3)
        row.setSpacing(8)
        for widget in (self._mark, self._when, self._selected):
            row.addWidget(widget)
        row.addWidget(self._plain, 1)
        row.addWidget(self._strong, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(Rule())

    def show_line(self, line: TriedLine) -> None:
        self._mark.set_mark(MARKS.get(line.last, Mark.BLANK), LAST_WORDS[line.last])
        self._when.setText(line.when)
        self._selected.set_text(line.selected)
        changed = line.change is not Change.NONE
        self._plain.setVisible(not changed)
        self._strong.setVisible(changed)
        (self._strong if changed else self._plain).set_text(line.words, ROLES[line.change])
