"""The best assignment, against an independent source."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]  # scipy ships no types

from mcp_tef.scoring.bipartite_matching import best_pairs, pairs_up
from tests.support.processes import computing_at_most

Worth = dict[tuple[int, int], int]


@given(
    rows=st.integers(0, 6),
    columns=st.integers(0, 6),
    worth=st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(1, 9)),
)
def test_the_total_worth_is_that_of_scipy_and_nothing_is_used_twice(rows: int, columns: int, worth: Worth) -> None:
    worth = {(row, column): value for (row, column), value in worth.items() if row < rows and column < columns}
    pairs = best_pairs(rows, columns, worth)
    assert len({row for row, _ in pairs}) == len(pairs) == len({column for _, column in pairs})
    table = np.zeros((rows, columns))
    for place, value in worth.items():
        table[place] = value
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert sum(worth[pair] for pair in pairs) == best


def test_a_thousand_equal_calls_are_paired_at_once() -> None:
    with computing_at_most(1):
        pairs = best_pairs(5, 1_000, {(row, column): 10**40 for row in range(5) for column in range(1_000)})
    assert len(pairs) == 5


@given(st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6))
def test_rows_pair_up_exactly_when_scipy_can_seat_them_all(columns: list[list[int]]) -> None:
    table = np.zeros((len(columns), 6))
    for row, fitting in enumerate(columns):
        table[row, fitting] = 1
    seated = table[linear_sum_assignment(table, maximize=True)].sum()
    assert pairs_up(len(columns), lambda row: columns[row]) is bool(seated == len(columns))
