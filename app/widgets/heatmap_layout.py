"""Content and geometry of a heatmap: ordered scores as bytes, the part in view, the place of each cell, and names."""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLine, QRect
from PySide6.QtGui import QPainter

from app.theme import Role, sized, theme
from app.widgets.safe_text import one_line

LARGEST = 64.0
FITTED = 48.0
CRISP = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapViewport:
    """A view of `wide` × `high` pixels on n × n cells of `side` pixels, scrolled by `x` and `y` pixels."""

    n: int
    wide: int
    high: int
    side: float = 1.0
    x: float = 0.0
    y: float = 0.0

    @property
    def fitting(self) -> float:
        """The side at which all cells are seen."""
        return _whole(min(FITTED, self.wide / max(1, self.n), self.high / max(1, self.n)))

    @property
    def seen_wide(self) -> float:
        """Width of the cells in view, in pixels."""
        return min(float(self.wide), self.n * self.side)

    @property
    def seen_high(self) -> float:
        """Height of the cells in view, in pixels."""
        return min(float(self.high), self.n * self.side)

    @property
    def rows(self) -> range:
        """The rows in view, those that are cut included."""
        return _seen(self.y, self.seen_high, self.side, self.n)

    @property
    def columns(self) -> range:
        """The columns in view, those that are cut included."""
        return _seen(self.x, self.seen_wide, self.side, self.n)

    @property
    def fitted(self) -> bool:
        """Return True if all cells are in view."""
        return self.side <= self.fitting

    def fit(self) -> "HeatmapViewport":
        """All cells in view."""
        return replace(self, side=self.fitting, x=0.0, y=0.0)

    def resized(self, n: int, wide: int, high: int) -> "HeatmapViewport":
        """Return the same place in a view of another size; what was fitted stays fitted."""
        fresh = replace(self, n=n, wide=max(1, wide), high=max(1, high))
        return fresh.fit() if self.fitted or n != self.n else replace(fresh, side=max(self.side, fresh.fitting)).kept()

    def zoomed(self, factor: float, at_x: float, at_y: float) -> "HeatmapViewport":
        """Cells larger or smaller by a factor; what lies at a place of the view stays there."""
        wanted = _whole(self.side * factor)
        if wanted == self.side:
            wanted += 1 if factor > 1 else -1
        side = min(max(LARGEST, self.fitting), max(self.fitting, wanted))
        grown = side / self.side
        return replace(self, side=side, x=(self.x + at_x) * grown - at_x, y=(self.y + at_y) * grown - at_y).kept()

    def moved(self, dx: float, dy: float) -> "HeatmapViewport":
        """Scrolled by so many pixels."""
        return replace(self, x=self.x + dx, y=self.y + dy).kept()

    def kept(self) -> "HeatmapViewport":
        """Scrolled no further than there are cells."""
        most_x, most_y = self.n * self.side - self.seen_wide, self.n * self.side - self.seen_high
        return replace(self, x=min(max(0.0, self.x), most_x), y=min(max(0.0, self.y), most_y))

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the row and column at a place of the view."""
        if not (0 <= x < self.seen_wide and 0 <= y < self.seen_high):
            return None
        return min(self.n - 1, int((y + self.y) / self.side)), min(self.n - 1, int((x + self.x) / self.side))

    def left(self, column: float) -> float:
        """Return the left edge of a column in the view."""
        return column * self.side - self.x

    def top(self, row: float) -> float:
        """Return the top edge of a row in the view."""
        return row * self.side - self.y

    def showing(self, row: int, column: int) -> "HeatmapViewport":
        """Scrolled as little as needed for a cell to be seen."""
        left, top = self.left(column), self.top(row)
        return self.moved(
            min(0.0, left) + max(0.0, left + self.side - self.seen_wide),
            min(0.0, top) + max(0.0, top + self.side - self.seen_high),
        )

    def on(self, first: int, last: int) -> "HeatmapViewport":
        """Return a block on the diagonal that fills the view, with some of its surroundings."""
        wanted = _whole(min(self.seen_wide, self.seen_high) / ((last - first + 1) * 1.25))
        side = min(LARGEST, max(self.fitting, wanted))
        fresh, middle = replace(self, side=side), (first + last + 1) / 2 * side
        return replace(fresh, x=middle - fresh.seen_wide / 2, y=middle - fresh.seen_high / 2).kept()


def _whole(side: float) -> float:
    """Whole pixels where cells are large enough to show the difference."""
    return float(int(side)) if side >= CRISP else side


def _seen(scrolled: float, room: float, side: float, n: int) -> range:
    first = max(0, int(scrolled / side))
    return range(first, min(n, int((scrolled + room) / side) + 1))


LEAST = 14


def least() -> int:
    """Return the minimum distance between the middles of two names."""
    return sized(LEAST)


class Taken:
    """Stretches along an axis that are in use."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []

    def take(self, start: float, end: float) -> bool:
        """Use a stretch if it is free."""
        place = bisect(self._starts, start)
        before = place == 0 or self._ends[place - 1] <= start
        after = place == len(self._starts) or end <= self._starts[place]
        if before and after:
            self._starts.insert(place, start)
            self._ends.insert(place, end)
        return before and after


def thinned(places: range, step: float, offset: float, taken: Taken, then: Iterable[int] = ()) -> list[int]:
    """Those of `places`, `step` pixels apart, whose names touch neither each other nor what is `taken`.

    `then` come first where there is room, and of the rest every so many.
    """
    chosen = []
    for place in _candidates(places, step, then):
        middle = (place + 0.5) * step + offset
        if taken.take(middle - least() / 2, middle + least() / 2):
            chosen.append(place)
    return sorted(chosen)


def _candidates(places: range, step: float, then: Iterable[int]) -> Iterator[int]:
    yield from (place for place in then if place in places)
    yield from places[:: max(1, int(least() / step) // 2)]


def apart(middles: Sequence[float], distance: float) -> list[float]:
    """Neighbours of an ascending row pushed apart where they are closer than a distance, none of them below 0."""
    moved = list(middles)
    for place in range(1, len(moved)):
        short = distance - (moved[place] - moved[place - 1])
        if short > 0:
            moved[place - 1] -= short / 2
            moved[place] += short / 2
    return [middle - min(0.0, moved[0]) for middle in moved]


LEAST_BRACKET = 3.0
MOST_BRACKETS = 1_500
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
        """Return the brackets in view that are large enough to see, the largest `MOST_BRACKETS` of them."""
        tall = (self.brackets[:, 1] - self.brackets[:, 0]) * port.side
        inside = (self.brackets[:, 1] >= port.rows.start) & (self.brackets[:, 0] <= port.rows.stop)
        found = np.flatnonzero(inside & (tall >= LEAST_BRACKET))
        if len(found) > MOST_BRACKETS:
            found = found[np.argpartition(tall[found], -MOST_BRACKETS)[-MOST_BRACKETS:]]
        return self.brackets[found]


def tree_of(order: Sequence[int], joins: Sequence[Join]) -> Tree:
    """Return the tree over leaves in the order in which they stand."""
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


Scores = NDArray[np.float32]
Bytes = NDArray[np.uint8]
ROWS_AT_ONCE = 256
UNKNOWN = 0
LOWEST, HIGHEST = 1, 255
COARSEST = 256


@dataclass(frozen=True, kw_only=True)
class Heat:
    """A square of scores 0–1 (NaN: not known) by `names`; `titles` are the whole names and `what` says what is scored.

    `shown` writes a score. Rows and columns are in `order`; cells whose value in `outlined` is at least a threshold
    get an outline.
    """

    what: str = ""
    names: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    scores: Scores = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    outlined: Scores = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    order: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    nearest: Scores = field(default_factory=lambda: np.zeros(0, np.float32))
    levels: tuple[Bytes, ...] = ()
    tree: Tree = field(default_factory=Tree)
    shown: Callable[[float], str] = "{:.2f}".format

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def places(self) -> dict[int, int]:
        """Position of each compared item."""
        return {int(one): place for place, one in enumerate(self.order)}

    def score(self, row: int, column: int) -> float:
        """Return the score of a cell."""
        return float(self.scores[self.order[row], self.order[column]])

    def name(self, place: int) -> str:
        """Return the short name at a place."""
        return self.names[int(self.order[place])]

    def cell_text(self, row: int, column: int) -> str:
        """Return a cell as text: both whole names and the score."""
        score = self.score(row, column)
        value = "not known" if np.isnan(score) else self.shown(score)
        return f"{self.titles[int(self.order[row])]}\n{self.titles[int(self.order[column])]}\n{self.what}: {value}"

    def outlines(self, rows: range, columns: range, threshold: float) -> NDArray[np.bool_]:
        """Return the mask of cells at or above the threshold; the diagonal is never set."""
        part = np.ix_(self.order[rows.start : rows.stop], self.order[columns.start : columns.stop])
        same = np.arange(rows.start, rows.stop)[:, None] == np.arange(columns.start, columns.stop)[None, :]
        found: NDArray[np.bool_] = np.logical_and(self.outlined[part] >= threshold, ~same)
        return found

    def flagged(self, rows: range, threshold: float) -> list[int]:
        """Return the places among rows whose closest neighbour is at or above the threshold, closest first."""
        closest = self.nearest[self.order[rows.start : rows.stop]]
        found = np.flatnonzero(closest >= threshold)
        return [rows.start + int(place) for place in found[np.argsort(-closest[found], kind="stable")]]


def as_bytes(scores: Scores, order: NDArray[np.intp]) -> Bytes:
    """Scores in an order as 1 to 255, and 0 where not known; a few rows at a time, so that little memory is needed."""
    made = np.empty((len(order), len(order)), np.uint8)
    for start in range(0, len(order), ROWS_AT_ONCE):
        part = scores[order[start : start + ROWS_AT_ONCE]][:, order]
        scaled = np.clip(part, 0, 1) * (HIGHEST - LOWEST) + LOWEST
        made[start : start + ROWS_AT_ONCE] = np.where(np.isnan(part), UNKNOWN, np.rint(scaled)).astype(np.uint8)
    return made


def coarser(finest: Bytes) -> tuple[Bytes, ...]:
    """Return the bytes and copies, each half as wide as the one before, that keep the highest of every four."""
    levels = [finest]
    while len(levels[-1]) > COARSEST:
        starts = np.arange(0, len(levels[-1]), 2)
        levels.append(np.maximum.reduceat(np.maximum.reduceat(levels[-1], starts, axis=0), starts, axis=1))
    return tuple(levels)


def closest(scores: Scores) -> Scores:
    """Return the highest score of each row, its own left out; 0 where there is no other."""
    found = np.zeros(len(scores), np.float32)
    for start in range(0, len(scores), ROWS_AT_ONCE):
        part = scores[start : start + ROWS_AT_ONCE].copy()
        own = np.arange(len(part))
        part[own, own + start] = 0.0
        found[start : start + len(part)] = part.max(axis=1, initial=0.0)
    return found


def make_heat(
    what: str,
    names: Iterable[str],
    titles: Iterable[str],
    scores: Scores,
    *,
    outlined: Scores,
    order: Iterable[int],
    tree: Tree,
    shown: Callable[[float], str] = "{:.2f}".format,
) -> Heat:
    """Everything that drawing needs; for a worker thread."""
    places = np.fromiter(order, np.intp)
    return Heat(
        what=what,
        names=tuple(one_line(name) for name in names),
        titles=tuple(titles),
        scores=scores,
        outlined=outlined,
        order=places,
        nearest=closest(outlined),
        levels=coarser(as_bytes(scores, places)),
        tree=tree,
        shown=shown,
    )
