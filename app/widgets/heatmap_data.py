"""Content of a heatmap, prepared off the window's thread: ordered scores as bytes, and coarser copies of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.widgets.heatmap_layout import Tree
from app.widgets.safe_text import one_line

Scores = NDArray[np.float32]
Bytes = NDArray[np.uint8]
ROWS_AT_ONCE = 256
UNKNOWN = 0
LOWEST, HIGHEST = 1, 255
COARSEST = 256


@dataclass(frozen=True, kw_only=True)
class Heat:
    """A square of scores 0–1 (NaN: not known) by `names`; `titles` are the whole names and `what` says what is scored.

    `shown` writes a score. Rows and columns stand in `order`; cells whose value in `outlined` is at least a threshold
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
        """Return the score of a cell as it stands."""
        return float(self.scores[self.order[row], self.order[column]])

    def name(self, place: int) -> str:
        """Return the short name that stands at a place."""
        return self.names[int(self.order[place])]

    def says(self, row: int, column: int) -> str:
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

    def loud(self, rows: range, threshold: float) -> list[int]:
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
