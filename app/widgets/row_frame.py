"""What every painted row has: background, hairline, selection bar and focus ring."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app.theme import Role, theme, width


def paint_frame(
    painter: QPainter,
    option: QStyleOptionViewItem,
    *,
    hovered: bool,
    first: bool,
    focused: bool,
    last_line: bool = True,
) -> None:
    """Fill a cell's background; `first` draws the selection bar at its left edge, `focused` the ring."""
    rect: QRect = option.rect
    selected = bool(option.state & QStyle.StateFlag.State_Selected)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    if selected or hovered:
        painter.fillRect(rect, theme().colour(Role.SELECTED if selected else Role.HOVER))
    if last_line:
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), width("hairline"), theme().colour(Role.LINE))
    if selected and first:
        painter.fillRect(rect.left(), rect.top(), theme().ring, rect.height(), theme().colour(Role.ACCENT))
    if focused:
        paint_focus(painter, rect)


def paint_focus(painter: QPainter, rect: QRect) -> None:
    """A ring inside `rect`, for whoever has the keyboard."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    pen = QPen(theme().colour(Role.FOCUS), theme().ring)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    painter.setPen(pen)
    painter.drawRect(rect.adjusted(1, 1, -2, -2))
