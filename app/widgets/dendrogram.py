"""A tree of what was joined with what, drawn beside the rows that it puts in order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLine, QRect
from PySide6.QtGui import QPainter

from app.theme import Role, theme
from app.widgets.heatmap_layout import HeatmapViewport

LEAST = 3.0
MOST = 1_500
FIELDS = 5


@dataclass(frozen=True, slots=True)
class Join:
    """Two nodes joined at a height; nodes below n are leaves, n + k is the k-th join."""

    left: int
    right: int
    height: float


@dataclass(frozen=True, slots=True)
class Tree:
    """Brackets, a row each: upper and lower end in rows, then the heights where these begin, then its own (0–1)."""

    brackets: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, FIELDS), np.float32))

    def seen(self, port: HeatmapViewport) -> NDArray[np.float32]:
        """The brackets in view that are large enough to be told apart, the largest `MOST` of them."""
        tall = (self.brackets[:, 1] - self.brackets[:, 0]) * port.side
        inside = (self.brackets[:, 1] >= port.rows.start) & (self.brackets[:, 0] <= port.rows.stop)
        found = np.flatnonzero(inside & (tall >= LEAST))
        if len(found) > MOST:
            found = found[np.argpartition(tall[found], -MOST)[-MOST:]]
        return self.brackets[found]


def tree_of(order: Sequence[int], joins: Sequence[Join]) -> Tree:
    """The tree over leaves in the order in which they stand."""
    places = [0.0] * (len(order) + len(joins))
    heights = [0.0] * len(places)
    for place, leaf in enumerate(order):
        places[leaf] = place + 0.5
    most = max((join.height for join in joins), default=0.0) or 1.0
    rows = []
    for node, join in enumerate(joins, len(order)):
        upper, lower = sorted((join.left, join.right), key=places.__getitem__)
        places[node] = (places[upper] + places[lower]) / 2
        heights[node] = join.height / most
        rows.append((places[upper], places[lower], heights[upper], heights[lower], heights[node]))
    return Tree(np.array(rows, np.float32).reshape(-1, FIELDS))


def draw_tree(painter: QPainter, tree: Tree, port: HeatmapViewport, area: QRect) -> None:
    """Draw what is in view, leaves at the right, into an area as high as the view."""
    shown = tree.seen(port)
    tops = area.top() + shown[:, :2] * port.side - port.y
    lefts = area.right() - shown[:, 2:] * (area.width() - 1)
    lines = []
    for (top, bottom), (upper, lower, own) in zip(tops.round().tolist(), lefts.round().tolist(), strict=True):
        x, first, last = int(own), int(top), int(bottom)
        lines += [QLine(x, first, x, last), QLine(x, first, int(upper), first), QLine(x, last, int(lower), last)]
    painter.save()
    painter.setClipRect(area.adjusted(-1, 0, 1, 0))
    painter.setPen(theme().colour(Role.CONTROL))
    painter.drawLines(lines)
    painter.restore()
