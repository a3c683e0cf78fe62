"""A report as PDF: pages with numbers, charts as lines and not as pixels, and nothing loaded from anywhere.

It runs in a process of its own, `mcp-tef-desktop --print TITLE FILE.pdf`, which reads the page from its input: laying
out a long report keeps Python to itself for seconds, and the window's thread needs it every few milliseconds. Once it
has the page it needs nobody any more: the file is finished even where the window is gone by then.

Where a long report is cut into pages: between lines and rows, and never between a heading and what follows it.
"""

import html
import re
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMarginsF, QRect, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QImage,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPyTextObject,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
)
from PySide6.QtSvg import QSvgRenderer

from mcp_tef import write_file


@dataclass(frozen=True, slots=True)
class PageSpan:
    """Part of the report between two vertical positions."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        """Height of the span."""
        return self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece that is never cut: a line, a chart, a row. `keep` ties it to the next; `head` is its table's head."""

    span: PageSpan
    keep: bool = False
    head: PageSpan | None = None


@dataclass(frozen=True, slots=True)
class PdfPage:
    """Page: its part of the report, below the head of a table that continues."""

    span: PageSpan
    head: PageSpan | None = None


def sheets(pieces: Sequence[Piece], height: float) -> list[PdfPage]:
    """Distribute pieces over pages of a height."""
    made: list[PdfPage] = []
    start = 0
    while start < len(pieces):
        head = pieces[start].head
        room = height - (head.height if head else 0)
        end = _end(pieces, start, room)
        made += _split(PageSpan(pieces[start].span.top, pieces[end - 1].span.bottom), head, room)
        start = end
    return made


def _end(pieces: Sequence[Piece], start: int, room: float) -> int:
    """Return the end of the page that begins at a piece: as late as possible, never behind a piece tied to the next."""
    top, end = pieces[start].span.top, start + 1
    while end < len(pieces) and pieces[end].span.bottom - top <= room:
        end += 1
    if end == len(pieces):
        return end
    loose = (at for at in range(end, start, -1) if not pieces[at - 1].keep)
    return next(loose, end)


def _split(span: PageSpan, head: PageSpan | None, room: float) -> list[PdfPage]:
    """Return one page, or several if a single piece is higher than a page."""
    count = max(1, -int(-span.height // room))
    tops = [span.top + room * at for at in range(count)]
    return [PdfPage(PageSpan(top, min(top + room, span.bottom)), head) for top in tops]


DPI: Final = 96
FINE: Final = 1200
MARGIN_MM: Final = 16
FOOT, FOOT_TEXT = 24, 10
CELL_PADDING, LINE = 3, 1
LARGEST_DATA: Final = 20_000_000
_OBJECT: Final = QTextFormat.ObjectTypes.UserObject.value + 1
_CHART: Final = QTextFormat.Property.UserProperty.value + 1
_DIM, _TEXT = "#5c626e", "#1b1d23"
_FILLS: Final[Mapping[str, str]] = {
    "f-good": "#007f59",
    "f-bad": "#ad4000",
    "f-warn": "#b97a00",
    "f-info": "#3389c2",
    "f-none": "#c4c8d0",
    "cell": "#2f3796",
    "dot": "#4650c8",
    "dim": _DIM,
    "on-dark": "#ffffff",
    "on-pale": "#0b0c0f",
    "on-deep": "#ffffff",
    "pixels": "none",
}
_STROKES: Final[Mapping[str, str]] = {
    "axis": 'stroke="#d4d7dd"',
    "flag": 'stroke="#ff6a3d" stroke-width="2"',
    "interval": 'stroke="#4650c8" stroke-width="2"',
    "diagonal": f'stroke="{_DIM}" stroke-dasharray="3 3"',
}
STYLE: Final = f"""
body {{ color: {_TEXT}; }} h1 {{ font-size: 17pt; margin: 0 0 6px 0; }} h2 {{ font-size: 12pt; margin: 18px 0 4px 0; }}
h3 {{ font-size: 9.5pt; margin: 12px 0 2px 0; }} p {{ margin: 2px 0 6px 0; color: {_DIM}; }}
.lead {{ color: {_TEXT}; }} .lead strong {{ font-size: 17pt; }} .dim {{ color: {_DIM}; }}
table {{ border-collapse: collapse; margin: 4px 0 4px 0; }}
td, th {{ padding: {CELL_PADDING}px 8px {CELL_PADDING}px 0; font-size: 8pt;
  border-bottom: 0.5px solid #d4d7dd; vertical-align: top; }}
th {{ color: {_DIM}; font-weight: 600; text-align: left; }} td.number, th.number {{ text-align: right; }}
code, pre {{ font-family: monospace; font-size: 7.5pt; }}
pre {{ white-space: pre-wrap; margin: 2px 0 6px 0; }} li {{ margin: 2px 0; }}
.f-good {{ color: #007f59; }} .f-bad {{ color: #ad4000; }} .f-warn {{ color: #b97a00; }} .f-info {{ color: #3389c2; }}
.f-none {{ color: #c4c8d0; }} .good {{ color: #00714f; }} .bad {{ color: #b54200; }} .warn {{ color: #875800; }}
"""


def main(arguments: Sequence[str]) -> int:
    """Print the HTML page from stdin into a file; return 1 and write the reason to stderr if that fails."""
    title, file = arguments
    page = sys.stdin.buffer.read().decode("utf-8")
    if not page.rstrip().endswith("</html>"):
        sys.stderr.write("the report did not arrive whole")
        return 1
    running = QGuiApplication.instance() or QGuiApplication(["mcp-tef"])
    try:
        write_file(Path(file), pdf_of(page, title))
    except OSError as error:
        sys.stderr.write(error.strerror or str(error))
        return 1
    del running
    return 0


def pdf_of(page: str, title: str) -> bytes:
    """Return an HTML page as a PDF."""
    printed = QBuffer()
    printed.open(QIODevice.OpenModeFlag.WriteOnly)
    _print(page, title, printed)
    return bytes(printed.data().data())


def _print(page: str, title: str, printed: QIODevice) -> None:
    writer = QPdfWriter(printed)
    writer.setTitle(title)
    writer.setCreator("mcp-tef")
    writer.setResolution(FINE)
    writer.setPageLayout(_layout())
    painter = QPainter(writer)
    painter.scale(FINE / DPI, FINE / DPI)
    area = writer.pageLayout().paintRectPixels(DPI)
    size = QSizeF(area.width(), area.height() - FOOT)
    document = Sealed(page, size)
    made = sheets(document.pieces(), size.height())
    for number, sheet in enumerate(made, 1):
        if number > 1:
            writer.newPage()
        _draw(painter, document, sheet)
        _foot(painter, QRectF(0, size.height(), size.width(), FOOT), title, f"{number} of {len(made)}")
    painter.end()


def _layout() -> QPageLayout:
    """Return A4, or Letter in countries that use inches."""
    inches = QLocale.system().measurementSystem() is QLocale.MeasurementSystem.ImperialUSSystem
    paper = QPageSize(QPageSize.PageSizeId.Letter if inches else QPageSize.PageSizeId.A4)
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM - 6)
    return QPageLayout(paper, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter)


def _draw(painter: QPainter, document: QTextDocument, sheet: PdfPage) -> None:
    """Draw a page of the report, below the head of the table that continues on it."""
    at = 0.0
    for span in (sheet.head, sheet.span):
        if span is not None:
            painter.save()
            painter.translate(0, at - span.top)
            document.drawContents(painter, QRectF(0, span.top, document.textWidth(), span.height))
            painter.restore()
            at += span.height


def _foot(painter: QPainter, place: QRectF, title: str, page: str) -> None:
    small = QFont()
    small.setPixelSize(FOOT_TEXT)
    painter.setFont(small)
    painter.setPen(QColor(_DIM))
    below = Qt.AlignmentFlag.AlignBottom
    short = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(place.width() - 80))
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | below, short)
    painter.drawText(place, Qt.AlignmentFlag.AlignRight | below, page)


def _font(points: float) -> QFont:
    made = QFont()
    made.setPointSizeF(points)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


class Sealed(QTextDocument):
    """Report laid out for paper; it loads only the pictures that are embedded in it."""

    def __init__(self, page: str, size: QSizeF) -> None:
        super().__init__()
        markup, charts = printable(page)
        self._charts = [QSvgRenderer(QByteArray(chart.encode())) for chart in charts]
        self._drawing = _Drawing(self._charts, size)
        self.documentLayout().registerHandler(_OBJECT, self._drawing)
        self.setDefaultFont(_font(9))
        self.setDocumentMargin(0)
        self.setDefaultStyleSheet(STYLE)
        self.setHtml(markup)
        self._place_charts()
        self.setTextWidth(size.width())

    def pieces(self) -> list[Piece]:
        """Return the pieces that must not be cut, from top to bottom."""
        found: list[Piece] = []
        place = self.rootFrame().begin()
        while not place.atEnd():
            frame, block = place.currentFrame(), place.currentBlock()
            found += self._rows(frame) if isinstance(frame, QTextTable) else self._lines(block)
            place += 1
        return found

    def _rows(self, table: QTextTable) -> list[Piece]:
        """Yield the rows of a table; its head is repeated on every page."""
        box, columns = self.documentLayout().blockBoundingRect, range(table.columns())
        rows = [[table.cellAt(row, column) for column in columns] for row in range(table.rows())]
        tops = [min(box(cell.firstCursorPosition().block()).top() for cell in row) - CELL_PADDING for row in rows]
        last = max(box(cell.lastCursorPosition().block()).bottom() for cell in rows[-1]) + CELL_PADDING + LINE
        spans = [PageSpan(top, end) for top, end in zip(tops, [*tops[1:], last], strict=True)]
        heads = table.format().headerRowCount()
        head = PageSpan(spans[0].top, spans[heads - 1].bottom) if heads else None
        return [Piece(span, row < heads, None if row < heads else head) for row, span in enumerate(spans)]

    def _lines(self, block: QTextBlock) -> list[Piece]:
        """Return the lines of a paragraph.

        Its first and last two stay together; a heading, and what leads to a table or a chart, with what follows.
        """
        if not block.text():
            return []
        top, layout = self.documentLayout().blockBoundingRect(block).top(), block.layout()
        spans = [
            PageSpan(top + line.y(), top + line.y() + line.height())
            for line in (layout.lineAt(number) for number in range(layout.lineCount()))
        ]
        tied = bool(block.blockFormat().headingLevel()) or _leads_on(block)
        last = len(spans) - 1
        return [Piece(span, tied if at == last else tied or at in (0, last - 1)) for at, span in enumerate(spans)]

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return picture(QUrl(name).toString())

    def _place_charts(self) -> None:
        found = QTextCursor(self)
        for number in range(len(self._charts)):
            found = self.find(_MARK.format(number), found)
            drawn = QTextCharFormat()
            drawn.setObjectType(_OBJECT)
            drawn.setProperty(_CHART, number)
            found.insertText("\ufffc", drawn)


def _leads_on(block: QTextBlock) -> bool:
    """Return True if a chart or a table directly follows a paragraph."""
    after = block.next()
    while after.isValid() and not after.text() and QTextCursor(after).currentTable() is None:
        after = after.next()
    return after.isValid() and ("\ufffc" in after.text() or QTextCursor(after).currentTable() is not None)


class _Drawing(QPyTextObject):
    """Renderer of charts between the lines of a text, no wider than the page."""

    def __init__(self, charts: Sequence[QSvgRenderer], page: QSizeF) -> None:
        super().__init__()
        self._charts, self._page = charts, page

    def intrinsicSize(self, document: QTextDocument, place: int, form: QTextFormat) -> QSizeF:
        size = QSizeF(self._charts[form.intProperty(_CHART)].defaultSize())
        most = min(
            1.0, self._page.width() / max(1.0, size.width()), 0.8 * self._page.height() / max(1.0, size.height())
        )
        return size * most

    def drawObject(
        self, painter: QPainter, place: QRectF | QRect, document: QTextDocument, at: int, form: QTextFormat
    ) -> None:
        painter.save()
        self._charts[form.intProperty(_CHART)].render(painter, QRectF(place))
        painter.restore()


_MARK: Final = "\ue000{}\ue001"
_SVG: Final = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_WIDTHS: Final = re.compile(r'(<table width="100%" class="runs"><thead><tr>)<th>([^<]*</th>)<th>')
_TABLE: Final = re.compile(r'<table(?! class="narrow")')
_CLASS: Final = re.compile(r'class="([a-z -]*)"')


def printable(page: str) -> tuple[str, list[str]]:
    """Return the markup with a placeholder for each chart, and the charts, coloured for paper."""
    body = page.partition("<body>")[2].partition("</body>")[0]
    charts = [_coloured(chart) for chart in _SVG.findall(body)]
    numbers = iter(range(len(charts)))
    marked = _SVG.sub(
        lambda _: f"<p>{_MARK.format(next(numbers))}</p>", body.replace("\ue000", "").replace("\ue001", "")
    )
    return _WIDTHS.sub(_with_widths, _TABLE.sub('<table width="100%"', marked)), charts


def _with_widths(found: re.Match[str]) -> str:
    """Give the queries of runs most of the width, because paper is narrower than a window."""
    return f'{found[1]}<th width="15%">{found[2]}<th width="36%">'


def _coloured(chart: str) -> str:
    bare = _CLASS.sub(lambda found: _worn(found[1]), chart)
    return bare.replace("<svg ", f'<svg font-size="12" fill="{_TEXT}" ', 1)


def _worn(classes: str) -> str:
    """Replace CSS classes by attributes, because a picture on paper has no style sheet."""
    return " ".join(
        _STROKES.get(one) or f'fill="{_FILLS[one]}"' for one in classes.split() if one in {**_STROKES, **_FILLS}
    )


def picture(address: str) -> QImage | None:
    """Decode a picture from a data URL; other addresses are refused."""
    kind, found, data = address.partition(";base64,")
    if kind != "data:image/png" or not found or len(data) > LARGEST_DATA:
        return None
    try:
        image = QImage.fromData(b64decode(html.unescape(data), validate=True))
    except ValueError:
        return None
    return None if image.isNull() else image
