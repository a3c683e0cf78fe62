"""Lines through measured points with their intervals: whiskers or a band, bars below, a diagonal to compare with."""

from collections.abc import Iterator, Sequence
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
LEGEND = 24
SWATCH, IN_A_ROW = 18, 3
COLOURS = (Role.ACCENT, Role.DIM, Role.GOOD, Role.WARN, Role.INFO)
BAND_ALPHA = 0.14
DOT = 4.0
REACH = 14.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A measured value in the units of the axes; `tip` says it in words, `id` is what a click gives.

    `curve` is the place of its line among the curves of the plot.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    id: str = ""
    curve: int = 0

    def is_same_place(self, other: "Point") -> bool:
        """Return True for the same value of the horizontal axis on the same curve."""
        return (self.curve, self.x) == (other.curve, other.x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line of several: its name, and a colour by number; a dashed one has no band."""

    name: str
    colour: int = 0
    dashed: bool = False


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
    """All of a chart. `band` joins the intervals, `diagonal` draws where both axes are equal.

    `curves` name several lines, which have a legend below; `marks` are places of the horizontal axis with words, in
    the colour of `mark_role`.
    """

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
    curves: tuple[Curve, ...] = ()
    marks: tuple[Tick, ...] = ()
    mark_role: Role = Role.BAD

    def groups(self) -> Iterator[tuple[Curve, list[Point]]]:
        """Yield each line with its points."""
        for place, curve in enumerate(self.curves or (Curve(name=""),)):
            yield curve, [point for point in self.points if point.curve == place]


class PlotFrame:
    """Mapping of values to positions in an area."""

    def __init__(self, area: QRectF, plot: Plot) -> None:
        legend = sized(LEGEND) * -(-len(plot.curves) // IN_A_ROW)
        area = area.adjusted(0, 0, 0, -legend)
        foot = sized(BOTTOM) + (BARS + 8 if plot.bars else 0)
        self.box = area.adjusted(sized(LEFT), TOP, -RIGHT, -foot)
        self.bars = QRectF(self.box.left(), self.box.bottom() + 8, self.box.width(), BARS)
        self.axis = area.bottom() - sized(BOTTOM)
        self.legend = QRectF(self.box.left(), area.bottom(), self.box.width(), legend)
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
        """Show another plot; the point that the keyboard is at stays current, since results come while one walks."""
        before = self._plot.points[self._current] if self._current >= 0 else None
        self._plot = plot
        places = (place for place, one in enumerate(plot.points) if before and one.is_same_place(before))
        self._set_current(next(places, -1))

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
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
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
            for curve, points in plot.groups():
                _draw_band(painter, frame, curve, points, several=bool(plot.curves))
        else:
            _draw_whiskers(painter, frame, plot.points)
        self._draw_marks(painter, frame)
        for curve, points in plot.groups():
            _draw_line(painter, frame, curve, points)
        self._draw_dots(painter, frame)
        self._draw_corner(painter, frame)
        self._draw_legend(painter, frame)

    def _draw_dots(self, painter: QPainter, frame: PlotFrame) -> None:
        """Draw the points; of a single long band only the last one and the one under the mouse."""
        plot = self._plot
        last = len(plot.points) - 1
        few = not plot.band or plot.curves or len(plot.points) <= 3
        for number, point in enumerate(plot.points):
            if few or number in (self._current, last):
                curve = plot.curves[point.curve] if plot.curves else Curve(name="")
                _draw_dot(painter, frame.at(point), curve, DOT + 1.5 if number == self._current else DOT)

    def _draw_marks(self, painter: QPainter, frame: PlotFrame) -> None:
        font = theme().font(Size.SMALL, strong=True)
        for place, (value, text) in enumerate(self._plot.marks):
            at, wide = frame.x(value), self._line.width(text, font) + 2
            painter.setPen(QPen(theme().colour(self._plot.mark_role), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(at, frame.box.top()), QPointF(at, frame.box.bottom()))
            left = at + 6 if at + 6 + wide <= frame.box.right() else at - 6 - wide
            bottom = frame.box.bottom() - sized(20) * (place + 1)
            self._line.text(painter, QRectF(left, bottom, wide, sized(18)), text, font, self._plot.mark_role)

    def _draw_legend(self, painter: QPainter, frame: PlotFrame) -> None:
        """Name the curves below the axis, some in a row; what does not fit is cut, and the tips hold it."""
        font, high = theme().font(Size.SMALL), sized(LEGEND)
        column = frame.legend.width() / min(IN_A_ROW, max(1, len(self._plot.curves)))
        for place, curve in enumerate(self._plot.curves):
            left = frame.legend.left() + column * (place % IN_A_ROW)
            top = frame.legend.top() + high * (place // IN_A_ROW)
            painter.setPen(_pen(curve))
            painter.drawLine(QPointF(left, top + high / 2), QPointF(left + SWATCH, top + high / 2))
            words = QRectF(left + SWATCH + 6, top, column - SWATCH - 14, high)
            self._line.text(painter, words, curve.name, font, Role.TEXT)

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
        """Return the point in reach: the closest column, and within it the closest point; -1 for none."""
        frame = PlotFrame(QRectF(self.rect()), self._plot)
        gaps = [
            (abs(frame.x(point.x) - at.x()), abs(frame.y(point.y) - at.y()) if self._plot.curves else 0.0)
            for point in self._plot.points
        ]
        best = min(range(len(gaps)), key=gaps.__getitem__, default=-1)
        inside = frame.box.adjusted(-REACH, -REACH, REACH, REACH).contains(at)
        return best if best >= 0 and inside and gaps[best][0] <= REACH else -1

    def _text_at(self, at: QPointF) -> str:
        frame = PlotFrame(QRectF(self.rect()), self._plot)
        if at.y() > frame.box.bottom():
            return next((bar.tip for bar in self._plot.bars if frame.x(bar.start) <= at.x() < frame.x(bar.end)), "")
        number = self._nearest(at)
        return self._plot.points[number].tip if number >= 0 else ""

    def _take(self, number: int) -> None:
        if number != self._current:
            self._set_current(number)

    def _set_current(self, number: int) -> None:
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


def _pen(curve: Curve, width: float = 1.5) -> QPen:
    style = Qt.PenStyle.DashLine if curve.dashed else Qt.PenStyle.SolidLine
    return QPen(_colour(curve), width, style)


def _colour(curve: Curve) -> QColor:
    return theme().colour(COLOURS[curve.colour % len(COLOURS)])


def _draw_band(painter: QPainter, frame: PlotFrame, curve: Curve, points: Sequence[Point], *, several: bool) -> None:
    """Fill between the ends of the intervals; bands of several curves let each other shine through."""
    known = [] if curve.dashed else [(frame.x(one.x), *ends) for one in points if (ends := _ends(one))]
    if not known:
        return
    lower, upper = ([QPointF(x, frame.y(end[place])) for x, *end in known] for place in (0, 1))
    path = QPainterPath()
    path.addPolygon(QPolygonF([*upper, *reversed(lower)]))
    fill, edges = _band_colours(curve) if several else (theme().colour(Role.ACCENT_TINT), theme().colour(Role.CONTROL))
    painter.fillPath(path, fill)
    painter.setPen(QPen(edges, 1))
    for edge in (lower, upper):
        painter.drawPolyline(QPolygonF(edge))


def _ends(point: Point) -> tuple[float, float] | None:
    """Return both ends of an interval; None where one is not known."""
    return None if point.low is None or point.high is None else (point.low, point.high)


def _band_colours(curve: Curve) -> tuple[QColor, QColor]:
    fill, edges = QColor(_colour(curve)), QColor(_colour(curve))
    fill.setAlphaF(BAND_ALPHA)
    edges.setAlphaF(3 * BAND_ALPHA)
    return fill, edges


def _draw_line(painter: QPainter, frame: PlotFrame, curve: Curve, points: Sequence[Point]) -> None:
    painter.setPen(_pen(curve))
    painter.drawPolyline(QPolygonF([frame.at(point) for point in points]))


def _draw_dot(painter: QPainter, place: QPointF, curve: Curve, radius: float) -> None:
    """Draw a point; a disc, or a square for every other colour, so that colour is not all that tells them apart."""
    painter.setPen(QPen(theme().colour(Role.SURFACE), 1))
    painter.setBrush(_colour(curve))
    if curve.colour % 2:
        painter.drawRect(QRectF(place.x() - radius, place.y() - radius, 2 * radius, 2 * radius))
    else:
        painter.drawEllipse(place, radius, radius)
