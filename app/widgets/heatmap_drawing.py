"""Painter of a heatmap: cells in cividis (safe for colour blindness), tree, names, outlines and cross hair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLine, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.theme import Role, Size, roomy, sized, theme
from app.widgets.heatmap_layout import (
    HIGHEST,
    LOWEST,
    UNKNOWN,
    Heat,
    HeatmapViewport,
    Taken,
    apart,
    draw_tree,
    least,
    thinned,
)
from app.widgets.spans import LinePainter

if TYPE_CHECKING:
    from pyqtgraph import ImageItem  # type: ignore[import-untyped]  # it ships no types


@cache
def cividis() -> NDArray[np.uint8]:
    """Return the colours of bytes, red, green and blue; imports pyqtgraph, so call it first in a worker thread."""
    from pyqtgraph import colormap

    table = np.zeros((HIGHEST + 1, 3), np.uint8)
    table[LOWEST:] = colormap.get("cividis").getLookupTable(nPts=HIGHEST + 1 - LOWEST)[:, :3]
    return table


def ramp(steps: int = 32) -> tuple[QColor, ...]:
    """So many colours from the lowest to the highest."""
    chosen = np.linspace(LOWEST, HIGHEST, steps).round().astype(int)
    return tuple(QColor(*(int(part) for part in cividis()[place])) for place in chosen)


def draw_ramp(painter: QPainter, area: QRectF) -> None:
    """Draw the colours from 0 to 1 as the legend of a picture."""
    colours, high = ramp(), area.height() / 3
    wide = area.width() / len(colours)
    for place, colour in enumerate(colours):
        painter.fillRect(QRectF(area.left() + place * wide, area.top(), wide + 1, high), colour)
    painter.setFont(theme().font(Size.SMALL))
    painter.setPen(theme().colour(Role.DIM))
    below = area.adjusted(0, high, 0, 0)
    for text, side in (("0", Qt.AlignmentFlag.AlignLeft), ("1", Qt.AlignmentFlag.AlignRight)):
        painter.drawText(below, side | Qt.AlignmentFlag.AlignTop, text)


def _colours() -> NDArray[np.uint8]:
    """Cividis, and for what is not known the colour of an empty track."""
    table = cividis().copy()
    empty = theme().colour(Role.TRACK)
    table[UNKNOWN] = (empty.red(), empty.green(), empty.blue())
    return table


EDGE, GAP, TREE, LEGEND = 16, 8, 20, 36
SHORTEST_NAMES, LONGEST_NAMES = 116, 180
NAMES_SHARE = 0.25
GRID, OUTLINED, COLUMN_NAMES = 6, 4, 22
MOST_OUTLINES = 6_000
BRIGHT = 0.5
MEASURED = 40
CELL_LINE = QColor(0, 0, 0, 46)
CROSS_HAIR = QColor(255, 255, 255, 170)

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapView:
    """Marks of a heatmap: threshold of outlines, selected cell, cell under the pointer, cell with the keyboard focus.

    `found` are places whose names were searched for.
    """

    threshold: float = 2.0
    chosen: Cell | None = None
    hovered: Cell | None = None
    walked: Cell | None = None
    found: tuple[int, ...] = ()


def head() -> int:
    """Return the height of the names above the cells."""
    return 24 + sized(20)


class HeatPainter:
    """Draws one `Heat`; what is dear to find is found once."""

    def __init__(self, heat: Heat, line: LinePainter) -> None:
        self.heat = heat
        self._line = line
        self._images: dict[int, ImageItem] = {}
        self._wide = self._widest()
        self._outlined: tuple[object, tuple[list[QLine], list[QLine]]] | None = None

    def gutter(self, wide: int) -> int:
        """Return the width of names and tree within a total width, in pixels."""
        names = max(roomy(SHORTEST_NAMES), min(self._wide, sized(LONGEST_NAMES), int(wide * NAMES_SHARE)))
        return EDGE + names + GAP + TREE + 4

    def draw(self, painter: QPainter, port: HeatmapViewport, left: int, shown: HeatmapView) -> None:
        """Draw what a port shows, its cells beginning at `left` and below the head."""
        if not len(self.heat):
            return
        wide, high = round(port.seen_wide), round(port.seen_high)
        painter.save()
        painter.translate(left, head())
        painter.save()
        painter.setClipRect(QRect(0, 0, wide, high))
        self._draw_cells(painter, port)
        self._draw_outlines(painter, port, shown.threshold)
        self._draw_marks(painter, port, shown)
        painter.restore()
        draw_tree(painter, self.heat.tree, port, QRect(-TREE - 4, 0, TREE, high))
        self._draw_names(painter, port, shown, left)
        self._draw_columns(painter, port, shown)
        painter.restore()

    def _widest(self) -> int:
        font = theme().font(mono=True)
        longest = sorted(self.heat.names, key=len, reverse=True)[:MEASURED]
        return round(max((self._line.width(name, font) for name in longest), default=0.0)) + 2

    # ------------------------------------------------------------------ the cells

    def _draw_cells(self, painter: QPainter, port: HeatmapViewport) -> None:
        level = 0
        while level + 1 < len(self.heat.levels) and port.side * 2**level < 1:
            level += 1
        painter.save()
        painter.translate(-port.x, -port.y)
        painter.scale(port.side * 2**level, port.side * 2**level)
        if self.heat.levels:
            self._image(level).paint(painter)
        painter.restore()
        if port.side >= GRID:
            painter.setPen(CELL_LINE)
            painter.drawLines(_grid(port))

    def _image(self, level: int) -> "ImageItem":
        """Return the cells as an image, from coarser bytes where cells are smaller than a pixel."""
        from pyqtgraph import ImageItem

        if level not in self._images:
            made = ImageItem(axisOrder="row-major")
            made.setImage(self.heat.levels[level], autoLevels=False, levels=None, lut=_colours())
            self._images[level] = made
        return self._images[level]

    def retint(self) -> None:
        """Take the colours of now."""
        self._images.clear()

    def _draw_outlines(self, painter: QPainter, port: HeatmapViewport, threshold: float) -> None:
        if port.side < OUTLINED:
            return
        for lines, ink in zip(self._outlines(port, threshold), ("#000000", "#FFFFFF"), strict=True):
            painter.setPen(QPen(QColor(ink), 1))
            painter.drawLines(lines)

    def _outlines(self, port: HeatmapViewport, threshold: float) -> tuple[list[QLine], list[QLine]]:
        key = (port, threshold)
        if self._outlined is None or self._outlined[0] != key:
            self._outlined = (key, self._find_outlines(port, threshold))
        return self._outlined[1]

    def _find_outlines(self, port: HeatmapViewport, threshold: float) -> tuple[list[QLine], list[QLine]]:
        """Edges between outlined cells and others: black ones on bright cells, white ones on dark cells."""
        inside = self.heat.outlines(port.rows, port.columns, threshold)
        level = self.heat.levels[0][port.rows.start : port.rows.stop, port.columns.start : port.columns.stop]
        bright = level >= BRIGHT * 255
        return _edges(inside & bright, inside, port), _edges(inside & ~bright, inside, port)

    def _draw_marks(self, painter: QPainter, port: HeatmapViewport, shown: HeatmapView) -> None:
        if shown.chosen is not None:
            self._draw_cross(painter, port, shown.chosen)
            _ring(painter, _box(port, shown.chosen), "#000000", 3, grown=2)
            _ring(painter, _box(port, shown.chosen), "#FFFFFF", 2, grown=1)
        if shown.hovered is not None:
            _ring(painter, _box(port, shown.hovered), "#FFFFFF", 1, grown=1)
        if shown.walked is not None:
            _ring(painter, _box(port, shown.walked), "#FFFFFF", theme().ring + 2, grown=3)
            _ring(painter, _box(port, shown.walked), theme().colour(Role.FOCUS), theme().ring, grown=2)

    def _draw_cross(self, painter: QPainter, port: HeatmapViewport, cell: Cell) -> None:
        """Lines from both names to the cell."""
        box = _box(port, cell)
        painter.setPen(CROSS_HAIR)
        painter.drawLines(
            [
                QLine(0, box.top(), box.left(), box.top()),
                QLine(0, box.bottom(), box.left(), box.bottom()),
                QLine(box.left(), 0, box.left(), box.top()),
                QLine(box.right(), 0, box.right(), box.top()),
            ]
        )

    # ------------------------------------------------------------------ the names

    def _draw_names(self, painter: QPainter, port: HeatmapViewport, shown: HeatmapView, left: int) -> None:
        room = left - EDGE - TREE - GAP - 4
        chosen = _rows(shown)
        flagged = self.heat.flagged(port.rows, shown.threshold)
        important = {*flagged, *shown.found}
        for row, middle in self._standing(port, chosen, (*shown.found, *flagged)):
            font = theme().font(mono=True)
            name, used = self._line.fit(self._name(row), font, room)
            place = QRectF(-TREE - 4 - GAP - used - 1, middle - sized(10), used + 2, sized(20))
            self._line.text(painter, place, name, font, _role(row, chosen, important))

    def _standing(self, port: HeatmapViewport, chosen: Sequence[int], then: Sequence[int]) -> list[tuple[int, float]]:
        """Rows with the middles of their names: chosen ones always, pushed apart where they are too close."""
        close = sorted(row for row in chosen if row in port.rows)
        middles = dict(zip(close, apart([port.top(row + 0.5) for row in close], least()), strict=True))
        taken = Taken()
        for middle in middles.values():
            taken.take(middle - least() / 2, middle + least() / 2)
        for row in thinned(port.rows, port.side, -port.y, taken, then):
            middles[row] = port.top(row + 0.5)
        return [(row, middle) for row, middle in middles.items() if 0 <= middle <= port.seen_high]

    def _draw_columns(self, painter: QPainter, port: HeatmapViewport, shown: HeatmapView) -> None:
        """Draw the selected column and the one under the pointer; where cells are wide, as many others as fit."""
        chosen = _columns(shown)
        wide = port.side >= sized(COLUMN_NAMES)
        flagged = self.heat.flagged(port.columns, shown.threshold) if wide else []
        taken = Taken()
        for column in dict.fromkeys((*chosen, *flagged, *(port.columns if wide else ()))):
            middle, font = port.left(column + 0.5), theme().font(mono=True)
            name, used = self._line.fit(self._name(column), font, sized(LONGEST_NAMES))
            left = max(0.0, min(middle - used / 2, port.seen_wide - used))
            if 0 <= middle <= port.seen_wide and taken.take(left - GAP, left + used + GAP):
                role = _role(column, chosen, {*flagged})
                self._line.text(painter, QRectF(left, 12 - head(), used + 2, sized(20)), name, font, role)
                painter.fillRect(QRectF(round(middle), -11, 1, 8), theme().colour(role))

    def _name(self, place: int) -> str:
        return self.heat.name(place)


def picture_port(heat: Heat) -> HeatmapViewport:
    """All cells, at a size that a picture has room for."""
    n = max(1, len(heat))
    side = max(1.0, min(18.0, 1200 // n))
    whole = max(320, min(2_400, round(n * side)))
    return replace(HeatmapViewport(n=n, wide=whole, high=whole), side=min(side, whole / n))


def _grid(port: HeatmapViewport) -> list[QLine]:
    wide, high = round(port.seen_wide), round(port.seen_high)
    upright = [round(port.left(column)) for column in port.columns if column]
    lying = [round(port.top(row)) for row in port.rows if row]
    return [*(QLine(x, 0, x, high) for x in upright), *(QLine(0, y, wide, y) for y in lying)]


def _edges(cells: NDArray[np.bool_], inside: NDArray[np.bool_], port: HeatmapViewport) -> list[QLine]:
    """Return the sides of `cells` where their neighbour is not `inside`, at most `MOST_OUTLINES` of them."""
    padded = np.pad(inside, 1)
    neighbours = {
        (0, 0, 0, 1): padded[:-2, 1:-1],
        (1, 0, 1, 1): padded[2:, 1:-1],
        (0, 0, 1, 0): padded[1:-1, :-2],
        (0, 1, 1, 1): padded[1:-1, 2:],
    }
    lines: list[QLine] = []
    for (top, left, bottom, right), neighbour in neighbours.items():
        found = np.argwhere(cells & ~neighbour)[: MOST_OUTLINES - len(lines)]
        rows, columns = found[:, 0] + port.rows.start, found[:, 1] + port.columns.start
        ends = np.column_stack(
            (
                (columns + left) * port.side - port.x,
                (rows + top) * port.side - port.y,
                (columns + right) * port.side - port.x,
                (rows + bottom) * port.side - port.y,
            )
        )
        lines += [QLine(*(int(end) for end in line)) for line in ends.round().tolist()]
    return lines


def _box(port: HeatmapViewport, cell: Cell) -> QRect:
    left, top = round(port.left(cell[1])), round(port.top(cell[0]))
    side = max(1, round(port.side))
    return QRect(left, top, side, side)


def _ring(painter: QPainter, box: QRect, colour: QColor | str, thick: int, *, grown: int) -> None:
    painter.setPen(QPen(QColor(colour), thick, j=Qt.PenJoinStyle.MiterJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(box).adjusted(-grown + thick / 2, -grown + thick / 2, grown - thick / 2, grown - thick / 2))


def _role(place: int, chosen: Sequence[int], important: set[int]) -> Role:
    if place in chosen:
        return Role.ACCENT
    return Role.TEXT if place in important else Role.DIM


def _rows(shown: HeatmapView) -> tuple[int, ...]:
    """Rows whose names are always there: both of the chosen cell, and where the user is."""
    at = [cell[0] for cell in (shown.hovered, shown.walked) if cell is not None]
    return tuple(dict.fromkeys((*(shown.chosen or ()), *at)))


def _columns(shown: HeatmapView) -> tuple[int, ...]:
    """Columns whose names are always there, the one where the user is first."""
    cells = (shown.hovered, shown.walked, shown.chosen)
    return tuple(dict.fromkeys(cell[1] for cell in cells if cell is not None))
