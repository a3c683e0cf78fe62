"""What the map of look-alikes shows stands in the list of pairs too, and all of it can be reached by keys."""

from collections.abc import Mapping
from itertools import combinations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.screens.similarity.analysis import SimilarityAnalysis, build_analysis
from app.screens.similarity.pair_list import MAX_LISTED_PAIRS, PairQuery, list_pairs, pair_of_row, row_id
from mcp_tef import Clusters
from tests.support.report_factories import compared, many, similarity, tool
from tests.support.similarity_page import Bench, on_page

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
        told[frozenset((one, other))] = score.removeprefix("Similarity: ")
    return told


def told_by_the_list(bench: Bench) -> Told:
    """The same, while the arrow key goes down the list."""
    table, analysis, told = bench.page.view.pairs.table, bench.page.presenter.analysis, {}
    assert analysis is not None
    score = [column.key for column in table.columns].index("similarity")
    table.setFocus()
    table.select_first()
    for _ in range(table.rows.rowCount()):
        names = frozenset(analysis.tools[place].id for place in pair_of_row(table.current_id()))
        told[names] = str(table.rows.data(table.currentIndex().siblingAtColumn(score)))
        QTest.keyClick(table, Qt.Key.Key_Down)
    return told


@on_page
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
    tools = compared(*(tool(name) for name in names))
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
