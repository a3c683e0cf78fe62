"""A small count as blocks, to be told at a glance."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import Role, sized, theme
from app.widgets.spoken import Spoken


class Pips(QWidget):
    """A count as little blocks, at most as many as fit, with the number after them."""

    SPOKEN_AS = Spoken.Graphic

    SIDE, STEP = 9, 12

    def __init__(self, name: str, role: Role, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._role = role
        self._count = 0
        self.setFixedHeight(sized(20))

    def set_count(self, count: int) -> None:
        """Show another count."""
        self._count = count
        self.setAccessibleName(f"{self._name}: {count}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme().font(tabular=True)
        painter.setFont(font)
        side, step = sized(self.SIDE), sized(self.STEP)
        room = max(0, (self.width() - sized(44)) // step)
        shown = min(self._count, room)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(self._role))
        for number in range(shown):
            painter.drawRoundedRect(QRectF(number * step, sized(5), side, side), 2, 2)
        painter.setPen(theme().colour(Role.TEXT))
        text = f"… {self._count:,}" if shown < self._count else f"{self._count:,}"
        painter.drawText(QPointF(shown * step + (6 if shown else 0), sized(15)), text)
