"""Pieces of text with a look of their own, and how to draw a line of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen

from app.theme import Role, Size, theme
from app.widgets.safe_text import LINE_LIMIT, visible

ONE_LINE = {
    align: align.value | Qt.AlignmentFlag.AlignVCenter.value | Qt.TextFlag.TextSingleLine.value
    for align in (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter)
}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text; `back` is the colour of a rounded mark under it, `strike` draws a line through it."""

    text: str
    role: Role = Role.TEXT
    strong: bool = False
    mono: bool = False
    italic: bool = False
    back: Role | None = None
    strike: bool = False

    def font(self, size: Size) -> QFont:
        """Its font at a size."""
        font = theme().font(size, strong=self.strong, mono=self.mono, italic=self.italic)
        return _struck(font) if self.strike else font


def marked(text: str, ranges: Iterable[tuple[int, int]], back: Role, role: Role = Role.TEXT) -> tuple[Span, ...]:
    """`text` with (start, end) ranges, counted in Python characters, marked; ranges in order, not overlapping."""
    spans: list[Span] = []
    position = 0
    for start, end in ranges:
        spans.append(Span(text[position:start], role))
        spans.append(Span(text[start:end], role, back=back))
        position = end
    spans.append(Span(text[position:], role))
    return tuple(span for span in spans if span.text)


def _struck(font: QFont) -> QFont:
    made = QFont(font)
    made.setStrikeOut(True)
    return made


def joined(spans: Sequence[Span]) -> str:
    """Return the text alone."""
    return "".join(span.text for span in spans)


class LinePainter:
    """Draws single lines, with widths and elided texts remembered."""

    def __init__(self) -> None:
        self._metrics: dict[str, QFontMetricsF] = {}
        self._elided: dict[tuple[str, str, int, bool], tuple[str, float]] = {}

    def spans(self, painter: QPainter, rect: QRectF, spans: Sequence[Span], size: Size) -> float:
        """Draw spans one after the other until `rect` is full; the width used."""
        left = rect.left()
        for span in spans:
            room = QRectF(left, rect.top(), rect.right() - left, rect.height())
            if room.width() < 4:
                break
            left += self.text(painter, room, span.text, span.font(size), span.role)
        return left - rect.left()

    def text(
        self,
        painter: QPainter,
        rect: QRectF,
        text: str,
        font: QFont,
        role: Role,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> float:
        """Draw one text, elided to `rect`, in the middle of its height; the width used."""
        shown, used = self.fit(text, font, rect.width())
        painter.setFont(font)
        painter.setPen(theme().colour(role))
        painter.drawText(rect, ONE_LINE[align], shown)
        return used

    def width(self, text: str, font: QFont) -> float:
        """Return the width of a text."""
        return self.fit(text, font, 100_000)[1]

    def fit(self, text: str, font: QFont, width: float, *, middle: bool = False) -> tuple[str, float]:
        """Return the text, hidden characters shown, cut with … at its end or middle to a width, and its width then."""
        key = (text, font.key(), int(width), middle)
        if key not in self._elided:
            if len(self._elided) > 8_000:
                self._elided.clear()
            metrics = self._metrics_of(font)
            mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
            shown = metrics.elidedText(visible(text, LINE_LIMIT), mode, width)
            self._elided[key] = (shown, metrics.horizontalAdvance(shown))
        return self._elided[key]

    def _metrics_of(self, font: QFont) -> QFontMetricsF:
        key = font.key()
        if key not in self._metrics:
            self._metrics[key] = QFontMetricsF(font)
        return self._metrics[key]


def paint_icon(painter: QPainter, name: str, left: float, middle: float, side: int, role: Role = Role.DIM) -> None:
    """Draw an icon at a left edge, in the middle of a line."""
    ratio = painter.device().devicePixelRatioF()
    painter.drawPixmap(QPoint(round(left), int(middle) - side // 2), theme().pixmap(name, role, side, ratio))


def paint_box(
    painter: QPainter, rect: QRect, line: Role | None, fill: Role | None, corner: float, width: int = 1
) -> None:
    """Draw a rounded box inside `rect`, with a line of some width around it, or none."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme().colour(line), width) if line else Qt.PenStyle.NoPen)
    painter.setBrush(theme().colour(fill) if fill else Qt.BrushStyle.NoBrush)
    inset = width / 2 if line else 0
    painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), corner, corner)
