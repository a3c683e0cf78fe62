"""The best order of a tree's leaves: no other order of the same tree has neighbours that are more alike."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_tef.scoring.similarity.clusters import Joins, average_linkage, best_ordered, leaves
from mcp_tef.scoring.similarity.signals import Matrix


def scores(count: int, seed: int) -> Matrix:
    """A square of chance."""
    found = np.random.default_rng(seed).random((count, count))
    square = np.maximum(found, found.T).astype(np.float32)
    np.fill_diagonal(square, 1)
    return square


def apart(square: Matrix, tree: Joins) -> float:
    """The sum of distances between neighbours."""
    order = list(leaves(tree))
    return float((1 - square[order[:-1], order[1:]].astype(np.float64)).sum())


def every_order(tree: Joins) -> list[Joins]:
    """The tree with each choice of branches swapped."""
    turned = tree[:, [1, 0, 2, 3]]
    choices = product((False, True), repeat=len(tree))
    return [np.where(np.array(chosen)[:, None], turned, tree) for chosen in choices]


@settings(max_examples=40, deadline=None)
@given(some.integers(2, 8), some.integers(0, 10_000))
def test_no_other_order_of_the_tree_keeps_neighbours_closer(count: int, seed: int) -> None:
    square = scores(count, seed)
    tree = average_linkage(square)
    found = best_ordered(tree, square)
    assert apart(square, found) == pytest.approx(min(apart(square, other) for other in every_order(tree)))


def test_the_tree_stays_the_same_but_for_sides() -> None:
    square = scores(120, 3)
    tree = average_linkage(square)
    found = best_ordered(tree, square)
    assert np.sort(found[:, :2], axis=1).tolist() == tree[:, :2].tolist()
    assert found[:, 2:].tolist() == tree[:, 2:].tolist()
    assert sorted(leaves(found)) == list(range(120))
    assert apart(square, found) < apart(square, tree)
