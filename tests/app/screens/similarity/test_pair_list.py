"""Rows of the pair list, which holds everything that the map shows."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.screens.similarity.analysis import SimilarityAnalysis, build_analysis, build_heatmap, short_names
from app.screens.similarity.labels import MapKind, confusability_text
from app.screens.similarity.pair_list import (
    MAX_LISTED_PAIRS,
    PAIR_COLUMNS,
    PairQuery,
    any_tool_query,
    duplicate_rows,
    group_rows,
    list_pairs,
    matching_tools,
    ordered_pair,
    pair_of_row,
    pair_row,
    row_id,
)
from app.screens.similarity.table_panes import pair_count_text
from mcp_tef import ClusterMerge, Clusters, ComparedTool, MatrixKind, PairStatus, ToolGroup, ToolLabel, WorkItem
from tests.support.report_factories import compared as compared_tools
from tests.support.report_factories import many, similarity, tool
from tests.support.similarity_factories import compared
from tests.support.similarity_page import DESK, DOCS, IDS, Bench

CODE_AND_FILES = (0, 1)


@pytest.fixture(scope="module")
def analysis() -> SimilarityAnalysis:
    similarity = compared(*DOCS, *DESK)
    merges = (
        ClusterMerge(2, 4, 0.0, 2),
        ClusterMerge(0, 1, 0.3, 2),
        ClusterMerge(6, 7, 0.6, 4),
        ClusterMerge(8, 3, 0.9, 5),
        ClusterMerge(9, 5, 1.0, 6),
    )
    clusters = Clusters(
        order=(2, 4, 0, 1, 3, 5),
        merges=merges,
        groups=(ToolGroup("read file", (2, 4)), ToolGroup("search", (0, 1))),
        near_duplicates=(similarity.pair(2, 4),),
    )
    return build_analysis(similarity, clusters)


def item(analysis: SimilarityAnalysis, a: int, b: int, standing: PairStatus) -> WorkItem:
    return WorkItem(pair=analysis.similarity.pair(a, b), observation=None, standing=standing, harm=1.0)


def test_all_pairs_are_listed_most_alike_first(analysis: SimilarityAnalysis) -> None:
    found = list_pairs(analysis, PairQuery(), {}, None)
    assert (len(found.rows), found.fitting) == (15, 15)
    assert (found.rows[0].a, found.rows[0].b) == ("read_file · docs", "read_file · desk")
    scores = [row.pair.confusability for row in found.rows]
    assert scores == sorted(scores, reverse=True)


def test_every_word_searched_for_must_be_in_one_of_both(analysis: SimilarityAnalysis) -> None:
    found = list_pairs(analysis, PairQuery(text="search desk/"), {}, None)
    assert {row.id for row in found.rows} == {"0-4", "1-4", "0-5", "1-5"}
    assert found.fitting == 4
    assert list_pairs(analysis, PairQuery(text="SEARCH_FILES"), {}, None).fitting == 5
    assert list_pairs(analysis, PairQuery(text="nobody"), {}, None).rows == ()


def test_a_pair_is_listed_once_though_both_have_the_word(analysis: SimilarityAnalysis) -> None:
    rows = list_pairs(analysis, PairQuery(text="search"), {}, None).rows
    assert len({row.id for row in rows}) == len(rows) == 9


def test_what_is_searched_for_can_be_ranked_by_another_score(analysis: SimilarityAnalysis) -> None:
    rows = list_pairs(analysis, PairQuery(text="search", by=MatrixKind.PARAMETERS), {}, None).rows
    assert rows[0].id == "0-1"
    assert [row.pair.parameters for row in rows] == sorted((row.pair.parameters for row in rows), reverse=True)


def test_a_standing_shows_its_pairs_as_the_work_list_has_them(analysis: SimilarityAnalysis) -> None:
    work = {
        (2, 4): item(analysis, 2, 4, PairStatus.SIMILAR_UNTESTED),
        (0, 1): item(analysis, 0, 1, PairStatus.CONFUSED_NOT_SIMILAR),
    }
    untried = PairQuery(status=PairStatus.SIMILAR_UNTESTED)
    assert [row.id for row in list_pairs(analysis, untried, work, None).rows] == ["2-4"]
    assert list_pairs(analysis, PairQuery(text="timer", status=PairStatus.SIMILAR_UNTESTED), work, None).rows == ()
    assert list_pairs(analysis, untried, work, None).rows[0].status == "similar, not tested"


def test_what_runs_say_stands_in_the_row(analysis: SimilarityAnalysis) -> None:
    observed = np.full((6, 6), np.nan, np.float32)
    observed[0, 1] = observed[1, 0] = 0.25
    rows = {row.id: row for row in list_pairs(analysis, PairQuery(), {}, observed).rows}
    place = [column.key for column in PAIR_COLUMNS].index("observed")
    assert pair_row(rows["0-1"]).cells[place].text == "25 %"
    assert pair_row(rows["0-2"]).cells[place].text == "–"
    assert not rows["0-2"].tried


def test_a_row_has_a_cell_for_every_column(analysis: SimilarityAnalysis) -> None:
    row = pair_row(list_pairs(analysis, PairQuery(), {}, None).rows[0])
    assert len(row.cells) == len(PAIR_COLUMNS)
    assert [cell.text for cell in row.cells[:4]] == ["read_file · docs", "read_file · desk", "high 1.00", "1.00"]


def test_a_confusability_below_a_level_does_not_read_as_that_level() -> None:
    shown = [confusability_text(score) for score in (0.2496, 0.25, 0.4999, 1.0)]
    assert shown == ["low 0.24", "medium 0.25", "medium 0.49", "high 1.00"]


def test_names_are_short_where_they_tell_tools_apart(analysis: SimilarityAnalysis) -> None:
    assert short_names(analysis.tools) == (
        "search_files", "search_code", "read_file · docs", "set_timer", "read_file · desk", "send_email",
    )  # fmt: skip


def test_a_tool_is_found_by_parts_of_its_id(analysis: SimilarityAnalysis) -> None:
    assert matching_tools(analysis, "desk read") == (4,)
    assert matching_tools(analysis, "  ") == ()
    assert [IDS[place] for place in matching_tools(analysis, "Search")] == ["docs/search_files", "docs/search_code"]


def test_groups_and_copies_become_rows(analysis: SimilarityAnalysis) -> None:
    assert [[cell.text for cell in row.cells] for row in group_rows(analysis)] == [
        ["read file", "2", "docs, desk", "read_file · docs, read_file · desk"],
        ["search", "2", "docs", "search_files, search_code"],
    ]
    assert [[cell.text for cell in row.cells] for row in duplicate_rows(analysis)] == [
        ["docs/read_file", "desk/read_file", "1.00"]
    ]


def test_a_map_stands_in_the_order_of_the_clusters_and_outlines_confusability(analysis: SimilarityAnalysis) -> None:
    made = build_heatmap(analysis, MapKind.LEXICAL, analysis.similarity.matrix(MatrixKind.LEXICAL))
    assert made.order.tolist() == [2, 4, 0, 1, 3, 5]
    assert made.what == "Wording"
    assert made.outlined is analysis.similarity.matrix(MatrixKind.CONFUSABILITY)
    assert len(made.tree.brackets) == 5
    assert sum(analysis.histogram) == 15


def test_a_row_is_named_by_its_places_whichever_way_round() -> None:
    assert row_id((7, 2)) == row_id((2, 7)) == "2-7"
    assert pair_of_row("2-7") == ordered_pair(7, 2) == (2, 7)


def test_a_number_that_tells_equal_tools_of_one_server_apart_stays() -> None:
    tool = DOCS[0]
    twice = (ComparedTool("docs/search_files", tool), ComparedTool("docs/search_files#2", tool))
    assert short_names(twice) == ("search_files · docs", "search_files#2 · docs")


def test_the_table_is_ready_made_row_by_row(analysis: SimilarityAnalysis) -> None:
    assert pair_count_text(list_pairs(analysis, PairQuery(), {}, None)) == "15 pairs"
    few = replace(list_pairs(analysis, PairQuery(), {}, None), fitting=2_000_000)
    assert pair_count_text(few) == (
        "The 15 pairs with the highest confusability of 2,000,000. Search for a tool to see others."
    )


def test_the_pairs_of_any_of_several_tools_are_searched_for_together(analysis: SimilarityAnalysis) -> None:
    tools = [ToolLabel(tool="search_files", server="docs"), ToolLabel(tool="send_email", server="the desk")]
    assert any_tool_query(tools) == "docs/search_files|desk/send_email"
    rows = list_pairs(analysis, PairQuery(text=any_tool_query(tools)), {}, None).rows
    sought = {place for place, name in enumerate(IDS) if name in ("docs/search_files", "desk/send_email")}
    assert len(rows) == 9
    assert all(set(pair_of_row(row.id)) & sought for row in rows)
    assert set(matching_tools(analysis, any_tool_query(tools))) == sought


MORE_THAN_ARE_LISTED = 70
Told = Mapping[frozenset[str], str]


def told_by_the_map(bench: Bench) -> Told:
    """The score of each pair of tools, as it is heard while arrow keys go through the upper half of the map."""
    heatmap, told = bench.page.view.map.heatmap, {}
    heatmap.setFocus()
    for row, column in combinations(range(len(heatmap.heat())), 2):
        heatmap.fit()
        for key, times in (
            (Qt.Key.Key_Up, 9),
            (Qt.Key.Key_Left, 9),
            (Qt.Key.Key_Down, row),
            (Qt.Key.Key_Right, column),
        ):
            for _ in range(times):
                QTest.keyClick(heatmap, key)
        one, other, score = heatmap.accessibleName().split(": ", 1)[1].split(", ")
        told[frozenset((one, other))] = score.removeprefix("Confusability: ")
    return told


def told_by_the_list(bench: Bench) -> Told:
    """The same, while the arrow key goes down the list."""
    table, analysis, told = bench.page.view.pairs.table, bench.page.presenter.analysis, {}
    assert analysis is not None
    score = [column.key for column in table.columns].index("confusability")
    table.setFocus()
    table.select_first()
    for _ in range(table.rows.rowCount()):
        names = frozenset(analysis.tools[place].id for place in pair_of_row(table.current_id()))
        told[names] = str(table.rows.data(table.currentIndex().siblingAtColumn(score)))
        QTest.keyClick(table, Qt.Key.Key_Down)
    return told


async def test_the_list_of_pairs_says_by_keys_what_the_map_says_by_keys(bench: Bench) -> None:
    by_map = told_by_the_map(bench)
    bench.page.show_view("pairs")
    await bench.page.settled()
    await bench.until(lambda: bench.page.view.pairs.table.rows.rowCount() == len(by_map))
    assert len(by_map) == 15
    assert told_by_the_list(bench) == by_map


def analysed(number: int) -> SimilarityAnalysis:
    return build_analysis(many(number), Clusters(order=tuple(range(number)), merges=(), groups=(), near_duplicates=()))


def test_every_pair_that_is_not_listed_is_found_by_its_two_names() -> None:
    analysis = analysed(MORE_THAN_ARE_LISTED)
    listed = list_pairs(analysis, PairQuery(), {}, None)
    every = {row_id(pair) for pair in combinations(range(MORE_THAN_ARE_LISTED), 2)}
    missing = sorted(every - {row.id for row in listed.rows})
    assert len(missing) == listed.fitting - MAX_LISTED_PAIRS > 0
    for row in missing:
        a, b = (analysis.tools[place].id for place in pair_of_row(row))
        found = list_pairs(analysis, PairQuery(text=f"{a} {b}"), {}, None)
        assert row in {one.id for one in found.rows}, (a, b)


@pytest.mark.parametrize("words", ["get get_f", "SHOP/get shop/get_f"])
def test_a_pair_whose_names_are_parts_of_all_others_is_found_as_well(words: str) -> None:
    names = ["get", "get_f", *(f"get_f{number}" for number in range(MORE_THAN_ARE_LISTED))]
    tools = compared_tools(*(tool(name) for name in names))
    scores = [
        [1.0 if a == b else 0.0 if {a, b} == {0, 1} else 0.9 for b in range(len(names))] for a in range(len(names))
    ]
    number = len(names)
    clusters = Clusters(order=tuple(range(number)), merges=(), groups=(), near_duplicates=())
    found = list_pairs(build_analysis(similarity(tools, scores), clusters), PairQuery(text=words), {}, None)
    assert len(found.rows) == MAX_LISTED_PAIRS < found.fitting
    assert row_id((0, 1)) in {row.id for row in found.rows}
    assert [row.pair.similarity for row in found.rows] == sorted(
        (row.pair.similarity for row in found.rows), reverse=True
    )
