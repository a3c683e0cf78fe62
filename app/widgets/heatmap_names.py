"""Which names stand beside a map, so that none touches another: the chosen first, then the important, then the rest."""

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence

from app.theme import sized

LEAST = 14


def least() -> int:
    """How far apart the middles of two names are at least."""
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
