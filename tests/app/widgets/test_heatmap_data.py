"""What a heatmap shows, before it is drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.widgets.heatmap_data import Heat, as_bytes, closest, coarser, make_heat
from app.widgets.heatmap_layout import Tree


def square(n: int, seed: int = 7) -> NDArray[np.float32]:
    """Symmetric scores with a diagonal of 1."""
    scores = np.random.default_rng(seed).random((n, n), dtype=np.float32)
    made: NDArray[np.float32] = np.maximum(scores, scores.T)
    np.fill_diagonal(made, 1)
    return made


def heat(n: int = 5, order: tuple[int, ...] = (4, 2, 0, 1, 3)) -> Heat:
    names = [f"tool_{place}" for place in range(n)]
    titles = [f"shop/{name}" for name in names]
    return make_heat("Similarity", names, titles, square(n), outlined=square(n), order=order, tree=Tree())


def test_scores_become_bytes_in_the_order_given() -> None:
    made = as_bytes(np.array([[1, 0.5], [0.5, 1]], np.float32), np.array([1, 0]))
    assert made.tolist() == [[255, 128], [128, 255]]


def test_what_is_not_known_has_a_byte_of_its_own() -> None:
    made = as_bytes(np.array([[1, np.nan], [0, 1]], np.float32), np.array([0, 1]))
    assert made.tolist() == [[255, 0], [1, 255]]


@pytest.mark.filterwarnings("error")
@settings(max_examples=30, deadline=None)
@given(st.integers(257, 700))
def test_a_high_score_is_never_lost_among_thousands(n: int) -> None:
    scores = np.zeros((n, n), np.float32)
    scores[n - 1, 3] = 1.0
    levels = coarser(as_bytes(scores, np.arange(n)))
    assert len(levels[-1]) <= 256
    assert all(level.max() == 255 for level in levels)


def test_cells_at_the_threshold_are_outlined_and_the_diagonal_never_is() -> None:
    made = heat()
    exact = float(made.outlined[made.order[0], made.order[1]])
    found = made.outlines(range(5), range(5), exact)
    assert found[0, 1]
    assert found[1, 0]
    assert not found.diagonal().any()
    assert not made.outlines(range(1), range(1, 2), float(np.nextafter(np.float32(exact), np.float32(2)))).any()


def test_the_closest_neighbour_of_each_counts_without_itself() -> None:
    assert closest(np.array([[1, 0.25], [0.25, 1]], np.float32)).tolist() == [0.25, 0.25]
    assert closest(np.ones((1, 1), np.float32)).tolist() == [0.0]


def test_the_closest_neighbours_beyond_the_first_block_are_found_too() -> None:
    scores = np.eye(600, dtype=np.float32)
    scores[599, 300] = scores[300, 599] = 0.5
    found = closest(scores)
    assert np.flatnonzero(found).tolist() == [300, 599]


def test_loud_rows_are_those_with_a_neighbour_at_the_threshold_closest_first() -> None:
    made = heat()
    loud = made.loud(range(5), 0.0)
    values = [float(made.nearest[made.order[place]]) for place in loud]
    assert sorted(values, reverse=True) == values
    assert made.loud(range(5), 1.1) == []
    assert set(made.loud(range(2, 5), 0.0)) == {2, 3, 4}


def test_a_cell_says_both_whole_names_and_the_score() -> None:
    made = heat()
    score = float(made.scores[4, 2])
    assert made.says(0, 1) == f"shop/tool_4\nshop/tool_2\nSimilarity: {score:.2f}"


def test_a_cell_that_is_not_known_says_so() -> None:
    blank = np.full((2, 2), np.nan, np.float32)
    made = make_heat("Confused", ["a", "b"], ["a", "b"], blank, outlined=square(2), order=(0, 1), tree=Tree())
    assert made.says(0, 1).endswith("Confused: not known")
