"""Groups, order and copies: what belongs together stands together, under a name that says what it shares."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.clusters import clusters
from tests.support.similarity_factories import a_tool, compared


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
