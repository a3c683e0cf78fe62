"""Details of a pair: scores, shared words, parameters and observations."""

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.screens.similarity.analysis import build_analysis
from app.screens.similarity.pair_detail import PairDetail, describe_pair, reflow, shared_ranges, whole
from app.screens.similarity.pair_pane import ParameterGrid
from app.widgets import FlowText
from mcp_tef import (
    Clusters,
    PairObservation,
    PairStatus,
    Rate,
    RunFilter,
    RunStatus,
    SharedParameter,
    ToolLabel,
    WorkItem,
)
from tests.support.similarity_factories import a_tool, compared
from tests.support.similarity_page import DESK, DOCS


def seen(confused: int, runs: int, there: int, back: int) -> PairObservation:
    return PairObservation(
        confused=confused,
        runs=runs,
        a_taken_for_b=there,
        b_taken_for_a=back,
        rate=Rate(confused / runs, 0.16, 0.31, runs),
        label_a=ToolLabel("search_files", "docs"),
        label_b=ToolLabel("search_code", "docs"),
    )


def detail(
    pair: tuple[int, int] = (0, 1), observation: PairObservation | None = None, share: float = np.nan
) -> PairDetail:
    similarity = compared(*DOCS, *DESK)
    clusters = Clusters(order=tuple(range(6)), merges=(), groups=(), near_duplicates=())
    item = WorkItem(
        pair=similarity.pair(*pair), observation=observation, standing=PairStatus.SIMILAR_AND_CONFUSED, harm=1.0
    )
    observed = np.full((6, 6), share, np.float32)
    return describe_pair(build_analysis(similarity, clusters), pair, item if observation else None, observed)


def test_the_first_score_is_confusability_and_each_other_has_its_sentence() -> None:
    found = detail()
    assert (found.lead.score, found.lead.shown) == (found.pair.confusability, found.pair.level.value)
    assert found.lead not in found.scores
    assert all(score.sentence and 0 <= score.score <= 1 for score in found.scores)


def test_words_in_both_descriptions_are_marked_as_they_are_written() -> None:
    found = detail()
    marked = [found.b.text[start:end] for start, end in found.b.marks]
    assert "Search" in marked
    assert "matching" in marked or any("matching" in one for one in marked)
    assert "number" not in marked


def test_marks_join_over_blanks_and_whole_words_only_count() -> None:
    text = "Search text, pattern in texture"
    assert [text[start:end] for start, end in shared_ranges(text, ("search", "text", "pattern"))] == [
        "Search text, pattern"
    ]
    assert shared_ranges(text, ()) == ()
    assert shared_ranges("a+b or aab", ("a+b",)) == ((0, 3),)


def test_tools_that_are_called_the_same_are_told_apart_by_their_ids() -> None:
    assert detail((2, 4)).names == ("docs/read_file", "desk/read_file")
    assert detail().names == ("search_files", "search_code")


def test_the_indentation_of_a_program_is_left_out_but_lists_keep_their_lines() -> None:
    told = reflow("\n    Move or rename\n    files.\n\n      - one\n      - two\n    Args:\n  x")
    assert told == "Move or rename files.\n\n- one\n- two\nArgs: x"
    assert reflow("  ") == ""


def test_a_long_description_is_cut_and_can_be_shown_whole() -> None:
    long = a_tool("long", "word " * 1_000)
    similarity = compared(long, *DOCS)
    clusters = Clusters(order=tuple(range(5)), merges=(), groups=(), near_duplicates=())
    found = describe_pair(build_analysis(similarity, clusters), (0, 1), None, None)
    assert len(found.a.text) + found.a.cut == 4_999
    assert whole(found.a, long.description, ("word",)).cut == 0
    assert len(whole(found.a, long.description, ("word",)).text) == 4_999


def test_confusions_are_counted_with_their_interval_and_each_way_leads_to_its_runs() -> None:
    found = detail(observation=seen(26, 117, 21, 5)).observed
    assert found.confused
    assert found.headline == "Confused in 26 of 117 runs"
    assert found.sentence == (
        "22 % (16–31) · 21 × search_code instead of search_files · 5 × search_files instead of search_code"
    )
    assert [link.text for link in found.links] == ["Show 21 of search_files", "Show 5 of search_code"]
    assert found.links[1].where == RunFilter(
        statuses=(RunStatus.COMPLETED,),
        expected=ToolLabel("search_code", "docs"),
        selected=ToolLabel("search_files", "docs"),
    )
    assert found.links[1].title == "search_files selected where search_code was expected"


def test_one_way_alone_is_just_called_runs() -> None:
    assert [link.text for link in detail(observation=seen(3, 9, 3, 0)).observed.links] == ["Show runs"]


@pytest.mark.parametrize(
    ("share", "confused", "headline"),
    [
        (np.nan, None, "Not tested in runs"),
        (0.0, False, "Never confused in runs"),
        (0.25, True, "Confused in runs"),
    ],
)
def test_pairs_outside_the_work_list_say_what_runs_say_of_them_too(
    share: float, confused: bool | None, headline: str
) -> None:
    found = detail(share=share).observed
    assert (found.confused, found.headline) == (confused, headline)


def test_never_confused_in_many_runs_is_a_result() -> None:
    found = detail(observation=seen(0, 40, 0, 0)).observed
    assert (found.confused, found.headline, found.links) == (False, "Never confused in 40 runs", ())


def test_a_parameter_of_only_one_tool_stands_on_the_side_of_that_tool_below_those_of_both(qtbot: QtBot) -> None:
    grid = ParameterGrid()
    qtbot.addWidget(grid)
    query, price, page = (
        SharedParameter("query", "string", "string"),
        SharedParameter("price", "number", None),
        SharedParameter("page", None, "integer"),
    )
    grid.show_parameters([page, price, query], ("find", "search"), 0)
    grid.resize(400, 200)
    grid.show()
    QApplication.processEvents()
    at = {part.text().split()[0]: part.geometry() for part in grid.findChildren(FlowText)}
    assert at["query"].bottom() < min(at["price"].top(), at["page"].top())
    assert at["query"].width() > 300
    assert at["price"].right() < at["page"].left()
