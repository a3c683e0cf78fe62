"""Sparse rows: what scipy says of the same numbers."""

from typing import Any

import numpy as np
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.scoring.tfidf_weights import Products, SparseRows, beside, counted, ranges, tally

SEEDS = st.integers(0, 2**32 - 1)


def given_rows(height: int, width: int, seed: int) -> tuple[SparseRows, Any]:
    """Rows of which some columns are frequent and others rare, and the same as scipy has them."""
    often = scipy.sparse.random(height, width, density=0.2, format="csr", dtype=np.float32, random_state=seed)
    seldom = scipy.sparse.random(height, width, density=0.01, format="csr", dtype=np.float32, random_state=seed + 1)
    return beside(_ours(often), _ours(seldom)), np.hstack((often.toarray(), seldom.toarray()))


def _ours(rows: Any) -> SparseRows:
    rows.sort_indices()
    return SparseRows(rows.indices.astype(np.intp), rows.data, rows.indptr.astype(np.intp), rows.shape[1])


@settings(max_examples=30)
@given(st.integers(1, 90), st.integers(0, 90), SEEDS)
def test_products_are_the_plain_products_and_their_corner_is_symmetric(height: int, start: int, seed: int) -> None:
    rows, plain = given_rows(height, 40, seed % 2**31)
    start = start % height
    stop = (start + height) // 2 + 1
    found = Products(rows).of(start, stop)
    assert np.allclose(found, plain[start:stop] @ plain[start:].T, atol=1e-5)
    corner = found[:, : len(found)]
    assert np.array_equal(corner, corner.T)


def test_many_pairs_are_looked_up_some_at_a_time() -> None:
    rows = counted([range(row % 40 * 30, row % 40 * 30 + 30) for row in range(2_400)])
    found = Products(rows).of(0, 2_400)
    assert found[0].sum() == 30 * 60
    assert found.sum() == 2_400 * 30 * 60


@settings(max_examples=30)
@given(st.integers(1, 60), SEEDS)
def test_products_of_pairs_are_those_of_the_square(height: int, seed: int) -> None:
    rows, plain = given_rows(height, 12, seed % 2**31)
    chance = np.random.default_rng(seed)
    a, b = chance.integers(0, height, (2, 20))
    assert np.allclose(rows.pairs(a, b), (plain @ plain.T)[a, b], atol=1e-5)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3))))
def test_each_row_counts_how_often_it_comes_with_each_column(pairs: list[tuple[int, int]]) -> None:
    owners, columns = (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
    rows = tally(owners, columns, (6, 4))
    assert rows.height == 6
    told = zip(rows.owners.tolist(), rows.columns.tolist(), rows.amounts.tolist(), strict=True)
    assert [*told] == sorted((*pair, pairs.count(pair)) for pair in set(pairs))


def test_bags_without_anything_are_rows_without_anything() -> None:
    rows = counted(["", "aab", "", "bbb"])
    assert rows.starts.tolist() == [0, 0, 2, 2, 3]
    assert rows.pairs(np.array([0, 1, 1]), np.array([1, 3, 1])).tolist() == [0, 3, 5]
    assert counted(["", ""]).pairs(np.array([0]), np.array([1])).tolist() == [0]


def test_ranges_count_on_from_each_start() -> None:
    assert ranges(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist() == [5, 6, 7, 8, 9]
