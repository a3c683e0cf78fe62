"""A map of how alike things are: to pan, zoom, walk through and click, with thousands of rows."""

from dataclasses import replace

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip

from app.theme import sized, theme
from app.widgets.chart import Chart
from app.widgets.heatmap_drawing import (
    EDGE,
    LEGEND,
    LONGEST_NAMES,
    NAMES_SHARE,
    Cell,
    HeatmapView,
    HeatPainter,
    draw_ramp,
    head,
    picture_port,
)
from app.widgets.heatmap_layout import Heat, HeatmapViewport
from app.widgets.safe_text import tip, visible
from app.widgets.spans import LinePainter

FOOT = 8
STEP = 1.25
NOTCH = 120
STILL = 4
WALKS = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
BY_POINTER = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
ZOOMS = {Qt.Key.Key_Plus: STEP, Qt.Key.Key_Equal: STEP, Qt.Key.Key_Minus: 1 / STEP}


class Heatmap(Chart):
    """Shows a `Heat`. `opened` gives the two compared (not their places) of a cell clicked or taken with Enter.

    The wheel and + and - zoom, dragging pans, arrow keys walk, Shift and arrow keys pan, 0 shows all again. `placed`
    tells where the cells begin and how many pixels they take across.
    """

    opened = Signal(int, int)
    placed = Signal(int, int)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name
        self._line = LinePainter()
        self._painter = HeatPainter(Heat(), self._line)
        self._port = HeatmapViewport(n=0, wide=1, high=1)
        self._left = 0
        self._shown = HeatmapView()
        self._pressed: tuple[QPointF, HeatmapViewport] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(320, 160)
        theme().changed.connect(self._retint)

    # ------------------------------------------------------------------ what is shown

    def set_heat(self, heat: Heat) -> None:
        """Show another heatmap; the visible part and the selection stay if it has the same names in the same order."""
        same = heat.titles == self.heat().titles and heat.order.tolist() == self.heat().order.tolist()
        self._painter = HeatPainter(heat, self._line)
        if not same:
            self._shown = HeatmapView(threshold=self._shown.threshold)
            self._port = HeatmapViewport(n=0, wide=1, high=1)
        self._settle()

    def heat(self) -> Heat:
        """Return the shown scores."""
        return self._painter.heat

    def port(self) -> HeatmapViewport:
        """Return the part in view."""
        return self._port

    def set_threshold(self, threshold: float) -> None:
        """Outline cells from this value on."""
        self._mark(replace(self._shown, threshold=threshold))

    def choose(self, pair: Cell | None, *, reveal: bool = False) -> None:
        """Mark the cell of two compared, and show it; None marks none."""
        places = self.heat().places
        cell = (places[pair[0]], places[pair[1]]) if pair and set(pair) <= places.keys() else None
        if cell is not None and reveal:
            self._port = self._port.showing(*cell)
        self._mark(replace(self._shown, chosen=cell))

    def bring_out(self, found: tuple[int, ...]) -> None:
        """Bring out the names of these, and show the first of them."""
        places = tuple(self.heat().places[one] for one in found if one in self.heat().places)
        if places:
            self._port = self._port.showing(places[0], places[0])
        self._mark(replace(self._shown, found=places))

    def focus_on(self, members: tuple[int, ...]) -> None:
        """Fill the view with these, which stand side by side."""
        places = sorted(self.heat().places[one] for one in members if one in self.heat().places)
        if places:
            self._move(self._port.on(places[0], places[-1]))

    def place_of(self, pair: Cell) -> QRect:
        """Return the area of the cell of two compared items, in the widget."""
        row, column = (self.heat().places[one] for one in pair)
        side = max(1, round(self._port.side))
        return QRect(round(self._left + self._port.left(column)), round(head() + self._port.top(row)), side, side)

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Make cells larger or smaller around a place of the widget, or around where the keyboard is."""
        place = at or self._middle()
        self._move(self._port.zoomed(factor, place.x() - self._left, place.y() - head()))

    def fit(self) -> None:
        """Show all cells."""
        self._move(self._port.fit())

    def _middle(self) -> QPointF:
        cell = self._shown.walked or self._shown.chosen
        inside = cell is not None and cell[0] in self._port.rows and cell[1] in self._port.columns
        if cell is not None and inside:
            half = self._port.side / 2
            return QPointF(self._left + self._port.left(cell[1]) + half, head() + self._port.top(cell[0]) + half)
        return QPointF(self._left + self._port.seen_wide / 2, head() + self._port.seen_high / 2)

    def _retint(self) -> None:
        self._painter.retint()
        self.update()

    def _settle(self) -> None:
        """Fit the view to the room there is: names at the left, cells in the middle of the rest."""
        gutter = self._painter.gutter(self.width())
        wide, high = self.width() - gutter - EDGE, self.height() - head() - FOOT
        self._move(self._port.resized(len(self.heat()), wide, high))

    def _move(self, port: HeatmapViewport) -> None:
        self._port = port
        spare = self.width() - EDGE - self._painter.gutter(self.width()) - port.seen_wide
        self._left = self._painter.gutter(self.width()) + max(0, round(spare / 2))
        self.placed.emit(self._left, round(port.seen_wide))
        self.update()

    def _mark(self, shown: HeatmapView) -> None:
        self._shown = shown
        self.update()

    # ------------------------------------------------------------------ what the user does

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() / NOTCH
        if turned:
            self.zoom(STEP**turned, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = (event.position(), self._port)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            self._hover(event)
            return
        start, port = self._pressed
        gone = start - event.position()
        if gone.manhattanLength() >= STILL:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._mark(replace(self._shown, hovered=None))
            self._move(port.moved(gone.x(), gone.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        start, _ = self._pressed
        self._pressed = None
        self._hover(event)
        cell = self._at(event.position())
        if cell is not None and (event.position() - start).manhattanLength() < STILL:
            self._shown = replace(self._shown, walked=None)
            self._open(cell)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._mark(replace(self._shown, hovered=None))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() not in BY_POINTER and self._shown.walked is None and len(self.heat()):
            self._walk_to(self._shown.chosen or (0, min(1, len(self.heat()) - 1)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in WALKS and len(self.heat()):
            self._walk(WALKS[key], pan=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in ZOOMS:
            self.zoom(ZOOMS[key])
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._shown.walked is not None:
            self._open(self._shown.walked)
        else:
            super().keyPressEvent(event)

    def _walk(self, step: Cell, *, pan: bool) -> None:
        if pan:
            far = max(self._port.side * 4, 40.0)
            self._move(self._port.moved(step[1] * far, step[0] * far))
            return
        row, column = self._shown.walked or self._shown.chosen or (0, 0)
        last = len(self.heat()) - 1
        self._walk_to((min(max(0, row + step[0]), last), min(max(0, column + step[1]), last)))

    def _walk_to(self, cell: Cell) -> None:
        self.setAccessibleName(visible(f"{self._name}: {self.heat().cell_text(*cell)}".replace("\n", ", ")))
        self._shown = replace(self._shown, walked=cell)
        self._move(self._port.showing(*cell))

    def _open(self, cell: Cell) -> None:
        row, column = (int(self.heat().order[place]) for place in cell)
        if row != column:
            self.opened.emit(row, column)

    def _hover(self, event: QMouseEvent) -> None:
        cell = self._at(event.position())
        if cell == self._shown.hovered:
            return
        pair = cell is not None and cell[0] != cell[1]
        self.setCursor(Qt.CursorShape.PointingHandCursor if pair else Qt.CursorShape.ArrowCursor)
        self._mark(replace(self._shown, hovered=cell))
        words = tip(self.heat().cell_text(*cell)) if cell is not None and pair else ""
        QToolTip.showText(event.globalPosition().toPoint() + QPoint(8, 8), words, self)

    def _at(self, point: QPointF) -> Cell | None:
        return self._port.cell(point.x() - self._left, point.y() - head()) if len(self.heat()) else None

    # ------------------------------------------------------------------ drawing

    def whole(self) -> QSize:
        """Return the size of a picture of all of it."""
        port = picture_port(self.heat())
        names = self._painter.gutter(round(LONGEST_NAMES / NAMES_SHARE))
        return QSize(names + round(port.seen_wide) + EDGE, head() + round(port.seen_high) + EDGE + sized(LEGEND))

    def draw(self, painter: QPainter, area: QRectF) -> None:
        """Draw all of it, as if nothing were zoomed."""
        names = self._painter.gutter(round(LONGEST_NAMES / NAMES_SHARE))
        shown = HeatmapView(threshold=self._shown.threshold, chosen=self._shown.chosen)
        port = picture_port(self.heat())
        self._painter.draw(painter, port, names, shown)
        draw_ramp(painter, QRectF(names, head() + round(port.seen_high) + EDGE, round(port.seen_wide), sized(LEGEND)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        shown = self._shown if self.hasFocus() else replace(self._shown, walked=None)
        self._painter.draw(QPainter(self), self._port, self._left, shown)
