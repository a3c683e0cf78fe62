"""Average linkage, its order and its branches: what scipy says of the same scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage  # type: ignore[import-untyped]

from mcp_tef.scoring.similarity.clusters import average_linkage, branches, leaves
from mcp_tef.scoring.similarity.signals import Matrix


def scores(count: int, seed: int, steps: int) -> Matrix:
    """A square of chance; few steps make many scores equal."""
    found = np.random.default_rng(seed).integers(0, steps, (count, count)) / steps
    square = np.maximum(found, found.T).astype(np.float32)
    np.fill_diagonal(square, 1)
    return square


def condensed(square: Matrix) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What scipy reads."""
    return 1 - square[np.triu_indices(len(square), 1)].astype(np.float64)


@settings(max_examples=60, deadline=None)
@given(some.integers(2, 40), some.integers(0, 10_000), some.sampled_from([2, 5, 1_000_000]))
def test_tree_order_and_branches_are_those_of_scipy(count: int, seed: int, steps: int) -> None:
    square = scores(count, seed, steps)
    tree, expected = average_linkage(square), linkage(condensed(square), "average")
    assert tree == pytest.approx(expected, abs=1e-12)
    assert leaves(tree) == tuple(leaves_list(expected))
    for height in (0.0, 0.3, 0.6, 1.0):
        theirs = fcluster(expected, height, "distance").tolist()
        pairs = set(zip(branches(tree, height), theirs, strict=True))
        assert len(pairs) == len({ours for ours, _ in pairs}) == len(set(theirs))


def test_hundreds_of_tools_are_joined_as_scipy_joins_them() -> None:
    square = scores(600, 7, 1_000_000)
    assert average_linkage(square) == pytest.approx(linkage(condensed(square), "average"), abs=1e-12)


def test_two_tools_are_joined_at_how_far_they_are_apart() -> None:
    square = np.array([[1, 0.25], [0.25, 1]], dtype=np.float32)
    tree = average_linkage(square)
    assert tree.tolist() == [[0, 1, 0.75, 2]]
    assert leaves(tree) == (0, 1)
    assert branches(tree, 0.75) == [2, 2]
    assert branches(tree, 0.7) == [0, 1]
