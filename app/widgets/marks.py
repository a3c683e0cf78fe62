"""Small marks that tell by shape first and colour second: outlined when fine, solid when something needs a look."""

from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import Role, radius, sized, theme
from app.theme.current import application
from app.widgets.accessibility import Spoken


class Mark(Enum):
    """A shape with its colour: outcomes, then states, notes, boxes, a result that is not decided yet, and losses."""

    CHECK = "check"
    TILDE = "tilde"
    DASH = "dash"
    CROSS = "cross"
    BANG = "bang"
    BROKEN = "broken"
    DOT = "dot"
    ARC = "arc"
    TRIANGLE = "triangle"
    RING = "ring"
    NOTE = "note"
    WAITING = "waiting"
    BLANK = "blank"
    TICKED = "ticked"
    UNTICKED = "not ticked"
    UNDECIDED = "undecided"
    LISTED = "listed"
    CUT = "cut"
    LENS = "lens"
    LEFT_OUT = "left out"


def mark_pixmap(mark: Mark, size: int = 16, scale: float = 0.0) -> QPixmap:
    """Return the mark as pixels, drawn once per size and scale; `scale` 0 takes the main screen's."""
    ratio = scale or application().devicePixelRatio()
    return theme().cached((mark, size, ratio), lambda: _draw(mark, size, ratio))


class MarkLabel(QWidget):
    """One mark as a widget; `word` is what a screen reader says."""

    SPOKEN_AS = Spoken.Graphic

    def __init__(self, mark: Mark = Mark.BLANK, word: str = "", size: int = 16) -> None:
        super().__init__()
        self._mark = mark
        self._size = sized(size)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.set_mark(mark, word)

    def set_mark(self, mark: Mark, word: str) -> None:
        """Show another mark."""
        self._mark = mark
        self.setAccessibleName(word)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._size, self._size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawPixmap(0, 0, mark_pixmap(self._mark, self._size, self.devicePixelRatioF()))


def _draw(mark: Mark, size: int, scale: float) -> QPixmap:
    pixmap = QPixmap(round(size * scale), round(size * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / 16, size / 16)
    _DRAWERS[mark](painter)
    painter.end()
    return pixmap


def _pen(role: Role, width: float) -> QPen:
    pen = QPen(theme().colour(role), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen


def _circle(painter: QPainter, line: Role | None, fill: Role | None, inset: float, width: float = 1.2) -> None:
    painter.setPen(_pen(line, width) if line else Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QRectF(inset, inset, 16 - 2 * inset, 16 - 2 * inset))


def _stroke(painter: QPainter, role: Role, width: float, *points: tuple[float, float]) -> None:
    painter.setPen(_pen(role, width))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in points]))


def _check(painter: QPainter) -> None:
    _circle(painter, Role.GOOD, Role.GOOD_TINT, 0.7)
    _stroke(painter, Role.GOOD, 1.6, (5, 8.3), (7.1, 10.4), (11.1, 6))


def _dash(painter: QPainter) -> None:
    _circle(painter, Role.INFO, None, 0.7)
    _stroke(painter, Role.INFO, 1.6, (5.2, 8), (10.8, 8))


def _tilde(painter: QPainter) -> None:
    _circle(painter, None, Role.WARN, 0.2)
    wave = QPainterPath(QPointF(4.4, 9))
    wave.cubicTo(6.4, 4.2, 9.6, 11.8, 11.6, 7)
    painter.setPen(_pen(Role.SURFACE, 1.8))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(wave)


def _cross(painter: QPainter) -> None:
    _circle(painter, None, Role.BAD, 0.2)
    _stroke(painter, Role.SURFACE, 1.7, (5.6, 5.6), (10.4, 10.4))
    _stroke(painter, Role.SURFACE, 1.7, (10.4, 5.6), (5.6, 10.4))


def _bang(painter: QPainter) -> None:
    _circle(painter, None, Role.WARN, 0.2)
    _exclamation(painter, Role.SURFACE, 1.8)


def _exclamation(painter: QPainter, role: Role, width: float) -> None:
    _stroke(painter, role, width, (8, 4.3), (8, 8.7))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(role))
    painter.drawEllipse(QPointF(8, 11.5), width * 0.58, width * 0.58)


def _broken(painter: QPainter) -> None:
    painter.setPen(_pen(Role.CONTROL, 1.2))
    for step in range(8):
        painter.drawArc(QRectF(0.9, 0.9, 14.2, 14.2), (step * 45 + 8) * 16, 25 * 16)


def _arc(painter: QPainter) -> None:
    painter.setPen(_pen(Role.INFO, 1.8))
    painter.drawArc(QRectF(4, 4, 8, 8), 100 * 16, 250 * 16)


def _triangle(painter: QPainter) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(Role.BAD))
    painter.drawPolygon(QPolygonF([QPointF(8, 3.6), QPointF(13, 12.2), QPointF(3, 12.2)]))


def _note(painter: QPainter) -> None:
    _circle(painter, Role.WARN, None, 0.7)
    _exclamation(painter, Role.WARN, 1.4)


def _undecided(painter: QPainter) -> None:
    _circle(painter, Role.CONTROL, None, 0.7)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(Role.CONTROL))
    for place in (4.6, 8.0, 11.4):
        painter.drawEllipse(QPointF(place, 8), 1.3, 1.3)


def _tile(painter: QPainter, role: Role) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(role))
    painter.drawRoundedRect(QRectF(0.5, 0.5, 15, 15), radius("check_box"), radius("check_box"))


def _listed(painter: QPainter) -> None:
    painter.setPen(_pen(Role.GOOD, 1))
    painter.setBrush(theme().colour(Role.GOOD_TINT))
    painter.drawRoundedRect(QRectF(0.5, 0.5, 15, 15), radius("check_box"), radius("check_box"))
    for line in (5, 8, 11):
        _stroke(painter, Role.GOOD, 1.3, (4, line), (12, line))


def _left_out(painter: QPainter) -> None:
    _tile(painter, Role.BAD)
    _stroke(painter, Role.SURFACE, 2, (3.6, 12.4), (12.4, 3.6))


def _cut(painter: QPainter) -> None:
    _tile(painter, Role.WARN)
    _stroke(painter, Role.SURFACE, 1.5, (3.4, 5), (9, 5))
    _stroke(painter, Role.SURFACE, 1.5, (3.4, 8), (12.6, 8))
    _stroke(painter, Role.SURFACE, 1.5, (3.4, 11), (6, 11))


def _lens(painter: QPainter) -> None:
    _tile(painter, Role.INFO)
    painter.setPen(_pen(Role.SURFACE, 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QPointF(7, 7), 2.9, 2.9)
    _stroke(painter, Role.SURFACE, 1.5, (9.3, 9.3), (12, 12))


def _box(painter: QPainter, *, ticked: bool) -> None:
    painter.setPen(_pen(Role.ACCENT_FILL if ticked else Role.CONTROL, 1))
    painter.setBrush(theme().colour(Role.ACCENT_FILL if ticked else Role.SURFACE))
    painter.drawRoundedRect(QRectF(0.5, 0.5, 15, 15), radius("check_box"), radius("check_box"))
    if ticked:
        _stroke(painter, Role.ON_ACCENT, 1.7, (4.3, 8.3), (6.9, 10.9), (11.7, 5.3))


_DRAWERS: dict[Mark, Callable[[QPainter], None]] = {
    Mark.CHECK: _check,
    Mark.TILDE: _tilde,
    Mark.DASH: _dash,
    Mark.CROSS: _cross,
    Mark.BANG: _bang,
    Mark.BROKEN: _broken,
    Mark.DOT: lambda painter: _circle(painter, None, Role.GOOD, 4),
    Mark.ARC: _arc,
    Mark.TRIANGLE: _triangle,
    Mark.RING: lambda painter: _circle(painter, Role.CONTROL, None, 4.2, 1.5),
    Mark.NOTE: _note,
    Mark.WAITING: lambda painter: _circle(painter, None, Role.CONTROL, 5.5),
    Mark.BLANK: lambda painter: None,
    Mark.TICKED: lambda painter: _box(painter, ticked=True),
    Mark.UNTICKED: lambda painter: _box(painter, ticked=False),
    Mark.UNDECIDED: _undecided,
    Mark.LISTED: _listed,
    Mark.LEFT_OUT: _left_out,
    Mark.CUT: _cut,
    Mark.LENS: _lens,
}
