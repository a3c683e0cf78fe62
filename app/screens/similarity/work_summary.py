"""Summary bar of the work list: the number of pairs in each state; a click filters the list."""

from collections.abc import Mapping

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from app.screens.similarity.labels import STATUS_HELP, STATUS_LABELS
from app.screens.similarity.presenter import WorkList
from app.theme import Role, Size, sized, theme
from app.widgets import FlowText, tip
from app.widgets.rows import paint_focus
from app.widgets.spans import LinePainter
from mcp_tef import PairStatus

HEIGHT = 48
EDGE = 16
NOTHING = "No pair reaches the threshold, and none was confused in runs."
TOO_MANY = "Too many pairs are flagged for a work list. Raise the threshold."


class WorkStateButton(QAbstractButton):
    """A number and what it counts; checked while the list is restricted to it."""

    def __init__(self, standing: PairStatus, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.standing = standing
        self.number = 0
        self._line = LinePainter()
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(sized(HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(tip(STATUS_HELP[standing]))

    def set_number(self, number: int) -> None:
        """Count so many."""
        self.number = number
        self.setAccessibleName(f"{number:,} {STATUS_LABELS[self.standing]}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(sized(180), sized(HEIGHT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.isChecked() or self.underMouse():
            ground = Role.SELECTED if self.isChecked() else Role.HOVER
            painter.fillRect(self.rect().adjusted(0, 1, -1, 0), theme().colour(ground))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme().colour(Role.LINE))
        if self.hasFocus():
            paint_focus(painter, self.rect().adjusted(0, 1, -1, 0))
        room = QRectF(self.rect()).adjusted(EDGE, 0, -EDGE, 0)
        figure = theme().font(Size.TITLE, strong=True, tabular=True)
        used = self._line.text(painter, room, f"{self.number:,}", figure, Role.TEXT)
        place = room.adjusted(used + 8, 1, 0, 1)
        self._line.text(painter, place, STATUS_LABELS[self.standing], theme().font(), Role.DIM)


class WorkSummary(QWidget):
    """A cell for each standing that has pairs. `chosen` gives the standing, or None where a cell was let go."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.cells: Mapping[PairStatus, WorkStateButton] = {
            standing: WorkStateButton(standing) for standing in STATUS_LABELS
        }
        self.words = FlowText(role=Role.DIM)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 1, 0, 0)
        row.setSpacing(0)
        for cell in self.cells.values():
            row.addWidget(cell, 1)
            cell.clicked.connect(lambda checked, one=cell: self._clicked(one, checked=checked))
        self._said = QWidget()
        said = QHBoxLayout(self._said)
        said.setContentsMargins(EDGE, 0, EDGE, 0)
        said.addWidget(self.words)
        row.addWidget(self._said, 1)
        self.setFixedHeight(sized(HEIGHT) + 1)
        self.show_work(WorkList())

    def show_work(self, work: WorkList) -> None:
        """Count anew."""
        shown = 0
        for standing, cell in self.cells.items():
            cell.set_number(work.numbers.get(standing, 0))
            cell.setVisible(cell.number > 0)
            shown += cell.number
        self.words.set_text(TOO_MANY if work.too_many else NOTHING)
        self._said.setVisible(not shown)

    def mark(self, standing: PairStatus | None) -> None:
        """Show which standing the list is restricted to."""
        for key, cell in self.cells.items():
            cell.setChecked(key is standing)

    def _clicked(self, cell: WorkStateButton, *, checked: bool) -> None:
        self.mark(cell.standing if checked else None)
        self.chosen.emit(cell.standing if checked else None)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, theme().colour(Role.LINE))
