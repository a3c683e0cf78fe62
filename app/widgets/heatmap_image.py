"""The cells of a heatmap as pixels in cividis, which the colour-blind can read too."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QPainter

from app.theme import Role, theme
from app.widgets.heatmap_data import HIGHEST, LOWEST, UNKNOWN, Heat

if TYPE_CHECKING:
    from pyqtgraph import ImageItem  # type: ignore[import-untyped]  # it ships no types


@cache
def cividis() -> NDArray[np.uint8]:
    """The colours of bytes, red, green and blue; imports pyqtgraph, so call it first in a worker thread."""
    from pyqtgraph import colormap

    table = np.zeros((HIGHEST + 1, 3), np.uint8)
    table[LOWEST:] = colormap.get("cividis").getLookupTable(nPts=HIGHEST + 1 - LOWEST)[:, :3]
    return table


def ramp(steps: int = 32) -> tuple[QColor, ...]:
    """So many colours from the lowest to the highest."""
    chosen = np.linspace(LOWEST, HIGHEST, steps).round().astype(int)
    return tuple(QColor(*(int(part) for part in cividis()[place])) for place in chosen)


class HeatImage:
    """Draws the cells of a `Heat`, from coarser bytes where cells are smaller than a pixel."""

    def __init__(self, heat: Heat) -> None:
        self._heat = heat
        self._items: dict[int, ImageItem] = {}

    def draw(self, painter: QPainter, side: float) -> None:
        """Draw all cells with a side in pixels from where the painter stands; clip before."""
        if not self._heat.levels:
            return
        level = self._level(side)
        painter.save()
        painter.scale(side * 2**level, side * 2**level)
        self._item(level).paint(painter)
        painter.restore()

    def retint(self) -> None:
        """Take the colours of now."""
        self._items.clear()

    def _level(self, side: float) -> int:
        level = 0
        while level + 1 < len(self._heat.levels) and side * 2**level < 1:
            level += 1
        return level

    def _item(self, level: int) -> "ImageItem":
        from pyqtgraph import ImageItem

        if level not in self._items:
            made = ImageItem(axisOrder="row-major")
            made.setImage(self._heat.levels[level], autoLevels=False, levels=None, lut=_colours())
            self._items[level] = made
        return self._items[level]


def _colours() -> NDArray[np.uint8]:
    """Cividis, and for what is not known the colour of an empty track."""
    table = cividis().copy()
    empty = theme().colour(Role.TRACK)
    table[UNKNOWN] = (empty.red(), empty.green(), empty.blue())
    return table
