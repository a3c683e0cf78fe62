"""A square of counts: rows against columns, darker where more, to be scrolled, zoomed and walked through."""

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from app.theme import Role, sized, theme
from app.widgets.accessibility import Spoken
from app.widgets.matrix_drawing import EDGE, GAP, HEAD, LEGEND, PRINTED, Cell, Matrix, MatrixLayout, MatrixPainter
from app.widgets.rows import paint_focus
from app.widgets.safe_text import tip
from app.widgets.spans import LinePainter

LEAST, MOST = 3, 36
SHORT_NAME = 110
STEPS = (4, 6, 9, 14, 22, 28, 36)
WALKS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
ZOOMS = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Minus: -1}


class MatrixChart(QAbstractScrollArea):
    """Shows a `Matrix`. `opened` gives row and column of a cell that was clicked or taken with Enter.

    Cells grow to the room there is; where there is too little, the square scrolls. Ctrl and the wheel, + and - zoom.
    """

    SPOKEN_AS = Spoken.Chart

    opened = Signal(int, int)
    menu_wanted = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._line = LinePainter()
        self._painter = MatrixPainter(Matrix(), self._line)
        self._side = 0
        self._hovered: Cell | None = None
        self._current: Cell | None = None
        self._marked: Cell | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(name)
        self.setMinimumSize(260, 160)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        theme().changed.connect(self.viewport().update)

    # ------------------------------------------------------------------ what is shown

    def set_matrix(self, matrix: Matrix) -> None:
        """Show another matrix; the zoom stays where it was chosen."""
        self._painter = MatrixPainter(matrix, self._line)
        self._hovered = self._current = self._marked = None
        self._settle()
        self.viewport().update()

    def matrix(self) -> Matrix:
        """Return the shown counts."""
        return self._painter.matrix

    def current(self) -> Cell | None:
        """Return the cell that the user walked to, else the one with a ring."""
        return self._current or self._marked

    def mark(self, cell: Cell | None, *, reveal: bool = True) -> None:
        """Draw a ring round a cell, and scroll to it."""
        self._marked = cell
        if cell is not None and reveal:
            self._reveal(cell)
        self.viewport().update()

    def side(self) -> int:
        """Return the side of a cell now."""
        return self._side or self._fitting()

    def cut_text(self) -> str:
        """Return how many rows and columns are in view: "12 of 30 rows, 14 of 30 columns"; empty if all are."""
        return self._painter.cut_text(self._places(), self.viewport().rect())

    def zoom(self, steps: int) -> None:
        """Make cells larger or smaller."""
        place = min(range(len(STEPS)), key=lambda number: abs(STEPS[number] - self.side()))
        self._side = STEPS[max(0, min(len(STEPS) - 1, place + steps))]
        self._settle()
        self.viewport().update()

    def place_of(self, row: int, column: int) -> QRect:
        """Return the area of a cell in the viewport."""
        return self._places().cell(row, column)

    def _fitting(self) -> int:
        """Return the largest side at which all is seen; counts are printed where it leaves room for them."""
        rows, columns = max(1, len(self._painter.matrix.rows)), max(1, len(self._painter.matrix.keys))
        names, keys, totals = self._painter.widths
        wide = self.viewport().width() - (EDGE + min(names, sized(SHORT_NAME)) + 2 * GAP + keys + totals + 8)
        high = self.viewport().height() - sized(HEAD) - sized(LEGEND)
        return max(LEAST, min(sized(MOST), wide // columns, high // rows))

    def _names(self, side: int) -> int:
        """Return the width of the names, reduced where that brings all columns into view."""
        wanted, keys, totals = self._painter.widths
        free = self.viewport().width() - side * len(self._painter.matrix.keys) - EDGE - 2 * GAP - keys - totals - 8
        return max(min(wanted, sized(SHORT_NAME)), min(wanted, free))

    def _places(self) -> MatrixLayout:
        origin = QPoint(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        _, keys, totals = self._painter.widths
        side = self.side()
        return MatrixLayout(self._painter.matrix, self._names(side), keys, totals, side, origin)

    def _settle(self) -> None:
        places = self._places()
        wide = max(0, places.left + places.wide + GAP + places.totals + 4 - self.viewport().width())
        high = max(0, places.top + places.high + sized(LEGEND) - self.viewport().height())
        for bar, most in ((self.horizontalScrollBar(), wide), (self.verticalScrollBar(), high)):
            bar.setRange(0, most)
            bar.setSingleStep(places.side)
            bar.setPageStep(places.side * 8)

    def _reveal(self, cell: Cell) -> None:
        places = self._places()
        box, view = places.cell(*cell), self.viewport().rect().adjusted(places.left, places.top, 0, -sized(LEGEND))
        for bar, low, high in (
            (self.horizontalScrollBar(), box.left() - view.left(), box.right() - view.right()),
            (self.verticalScrollBar(), box.top() - view.top(), box.bottom() - view.bottom()),
        ):
            if low < 0 or high > 0:
                bar.setValue(bar.value() + (low if low < 0 else high))

    # ------------------------------------------------------------------ what the user does

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self._at(event.position().toPoint())
        if cell != self._hovered:
            self._hovered = cell
            full = cell is not None and cell in self._painter.matrix.cells
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if full else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self._at(event.position().toPoint())
        if cell is not None and event.button() is Qt.MouseButton.LeftButton:
            self._walk_to(cell)
            self._open(cell)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in WALKS and self._painter.matrix.rows:
            self._walk(*WALKS[key])
        elif key in ZOOMS:
            self.zoom(ZOOMS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self._open(self._current)
        elif key is Qt.Key.Key_Menu:
            self.menu_wanted.emit(self.mapToGlobal(self.rect().center()))
        else:
            super().keyPressEvent(event)

    def _walk(self, down: int, right: int) -> None:
        """Go to a neighbour of the current cell; the first step goes to the first cell."""
        row, column = (self._current[0] + down, self._current[1] + right) if self._current else (0, 0)
        last_row, last_column = len(self._painter.matrix.rows) - 1, len(self._painter.matrix.keys) - 1
        self._walk_to((max(0, min(last_row, row)), max(0, min(last_column, column))))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if (cell := self._at(event.pos())) is not None:
            self._walk_to(cell)
        self.menu_wanted.emit(event.globalPos())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self._at(event.pos())
            QToolTip.showText(
                event.globalPos(), tip(self._painter.matrix.cell_text(*cell)) if cell else "", self.viewport()
            )
            return True
        if event.type() == QEvent.Type.Leave:
            self._hovered = None
            self.viewport().update()
        return super().viewportEvent(event)

    def _walk_to(self, cell: Cell) -> None:
        self._current = cell
        self.setAccessibleName(f"{self._name}: {self._painter.matrix.cell_text(*cell)}")
        self._reveal(cell)
        self.viewport().update()

    def _open(self, cell: Cell) -> None:
        if cell in self._painter.matrix.cells:
            self.opened.emit(*cell)

    def _at(self, point: QPoint) -> Cell | None:
        places = self._places()
        row = (point.y() - places.top + places.origin.y()) // places.side
        column = (point.x() - places.left + places.origin.x()) // places.side
        inside = point.x() >= places.left and point.y() >= places.top
        known = 0 <= row < len(self._painter.matrix.rows) and 0 <= column < len(self._painter.matrix.keys)
        return (row, column) if inside and known and point.y() < self.viewport().height() - sized(LEGEND) else None

    # ------------------------------------------------------------------ drawing

    def whole(self) -> QSize:
        """Return the size of a picture of all of it, with cells in which counts can be printed."""
        places = self._picture()
        wide = places.left + places.wide + GAP + places.totals + EDGE
        return QSize(wide, places.top + places.high + sized(LEGEND)).expandedTo(QSize(320, 120))

    def _picture(self) -> MatrixLayout:
        side = max(self.side(), sized(PRINTED))
        return MatrixLayout(self._painter.matrix, *self._painter.widths, side, QPoint())

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw all of it, as if nothing were scrolled."""
        self._painter.draw(painter, self._picture(), area.toRect(), (), None)

    def paintEvent(self, _event: QPaintEvent) -> None:
        focused = self._current if self.hasFocus() else None
        rings = ((self._marked, Role.BAD, 2), (self._hovered, Role.CONTROL, 1), (focused, Role.FOCUS, theme().ring))
        view = self.viewport().rect()
        painter = QPainter(self.viewport())
        self._painter.draw(painter, self._places(), view, rings, self._hovered)
        if self.hasFocus() and focused is None:
            paint_focus(painter, view)
