"""The head of a table: plain titles, a hairline, and a caret beside the one that sorts."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QWidget

from app.theme import Role, Size, height, sized, theme
from app.widgets.cells import CellKind, Column
from app.widgets.spans import LinePainter

CARET = 10


class Headed(Protocol):
    """Table interface that the header needs."""

    @property
    def sorted_by(self) -> tuple[int, bool] | None: ...
    def is_first(self, column: int) -> bool: ...
    def is_last(self, column: int) -> bool: ...


class TableHeader(QHeaderView):
    """Titles aligned as their columns are."""

    sort_wanted = Signal(int)

    def __init__(self, columns: Sequence[Column], table: Headed, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._columns = columns
        self._table = table
        self._line = LinePainter()
        self._pressed = -1
        self.setFixedHeight(height("table_header"))
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setStretchLastSection(False)
        self.sectionMoved.connect(self._moved)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        resizing = self.cursor().shape() == Qt.CursorShape.SplitHCursor
        self._pressed = -1 if resizing else self.logicalIndexAt(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        released = self.logicalIndexAt(event.position().toPoint())
        if released >= 0 and released == self._pressed and self._columns[released].sortable:
            self.sort_wanted.emit(released)
        self._pressed = -1

    def _moved(self) -> None:
        """Forget the pressed column: dragging a column must not sort."""
        self._pressed = -1

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        colour = theme().colour
        painter.fillRect(rect, colour(Role.SURFACE))
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, colour(Role.LINE))
        column = self._columns[section]
        left = 16 if self._table.is_first(section) else 8
        right = 16 if self._table.is_last(section) else 8
        inner = QRectF(rect.adjusted(left, 0, -right, -1))
        self._paint_title(painter, inner, column, self._caret(section))

    def _caret(self, section: int) -> str:
        now = self._table.sorted_by
        if now is None or now[0] != section:
            return ""
        return "caret-down-fill" if now[1] else "caret-up-fill"

    def _paint_title(self, painter: QPainter, inner: QRectF, column: Column, caret: str) -> None:
        font = theme().font(Size.SMALL, label=True)
        room = inner.adjusted(0, 0, -4 - sized(CARET) if caret else 0, 0)
        numeric = column.kind is CellKind.NUMBER
        shown, used = self._line.fit(column.title, font, room.width())
        left = room.right() - used if numeric else room.left()
        painter.setFont(font)
        painter.setPen(theme().colour(Role.DIM))
        place = QRectF(left, room.top(), used + 2, room.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
        if caret:
            pixmap = theme().pixmap(caret, Role.DIM, sized(CARET), self.devicePixelRatioF())
            painter.drawPixmap(int(left + used + 4), int(inner.center().y() - sized(CARET) / 2 + 1), pixmap)
