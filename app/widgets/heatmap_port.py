"""Which part of a square of cells is seen, and where each cell lies in it: plain geometry."""

from dataclasses import dataclass, replace

LARGEST = 64.0
FITTED = 48.0
CRISP = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
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
        """How many pixels of the view the cells take, across."""
        return min(float(self.wide), self.n * self.side)

    @property
    def seen_high(self) -> float:
        """How many pixels of the view the cells take, down."""
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
        """Whether all cells are seen."""
        return self.side <= self.fitting

    def fit(self) -> "Port":
        """All cells in view."""
        return replace(self, side=self.fitting, x=0.0, y=0.0)

    def resized(self, n: int, wide: int, high: int) -> "Port":
        """The same place in a view of another size; what was fitted stays fitted."""
        fresh = replace(self, n=n, wide=max(1, wide), high=max(1, high))
        return fresh.fit() if self.fitted or n != self.n else replace(fresh, side=max(self.side, fresh.fitting)).kept()

    def zoomed(self, factor: float, at_x: float, at_y: float) -> "Port":
        """Cells larger or smaller by a factor; what lies at a place of the view stays there."""
        wanted = _whole(self.side * factor)
        if wanted == self.side:
            wanted += 1 if factor > 1 else -1
        side = min(max(LARGEST, self.fitting), max(self.fitting, wanted))
        grown = side / self.side
        return replace(self, side=side, x=(self.x + at_x) * grown - at_x, y=(self.y + at_y) * grown - at_y).kept()

    def moved(self, dx: float, dy: float) -> "Port":
        """Scrolled by so many pixels."""
        return replace(self, x=self.x + dx, y=self.y + dy).kept()

    def kept(self) -> "Port":
        """Scrolled no further than there are cells."""
        most_x, most_y = self.n * self.side - self.seen_wide, self.n * self.side - self.seen_high
        return replace(self, x=min(max(0.0, self.x), most_x), y=min(max(0.0, self.y), most_y))

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and column at a place of the view."""
        if not (0 <= x < self.seen_wide and 0 <= y < self.seen_high):
            return None
        return min(self.n - 1, int((y + self.y) / self.side)), min(self.n - 1, int((x + self.x) / self.side))

    def left(self, column: float) -> float:
        """Where a column begins in the view."""
        return column * self.side - self.x

    def top(self, row: float) -> float:
        """Where a row begins in the view."""
        return row * self.side - self.y

    def showing(self, row: int, column: int) -> "Port":
        """Scrolled as little as needed for a cell to be seen."""
        left, top = self.left(column), self.top(row)
        return self.moved(
            min(0.0, left) + max(0.0, left + self.side - self.seen_wide),
            min(0.0, top) + max(0.0, top + self.side - self.seen_high),
        )

    def on(self, first: int, last: int) -> "Port":
        """A block on the diagonal filling the view, with some of its surroundings."""
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
