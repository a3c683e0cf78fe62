"""Large buttons that say in a sentence what choosing them means."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.theme import Role, Size, radius, sized, theme
from app.widgets.spans import LinePainter, paint_box, paint_icon


class ChoiceCard(QAbstractButton):
    """An icon, a title and two short lines."""

    def __init__(self, icon: str, title: str, lines: tuple[str, str]) -> None:
        super().__init__()
        self._icon = icon
        self._lines = lines
        self._line = LinePainter()
        self.setText(title)
        self.setAccessibleDescription(" ".join(lines))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        widest = max(self._line.width(text, theme().font(Size.SMALL)) for text in self._lines)
        return QSize(round(max(widest, self._line.width(self.text(), theme().font(strong=True)))) + 34, sized(116))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        line, width = (Role.FOCUS, theme().ring) if self.hasFocus() else (Role.CONTROL, 1)
        fill = Role.HOVER if self.underMouse() else Role.SURFACE
        paint_box(painter, self.rect(), line, fill, radius("popup"), width)
        paint_icon(painter, self._icon, 16, 16 + sized(20) // 2, sized(20), Role.ACCENT)
        room = QRectF(16, 16 + sized(30), self.width() - 32, sized(20))
        self._line.text(painter, room, self.text(), theme().font(strong=True), Role.TEXT)
        for number, text in enumerate(self._lines):
            below = room.translated(0, sized(21 + 17 * number))
            self._line.text(painter, below, text, theme().font(Size.SMALL), Role.DIM)
