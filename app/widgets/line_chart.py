"""A line through measured points with their intervals: whiskers or a band, bars below, a diagonal to compare with."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip

from app.theme import Role, Size, sized, theme
from app.widgets.bars import soft_accent
from app.widgets.chart import Chart
from app.widgets.safe_text import tip
from app.widgets.spans import LinePainter

LEFT = 56
RIGHT = 16
TOP = 12
BOTTOM = 28
BARS = 36
DOT = 4.0
REACH = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A measured value in the units of the axes; `tip` says it in words, `id` is what a click gives."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar below the line from `start` to `end` on the horizontal axis; heights are shares of the highest."""

    start: float
    end: float
    height: float
    tip: str = ""


Tick = tuple[float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """All of a chart. `band` joins the intervals, `diagonal` draws where both axes are equal."""

    points: tuple[Point, ...] = ()
    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    band: bool = False
    diagonal: bool = False
    bars: tuple[Bar, ...] = ()
    corner: str = ""
    guide: float | None = None


class PlotFrame:
    """Mapping of values to positions in an area."""

    def __init__(self, area: QRectF, plot: Plot) -> None:
        foot = sized(BOTTOM) + (BARS + 8 if plot.bars else 0)
        self.box = area.adjusted(sized(LEFT), TOP, -RIGHT, -foot)
        self.bars = QRectF(self.box.left(), self.box.bottom() + 8, self.box.width(), BARS)
        self.axis = area.bottom() - sized(BOTTOM)
        self._plot = plot

    def x(self, value: float) -> float:
        low, high = self._plot.x
        return self.box.left() + self.box.width() * (value - low) / ((high - low) or 1.0)

    def y(self, value: float) -> float:
        low, high = self._plot.y
        return self.box.bottom() - self.box.height() * (value - low) / ((high - low) or 1.0)

    def at(self, point: Point) -> QPointF:
        return QPointF(self.x(point.x), self.y(point.y))


class LineChart(Chart):
    """Shows a `Plot`; `chosen` gives the id of a point that was clicked, or taken with Enter after arrow keys."""

    chosen = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name
        self._plot = Plot()
        self._line = LinePainter()
        self._current = -1
        self.setMouseTracking(True)
        self.setMinimumSize(180, 140)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_plot(self, plot: Plot) -> None:
        """Show another plot."""
        self._plot = plot
        self._current = -1
        self.update()

    def plot(self) -> Plot:
        """Return the shown points."""
        return self._plot

    def spot(self, number: int) -> QPointF:
        """Return the position of a point in the widget."""
        return PlotFrame(QRectF(self.rect()), self._plot).at(self._plot.points[number])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._take(self._nearest(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._take(-1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._choose(self._nearest(event.position()) if event.button() is Qt.MouseButton.LeftButton else -1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in steps and self._plot.points:
            self._take(max(0, min(len(self._plot.points) - 1, self._current + steps[Qt.Key(event.key())])))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._current)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tip(self._text_at(QPointF(event.pos()))), self)
            return True
        return super().event(event)

    def draw(self, painter: QPainter, area: QRectF) -> None:
        plot = self._plot
        frame = PlotFrame(area, plot)
        self._draw_grid(painter, frame)
        for bar in plot.bars:
            self._draw_bar(painter, frame, bar)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if plot.diagonal:
            _draw_diagonal(painter, frame)
        if plot.band:
            _draw_band(painter, frame, plot.points)
        else:
            _draw_whiskers(painter, frame, plot.points)
        _draw_line(painter, frame, plot, self._current)
        self._draw_corner(painter, frame)

    def _draw_grid(self, painter: QPainter, frame: PlotFrame) -> None:
        font, line = theme().font(Size.SMALL, tabular=True), theme().colour(Role.LINE)
        box = frame.box
        for value, text in self._plot.y_ticks:
            painter.fillRect(QRectF(box.left(), round(frame.y(value)), box.width(), 1), line)
            place = QRectF(box.left() - sized(LEFT), frame.y(value) - sized(10), sized(LEFT) - 8, sized(20))
            self._line.text(painter, place, text, font, Role.DIM, Qt.AlignmentFlag.AlignRight)
        if self._plot.guide is not None:
            painter.fillRect(QRectF(round(frame.x(self._plot.guide)), box.top(), 1, box.height()), line)
        free = 1e9
        for value, text in reversed(self._plot.x_ticks):
            wide = self._line.width(text, font) + 2
            left = min(max(frame.x(value) - wide / 2, box.left() - 12), box.right() - wide + 8)
            if left + wide <= free:
                place = QRectF(left, frame.axis + 4, wide, sized(18))
                self._line.text(painter, place, text, font, Role.DIM)
                free = left - 10

    def _draw_bar(self, painter: QPainter, frame: PlotFrame, bar: Bar) -> None:
        most = max(item.height for item in self._plot.bars) or 1.0
        left, right = frame.x(bar.start), frame.x(bar.end)
        high = frame.bars.height() * bar.height / most
        if bar.height > 0:
            box = QRectF(left + 1, frame.bars.bottom() - max(1.0, high), right - left - 2, max(1.0, high))
            painter.fillRect(box, theme().colour(Role.CONTROL))
        painter.fillRect(QRectF(left, frame.bars.bottom(), right - left, 1), theme().colour(Role.LINE))

    def _draw_corner(self, painter: QPainter, frame: PlotFrame) -> None:
        font = theme().font(Size.SMALL)
        place = free_place(self._plot, frame, self._line.width(self._plot.corner, font) + 2)
        if self._plot.corner and place is not None:
            self._line.text(painter, place, self._plot.corner, font, Role.DIM)

    def _nearest(self, at: QPointF) -> int:
        frame = PlotFrame(QRectF(self.rect()), self._plot)
        gaps = [abs(frame.x(point.x) - at.x()) for point in self._plot.points]
        best = min(range(len(gaps)), key=gaps.__getitem__, default=-1)
        inside = frame.box.adjusted(-REACH, -REACH, REACH, REACH).contains(at)
        return best if best >= 0 and inside and gaps[best] <= REACH else -1

    def _text_at(self, at: QPointF) -> str:
        frame = PlotFrame(QRectF(self.rect()), self._plot)
        if at.y() > frame.box.bottom():
            return next((bar.tip for bar in self._plot.bars if frame.x(bar.start) <= at.x() < frame.x(bar.end)), "")
        number = self._nearest(at)
        return self._plot.points[number].tip if number >= 0 else ""

    def _take(self, number: int) -> None:
        if number != self._current:
            self._current = number
            text = self._plot.points[number].tip if number >= 0 else ""
            self.setAccessibleName(f"{self._name}: {text}" if text else self._name)
            clickable = number >= 0 and self._plot.points[number].id
            self.setCursor(Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor)
            self.update()

    def _choose(self, number: int) -> None:
        if number >= 0 and self._plot.points[number].id:
            self.chosen.emit(self._plot.points[number].id)


def free_place(plot: Plot, frame: PlotFrame, wide: float) -> QRectF | None:
    """Return the place for a label of this width that covers neither points nor intervals; None if there is none."""
    box, high = frame.box, sized(20)
    down, up = box.bottom() - high - 4, box.top() + 4
    right, middle, left = box.right() - wide - 4, box.center().x() - wide / 2, box.left() + 4
    places = (QRectF(x, y, wide, high) for x, y in ((right, down), (middle, down), (left, up), (right, up)))
    drawn = [_reach(plot, frame, number) for number in range(len(plot.points))]
    return next((one for one in places if not any(one.intersects(part) for part in drawn)), None)


def _reach(plot: Plot, frame: PlotFrame, number: int) -> QRectF:
    """Return the area of a point with its interval, and of the line to the next point."""
    points = plot.points[number : number + 2]
    x = [frame.x(point.x) for point in points]
    y = [frame.y(value) for point in points for value in (point.y, point.low, point.high) if value is not None]
    return QRectF(min(x), min(y), max(x) - min(x), max(y) - min(y)).adjusted(-4, -4, 4, 4)


def _draw_diagonal(painter: QPainter, frame: PlotFrame) -> None:
    painter.setPen(QPen(theme().colour(Role.CONTROL), 1, Qt.PenStyle.DashLine))
    painter.drawLine(frame.box.bottomLeft(), frame.box.topRight())


def _draw_whiskers(painter: QPainter, frame: PlotFrame, points: Sequence[Point]) -> None:
    painter.setPen(QPen(soft_accent(), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    for point in points:
        if point.low is not None and point.high is not None:
            at = frame.x(point.x)
            painter.drawLine(QPointF(at, frame.y(point.low)), QPointF(at, frame.y(point.high)))


def _draw_band(painter: QPainter, frame: PlotFrame, points: Sequence[Point]) -> None:
    known = [point for point in points if point.low is not None and point.high is not None]
    lower = [QPointF(frame.x(point.x), frame.y(point.low or 0.0)) for point in known]
    upper = [QPointF(frame.x(point.x), frame.y(point.high or 0.0)) for point in known]
    path = QPainterPath()
    path.addPolygon(QPolygonF([*upper, *reversed(lower)]))
    painter.fillPath(path, QColor(theme().colour(Role.ACCENT_TINT)))
    painter.setPen(QPen(theme().colour(Role.CONTROL), 1))
    for edge in (lower, upper):
        painter.drawPolyline(QPolygonF(edge))


def _draw_line(painter: QPainter, frame: PlotFrame, plot: Plot, current: int) -> None:
    places = [frame.at(point) for point in plot.points]
    accent = theme().colour(Role.ACCENT)
    painter.setPen(QPen(accent, 1.5))
    painter.drawPolyline(QPolygonF(places))
    for number, place in enumerate(places):
        if not plot.band or number in (current, len(places) - 1) or len(places) <= 3:
            radius = DOT + 1.5 if number == current else DOT
            painter.setPen(QPen(theme().colour(Role.SURFACE), 1))
            painter.setBrush(accent)
            painter.drawEllipse(place, radius, radius)
