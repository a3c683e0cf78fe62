"""Patterns of a confusion matrix: cells that are no accident, and an order in which confused tools are neighbours."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, exp, floor, lgamma, log, log1p

from mcp_tef.model.metrics import ConfusionMatrix

Place = tuple[int, int]
FALSE_DISCOVERIES = 0.05


def frequent_confusions(cells: Mapping[Place, float], rows: Sequence[float], columns: int) -> frozenset[Place]:
    """Return the confusions that are more frequent than if all of them were spread evenly over all wrong cells.

    `cells` and `rows` count families, since repeats of a case are not further cases. Each wrong cell of the matrix is
    tested by the upper tail of the binomial distribution; at most 5 % of the cells found are false ones, on average.
    Source: Y. Benjamini, Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society
    B 57 (1995), 289-300.
    """
    wrong = {place: count for place, count in cells.items() if place[0] != place[1]}
    if not wrong or columns < 2:
        return frozenset()
    tests = len(rows) * (columns - 1)
    chance = sum(wrong.values()) / (sum(rows) * (columns - 1))
    tails = sorted((_tail(count, rows[place[0]], chance), place) for place, count in wrong.items())
    ranks = (rank for rank, (p, _) in enumerate(tails, 1) if p <= FALSE_DISCOVERIES * rank / tests)
    return frozenset(place for _, place in tails[: max(ranks, default=0)])


def _tail(count: float, n: float, chance: float) -> float:
    """Return the tail for parts of families: as few as they may be of as many as they may be."""
    return binomial_tail(floor(count + 1e-9), ceil(n - 1e-9), chance)


def binomial_tail(k: int, n: int, chance: float) -> float:
    """Return P(X ≥ k) for a binomial X of `n` trials, the sum of its terms from k on."""
    if k <= 0 or chance >= 1:
        return 1.0
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    term = total = exp(ways + k * log(chance) + (n - k) * log1p(-chance))
    for number in range(k, n):
        term *= (n - number) / (number + 1) * chance / (1 - chance)
        total += term
    return min(1.0, total)


def cluster_confusions(matrix: ConfusionMatrix) -> ConfusionMatrix:
    """Order a matrix: confused tools first, each beside the one that it is confused with most.

    A chain: it starts at the tool with most confusions and goes on to the tool that was confused most with the last
    one, else with one before it; where that chain ends, the next one begins. Tools without confusions follow by name.
    """
    tools = len(matrix.rows) - 1
    order = [*_chain(matrix, tools), *range(tools, len(matrix.columns))]
    new = {old: place for place, old in enumerate(order)}
    rows = order[: tools + 1]
    return replace(
        matrix,
        rows=tuple(matrix.rows[row] for row in rows),
        columns=tuple(matrix.columns[column] for column in order),
        cells={(new[row], new[column]): count for (row, column), count in matrix.cells.items()},
        row_totals=tuple(matrix.row_totals[row] for row in rows),
        column_totals=tuple(matrix.column_totals[column] for column in order),
        frequent=frozenset((new[row], new[column]) for row, column in matrix.frequent),
    )


def _chain(matrix: ConfusionMatrix, tools: int) -> list[int]:
    """Return the places of the tools in the order of `cluster_confusions`."""
    wrong, near = _confused(matrix, tools)
    left = dict.fromkeys(sorted(wrong, key=lambda place: (-wrong[place], place)))
    order: list[int] = []
    while left:
        place = next(_nearest(order, left, near), next(iter(left)))
        order.append(place)
        del left[place]
    return [*order, *(place for place in range(tools) if place not in wrong)]


def _confused(matrix: ConfusionMatrix, tools: int) -> tuple[Counter[int], Mapping[int, Counter[int]]]:
    """Return how often each tool was part of a confusion, in all and by the other tool."""
    wrong: Counter[int] = Counter()
    near: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for (row, column), count in matrix.cells.items():
        pair = [place for place in (row, column) if place < tools and row != column]
        wrong.update(dict.fromkeys(pair, count))
        if len(pair) == 2:
            near[row][column] += count
            near[column][row] += count
    return wrong, near


def _nearest(order: Sequence[int], left: Mapping[int, None], near: Mapping[int, Counter[int]]) -> Iterator[int]:
    """Yield, for the last tool first, the one left that was confused most with it."""
    for place in reversed(order):
        open_ones = {other: count for other, count in near.get(place, Counter()).items() if other in left}
        if open_ones:
            yield max(open_ones, key=lambda other: (open_ones[other], -other))
