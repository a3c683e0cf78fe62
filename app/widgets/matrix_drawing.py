"""Painter of a square of counts: shaded cells, names at the side, letters above, totals and a legend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10
from typing import TypeAlias

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.theme import Role, Size, sized, theme
from app.theme.tokens import tokens
from app.widgets.safe_text import one_line
from app.widgets.spans import LinePainter

FAINTEST, DEPTH, BEND = 0.08, 0.86, 0.62


def ramp() -> tuple[QColor, QColor]:
    """Return the ends of the ramp in the scheme of now."""
    scheme = ("high_contrast_" if theme().high else "") + ("dark" if theme().dark else "light")
    ends = tokens()["confusion_ramp"][scheme]
    return QColor(ends["low"]), QColor(ends["high"])


def shade(low: QColor, high: QColor, share: float) -> QColor:
    """Return the colour of a share of the most, above 0; small shares are lifted, so that a single one is visible."""
    mix = FAINTEST + DEPTH * share**BEND
    return QColor(
        round(low.red() + (high.red() - low.red()) * mix),
        round(low.green() + (high.green() - low.green()) * mix),
        round(low.blue() + (high.blue() - low.blue()) * mix),
    )


def luminance(colour: QColor) -> float:
    """Relative luminance after WCAG 2, 0 to 1."""
    red, green, blue = (linear_part(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: QColor) -> QColor:
    """White or black, whichever has more contrast on a colour."""
    light = luminance(colour)
    return QColor("#000000") if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else QColor("#FFFFFF")


def linear_part(part: float) -> float:
    """Return a part of sRGB in linear light, 0 to 1."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


PRINTED = 22
TIGHT = 13
HEAD = 20
EDGE = 16
GAP = 8
LEGEND = 26
MOST_NAME = 190
MEASURED = 12
GAPLESS = 6
LINE, SWATCH = 20, 20
Cell: TypeAlias = tuple[int, int]
Ring: TypeAlias = tuple[Cell | None, Role, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Counts by (row, column). Columns are headed by short `keys`; a row with the same key shows it after its name.

    `aside` are places of rows in italics, `frequent` cells that need a look; `cell_text` puts a cell in words.
    """

    rows: tuple[str, ...] = ()
    row_keys: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    cells: Mapping[Cell, int] = field(default_factory=dict)
    totals: tuple[int, ...] = ()
    aside: frozenset[int] = frozenset()
    frequent: frozenset[Cell] = frozenset()
    unit: str = ""
    cell_text: Callable[[int, int], str] = lambda _row, _column: ""


class MatrixLayout:
    """Geometry for one cell size; the origin is the scrolled corner of the square."""

    def __init__(self, matrix: Matrix, names: int, keys: int, totals: int, side: int, origin: QPoint) -> None:
        self.side = side
        self.left = EDGE + names + GAP + keys + 4
        self.top = sized(HEAD)
        self.names = QRectF(EDGE, 0, names, side)
        self.key = keys
        self.totals = totals
        self.wide = side * len(matrix.keys)
        self.high = side * len(matrix.rows)
        self.origin = origin

    def cell(self, row: int, column: int) -> QRect:
        left = self.left + column * self.side - self.origin.x()
        return QRect(left, self.top + row * self.side - self.origin.y(), self.side, self.side)

    def row_top(self, row: int) -> int:
        return self.top + row * self.side - self.origin.y()


class MatrixPainter:
    """Draws one matrix at any scroll position and size of cell."""

    def __init__(self, matrix: Matrix, line: LinePainter) -> None:
        self.matrix = matrix
        self._line = line
        self._most = max(matrix.cells.values(), default=1)
        self._by_row: dict[int, list[tuple[int, int]]] = {}
        for (row, column), count in matrix.cells.items():
            self._by_row.setdefault(row, []).append((column, count))
        self.widths = self._measured()

    def _measured(self) -> tuple[int, int, int]:
        mono, small = theme().font(mono=True), theme().font(Size.SMALL, tabular=True)
        names = self._widest([one_line(name) for name in self.matrix.rows], mono)
        keys = self._widest(self.matrix.row_keys, small)
        totals = self._widest([f"{max(self.matrix.totals, default=0):,}"], small)
        return min(sized(MOST_NAME), round(names) + 2), round(keys) + 2, round(totals) + 2

    def _widest(self, texts: Sequence[str], font: QFont) -> float:
        """Return the width of the widest name; only the longest are measured."""
        longest = sorted(texts, key=len, reverse=True)[:MEASURED]
        return max((self._line.width(text, font) for text in longest), default=0.0)

    def draw(
        self, painter: QPainter, places: MatrixLayout, view: QRect, rings: Sequence[Ring], hovered: Cell | None
    ) -> None:
        """Draw what of the square is in view, its names, keys, totals and the legend."""
        if not self.matrix.rows:
            return
        inner = view.adjusted(0, 0, 0, -sized(LEGEND))
        rows = _seen(places.origin.y(), inner.height(), places.side, len(self.matrix.rows))
        columns = _seen(places.origin.x(), view.right() - places.left, places.side, len(self.matrix.keys))
        painter.save()
        right = min(view.right() + 1, places.left + places.wide - places.origin.x())
        painter.setClipRect(
            QRect(places.left, places.top, max(0, view.right() - places.left), inner.bottom() - sized(HEAD))
        )
        self._draw_ground(painter, places, rows, columns)
        self._draw_cells(painter, places, rows, columns)
        for cell, role, thick in rings:
            if cell is not None:
                box = QRectF(places.cell(*cell)).adjusted(-1, -1, 0, 0)
                painter.setPen(QPen(theme().colour(role), thick, j=Qt.PenJoinStyle.MiterJoin))
                painter.drawRect(box.adjusted(thick / 2, thick / 2, -thick / 2, -thick / 2))
        above = 0 if places.origin.y() else sized(HEAD)  # the first name is higher than a low row
        names = QRect(0, places.top, view.width(), max(0, inner.bottom() - sized(HEAD) + 1))
        painter.setClipRect(names.adjusted(0, -above, 0, 0))
        self._draw_names(painter, places, rows, right, hovered[0] if hovered else -1)
        painter.setClipRect(QRect(places.left, 0, max(0, view.right() - places.left), sized(HEAD)))
        self._draw_keys(painter, places, columns, hovered[1] if hovered else -1)
        painter.restore()
        self._draw_legend(painter, places, view)

    def _draw_ground(self, painter: QPainter, places: MatrixLayout, rows: range, columns: range) -> None:
        side, corner = places.side, places.cell(rows.start, columns.start).topLeft()
        wide, high = side * len(columns), side * len(rows)
        painter.fillRect(QRect(corner.x(), corner.y(), wide, high), theme().colour(Role.SUNKEN))
        if side > GAPLESS:
            line = theme().colour(Role.SURFACE)
            for row in range(1, len(rows) + 1):
                painter.fillRect(corner.x(), corner.y() + row * side - 1, wide, 1, line)
            for column in range(1, len(columns) + 1):
                painter.fillRect(corner.x() + column * side - 1, corner.y(), 1, high, line)

    def _draw_cells(self, painter: QPainter, places: MatrixLayout, rows: range, columns: range) -> None:
        gap = 1 if places.side > GAPLESS else 0
        low, high = ramp()
        printed = places.side >= sized(PRINTED)
        plain, strong = theme().font(Size.SMALL, tabular=True), theme().font(Size.SMALL, strong=True, tabular=True)
        for row in rows:
            for column, count in self._by_row.get(row, ()):
                if column not in columns:
                    continue
                box = places.cell(row, column).adjusted(0, 0, -gap, -gap)
                colour = shade(low, high, count / self._most)
                painter.fillRect(box, colour)
                if printed:
                    painter.setFont(strong if (row, column) in self.matrix.frequent else plain)
                    painter.setPen(ink_on(colour))
                    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _short(count))

    def _draw_names(self, painter: QPainter, places: MatrixLayout, rows: range, right: int, hovered: int) -> None:
        """Names at the left, totals at the right; where rows are too low for words, only every so many."""
        every = max(1, -(-sized(TIGHT) // places.side))
        small, strong = theme().font(Size.SMALL, tabular=True), theme().font(Size.SMALL, label=True)
        for row in rows:
            if row % every and row != hovered:
                continue
            top = places.row_top(row) + (places.side - sized(LINE)) // 2
            aside = row in self.matrix.aside
            font = theme().font(mono=not aside, italic=aside)
            place = QRectF(places.names.left(), top, places.names.width(), 20)
            role = Role.ACCENT if row == hovered else Role.TEXT
            name, used = self._line.fit(one_line(self.matrix.rows[row]), font, place.width(), middle=True)
            place.setLeft(max(place.left(), place.right() - used - 1))
            self._line.text(painter, place, name, font, role)
            key = QRectF(places.names.right() + GAP, top, places.key, sized(LINE))
            self._line.text(painter, key, self.matrix.row_keys[row], strong, Role.DIM)
            if row < len(self.matrix.totals):
                total = QRectF(right + GAP, top, places.totals + 2, sized(LINE))
                align = Qt.AlignmentFlag.AlignRight
                self._line.text(painter, total, f"{self.matrix.totals[row]:,}", small, Role.DIM, align)

    def _draw_keys(self, painter: QPainter, places: MatrixLayout, columns: range, hovered: int) -> None:
        font = theme().font(Size.SMALL, label=True)
        every = max(1, -(-round(self._widest(self.matrix.keys, font) + 3) // places.side))
        for column in columns:
            if column % every and column != hovered:
                continue
            key = self.matrix.keys[column]
            box = places.cell(0, column)
            place = QRectF(box.center().x() - sized(20), 0, sized(40), sized(HEAD))
            role = Role.ACCENT if column == hovered else Role.DIM
            self._line.text(painter, place, key, font, role, Qt.AlignmentFlag.AlignHCenter)

    def _draw_legend(self, painter: QPainter, places: MatrixLayout, view: QRect) -> None:
        most = max(self.matrix.cells.values(), default=0)
        top = min(view.bottom() - sized(LEGEND), places.top + places.high - places.origin.y()) + 8
        font = theme().font(Size.SMALL, tabular=True)
        low, high = ramp()
        left = EDGE + round(self._line.width("0", font)) + 6
        swatch, high_as_text = sized(SWATCH), sized(16)
        self._line.text(painter, QRectF(EDGE, top, swatch, high_as_text), "0", font, Role.DIM)
        box = QRect(left, top + sized(3), swatch, sized(10))
        painter.fillRect(box, theme().colour(Role.SUNKEN))
        for number in range(5):
            box = box.translated(swatch if number else swatch + 1, 0)
            painter.fillRect(box.adjusted(0, 0, -1, 0), shade(low, high, (number + 1) / 5))
        words = QRectF(box.right() + 8, top, view.right() - box.right() - 8, high_as_text)
        told = (f"{most:,} {self.matrix.unit}", self.cut_text(places, view))
        self._line.text(painter, words, " · ".join(filter(None, told)), font, Role.DIM)

    def cut_text(self, places: MatrixLayout, view: QRect) -> str:
        """Return how many rows and columns fit into the view; empty if all do."""
        rows, columns = len(self.matrix.rows), len(self.matrix.keys)
        wide = min(columns, max(0, view.width() - places.left) // places.side)
        high = min(rows, max(0, view.height() - sized(LEGEND) - places.top) // places.side)
        cuts = ((high, rows, "rows"), (wide, columns, "columns"))
        return ", ".join(f"{shown:,} of {known:,} {name}" for shown, known, name in cuts if shown < known)


def _seen(scrolled: int, room: int, side: int, number: int) -> range:
    """Return the rows or columns in view, including partly visible ones."""
    first = min(max(0, number - 1), max(0, scrolled // side))
    return range(first, min(number, first + room // side + 2))


def _short(count: int) -> str:
    """Return a count in at most three characters: `999`, `1k`, `12k`."""
    return str(count) if log10(max(1, count)) < 3 else f"{count // 1000}k"
