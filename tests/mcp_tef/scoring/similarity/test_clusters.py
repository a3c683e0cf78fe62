"""Average linkage and leaf order against scipy and brute force, groups, labels and copies."""

from itertools import product

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.clusters import Joins, average_linkage, best_ordered, branches, clusters, leaves
from mcp_tef.scoring.similarity.signals import Matrix
from tests.support.similarity_factories import a_tool, compared


def scores(count: int, seed: int, steps: int) -> Matrix:
    """A square of chance; few steps make many scores equal."""
    found = np.random.default_rng(seed).integers(0, steps, (count, count)) / steps
    square = np.maximum(found, found.T).astype(np.float32)
    np.fill_diagonal(square, 1)
    return square


def condensed(square: Matrix) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the condensed distances that scipy reads."""
    return 1 - square[np.triu_indices(len(square), 1)].astype(np.float64)


@settings(max_examples=30, deadline=None)
@given(some.integers(2, 40), some.integers(0, 10_000), some.sampled_from([2, 5, 1_000_000]))
def test_tree_order_and_branches_are_those_of_scipy(count: int, seed: int, steps: int) -> None:
    square = scores(count, seed, steps)
    tree, expected = average_linkage(square), scipy.cluster.hierarchy.linkage(condensed(square), "average")
    assert tree == pytest.approx(expected, abs=1e-12)
    assert leaves(tree) == tuple(scipy.cluster.hierarchy.leaves_list(expected))
    for height in (0.0, 0.3, 0.6, 1.0):
        theirs = scipy.cluster.hierarchy.fcluster(expected, height, "distance").tolist()
        pairs = set(zip(branches(tree, height), theirs, strict=True))
        assert len(pairs) == len({ours for ours, _ in pairs}) == len(set(theirs))


def test_hundreds_of_tools_are_joined_as_scipy_joins_them() -> None:
    square = scores(600, 7, 1_000_000)
    assert average_linkage(square) == pytest.approx(
        scipy.cluster.hierarchy.linkage(condensed(square), "average"), abs=1e-12
    )


def test_two_tools_are_joined_at_how_far_they_are_apart() -> None:
    square = np.array([[1, 0.25], [0.25, 1]], dtype=np.float32)
    tree = average_linkage(square)
    assert tree.tolist() == [[0, 1, 0.75, 2]]
    assert leaves(tree) == (0, 1)
    assert branches(tree, 0.75) == [2, 2]
    assert branches(tree, 0.7) == [0, 1]


def random_scores(count: int, seed: int) -> Matrix:
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
    square = random_scores(count, seed)
    tree = average_linkage(square)
    found = best_ordered(tree, square)
    assert apart(square, found) == pytest.approx(min(apart(square, other) for other in every_order(tree)))


def test_the_tree_stays_the_same_but_for_sides() -> None:
    square = random_scores(120, 3)
    tree = average_linkage(square)
    found = best_ordered(tree, square)
    assert np.sort(found[:, :2], axis=1).tolist() == tree[:, :2].tolist()
    assert found[:, 2:].tolist() == tree[:, 2:].tolist()
    assert sorted(leaves(found)) == list(range(120))
    assert apart(square, found) < apart(square, tree)


def desk() -> Similarity:
    return compared(
        a_tool("search_files", "Find files in the folder by name"),
        a_tool("weather_today", "Tell rain and sun"),
        a_tool("find_files", "Search files in the folder by name"),
        a_tool("weather_tomorrow", "Tell rain and sun"),
        a_tool("unlock", "Open a door"),
    )


def test_alike_tools_stand_side_by_side_and_in_groups_named_by_what_they_share() -> None:
    found = clusters(desk())
    assert sorted(found.order) == [0, 1, 2, 3, 4]
    assert abs(found.order.index(0) - found.order.index(2)) == 1
    assert {group.name: set(group.members) for group in found.groups} == {
        "find files search": {0, 2},
        "weather rain sun": {1, 3},
    }


def test_the_tree_joins_all_tools_in_the_end_and_never_lower_than_before() -> None:
    merges = clusters(desk()).merges
    assert [merge.size for merge in merges][-1] == 5
    heights = [merge.height for merge in merges]
    assert heights == sorted(heights)
    assert {node for merge in merges for node in (merge.left, merge.right)} == set(range(8))


def test_paragraphs_that_a_server_repeats_do_not_name_its_groups() -> None:
    repeated = "Reads " + "and shows what it read to whoever asked for it " * 4 + "zebra zebra zebra"
    found = clusters(compared(a_tool("copy_file", repeated), a_tool("copy_folder", repeated)))
    assert "zebra" not in found.groups[0].name
    assert found.groups[0].name.startswith("copy")


def test_a_group_that_shares_no_words_goes_by_its_first_tool() -> None:
    assert [group.name for group in clusters(compared(a_tool("of", "the"), a_tool("of", "the"))).groups] == ["of"]


def test_copies_on_different_servers_are_found_and_those_on_one_server_are_not() -> None:
    similarity = compared(
        a_tool("read", "Reads a file", "one", path="string"),
        a_tool("read", "Reads a file", "two", path="string"),
        a_tool("read_again", "Reads a file", "two", path="string"),
        a_tool("write", "Stores text", "three"),
    )
    assert [(pair.a, pair.b) for pair in clusters(similarity).near_duplicates] == [(0, 1)]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_tools_are_in_order_already(count: int) -> None:
    found = clusters(compared(*[a_tool("x", "reads")] * count))
    assert (found.order, found.merges, found.groups) == (tuple(range(count)), (), ())


@settings(max_examples=30, deadline=None)
@given(some.lists(some.sampled_from(["read file", "read mail", "the", "", "open door"]), min_size=2, max_size=9))
def test_every_tool_is_in_the_order_once_and_in_one_group_at_most(descriptions: list[str]) -> None:
    found = clusters(compared(*[a_tool(f"t{n}", text) for n, text in enumerate(descriptions)]))
    members = [place for group in found.groups for place in group.members]
    assert sorted(found.order) == list(range(len(descriptions)))
    assert len(members) == len(set(members))


def test_more_tools_than_can_be_ordered_best_are_ordered_all_the_same() -> None:
    found = clusters(compared(*[a_tool(f"tool_{n % 50}_{n}", f"Reads thing{n % 50}") for n in range(501)]))
    assert sorted(found.order) == list(range(501))
