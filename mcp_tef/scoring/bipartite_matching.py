"""Maximum and maximum-weight matching between expected and actual items."""

from collections.abc import Callable, Mapping, Sequence

Pair = tuple[int, int]


def pairs_up(size: int, fitting: Callable[[int], Sequence[int]]) -> bool:
    """Return True if each of `size` rows can have a column of its own; `fitting(row)` lists the candidates of a row."""
    columns = [fitting(row) for row in range(size)]
    holder: dict[int, int] = {}
    return all(_seat(row, columns, holder) for row in range(size))


def _seat(row: int, columns: list[Sequence[int]], holder: dict[int, int]) -> bool:
    """Find a column for one more row, moving others where needed (Kuhn's augmenting path, without recursion)."""
    asked_by: dict[int, int] = {}
    waiting = [row]
    while waiting:
        asking = waiting.pop()
        for column in columns[asking]:
            if column in asked_by:
                continue
            asked_by[column] = asking
            if column not in holder:
                _move_up(column, asked_by, holder, row)
                return True
            waiting.append(holder[column])
    return False


def _move_up(column: int, asked_by: Mapping[int, int], holder: dict[int, int], first: int) -> None:
    seat_of = {row: seat for seat, row in holder.items()}
    while (row := asked_by[column]) != first:
        holder[column] = row
        column = seat_of[row]
    holder[column] = first


def best_pairs(rows: int, columns: int, worth: Mapping[Pair, int]) -> list[Pair]:
    """Return the pairs (row, column) of greatest total worth, each row and column at most once; worths are positive.

    The Hungarian method with potentials, O(min² · max) steps; exact, because worths are whole numbers.
    Source: H. W. Kuhn, The Hungarian method for the assignment problem, 1955, in the shortest augmenting
    path form of R. Jonker and A. Volgenant, 1987.
    """
    if rows > columns:
        turned = {(column, row): value for (row, column), value in worth.items()}
        return sorted((row, column) for column, row in best_pairs(columns, rows, turned))
    return _Hungarian(rows, columns, worth).pairs()


class _Hungarian:
    """Rows and columns count from 1; column 0 stands for "no column", row 0 for "no row"."""

    def __init__(self, rows: int, columns: int, worth: Mapping[Pair, int]) -> None:
        self._worth = worth
        self._holder = [0] * (columns + 1)
        self._row_price = [0] * (rows + 1)
        self._column_price = [0] * (columns + 1)
        for row in range(1, rows + 1):
            self._seat(row)

    def pairs(self) -> list[Pair]:
        """Return the chosen pairs that are worth something, counting from 0."""
        chosen = ((row - 1, column - 1) for column, row in enumerate(self._holder) if column and row)
        return sorted(pair for pair in chosen if pair in self._worth)

    def _seat(self, row: int) -> None:
        holder = self._holder
        holder[0] = row
        free = set(range(1, len(holder)))
        slack: dict[int, int] = {}
        came_from: dict[int, int] = {}
        here = 0
        while holder[here]:
            self._relax(here, free, slack, came_from)
            near = min(free, key=lambda column: (slack[column], holder[column] != 0, column))
            self._reprice(slack[near], free, slack)
            free.discard(near)
            here = near
        while here:
            holder[here] = holder[came_from[here]]
            here = came_from[here]

    def _relax(self, here: int, free: set[int], slack: dict[int, int], came_from: dict[int, int]) -> None:
        row = self._holder[here]
        base = self._row_price[row]
        for column in free:
            cost = -self._worth.get((row - 1, column - 1), 0) - base - self._column_price[column]
            if column not in slack or cost < slack[column]:
                slack[column], came_from[column] = cost, here

    def _reprice(self, step: int, free: set[int], slack: dict[int, int]) -> None:
        if not step:
            return
        for column, row in enumerate(self._holder):
            if column in free:
                slack[column] -= step
            else:
                self._row_price[row] += step
                self._column_price[column] -= step
