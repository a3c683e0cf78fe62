"""What an analysis answers: how many pairs, which, in which order, and how they stand among all."""

import numpy as np
import pytest

from mcp_tef.model.similarity import ComparedTool, MatrixKind, ToolSet
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Meaning, Square
from tests.support.similarity_factories import a_tool

SCORES = np.array(
    [[1, 0.9, 0.2, 0.85], [0.9, 1, 0.5, 0.2], [0.2, 0.5, 1, 0.1], [0.85, 0.2, 0.1, 1]],
    dtype=np.float32,
)


def four() -> Similarity:
    tools = [a_tool(name, f"Does {name}") for name in ("one", "two", "three", "four")]
    tool_set = ToolSet(tools=tuple(ComparedTool(tool.name, tool) for tool in tools))
    return Similarity(tool_set, Meaning(embedder="given", described=Square(SCORES)))


def test_each_pair_counts_once() -> None:
    similarity = four()
    assert (len(similarity), similarity.pair_count) == (4, 6)
    assert similarity.scores(MatrixKind.SIMILARITY).tolist() == pytest.approx([0.9, 0.2, 0.85, 0.5, 0.2, 0.1])


@pytest.mark.parametrize(("threshold", "count"), [(0.0, 6), (0.2, 5), (0.85, 2), (0.8501, 1), (0.91, 0), (1.0, 0)])
def test_a_pair_is_flagged_from_the_threshold_on(threshold: float, count: int) -> None:
    assert four().count_at(threshold) == len(four().flagged(threshold)) == count


def test_flagged_pairs_come_most_similar_first_and_in_order_where_equal() -> None:
    assert [(pair.a, pair.b) for pair in four().flagged(0.15)] == [(0, 1), (0, 3), (1, 2), (0, 2), (1, 3)]
    assert [(pair.a, pair.b) for pair in four().flagged(0.15, limit=2)] == [(0, 1), (0, 3)]


def test_the_percentile_is_the_share_of_pairs_that_are_less_similar() -> None:
    ranks = {(pair.a, pair.b): pair.percentile for pair in four().flagged(0.0)}
    assert ranks[0, 1] == pytest.approx(5 / 6)
    assert ranks[0, 2] == ranks[1, 3] == pytest.approx(1 / 6)
    assert ranks[2, 3] == 0


def test_the_histogram_counts_every_pair_once_and_1_in_the_last_bin() -> None:
    counts = four().histogram(10)
    assert counts.tolist() == [0, 1, 2, 0, 0, 1, 0, 0, 1, 1]
    assert counts.sum() == 6


def test_pairs_by_another_score_are_the_most_alike_by_it() -> None:
    similarity = four()
    best = similarity.pairs_by(MatrixKind.CONFUSABILITY, 3)
    assert [pair.confusability for pair in best] == sorted((pair.confusability for pair in best), reverse=True)
    assert (best[0].a, best[0].b) == (0, 1)
    assert len(similarity.pairs_by(MatrixKind.NAMES, 99)) == 6


def test_a_pair_is_the_same_whichever_way_round_it_is_named() -> None:
    assert four().pair(3, 0) == four().pair(0, 3)
    assert (four().pair(3, 0).a, four().pair(3, 0).b) == (0, 3)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_tools_have_no_pairs(count: int) -> None:
    tools = tuple(ComparedTool("x", a_tool("x")) for _ in range(count))
    scores = Square(np.ones((count, count), dtype=np.float32))
    similarity = Similarity(ToolSet(tools=tools), Meaning(embedder="given", described=scores))
    assert similarity.pair_count == similarity.count_at(0.0) == 0
    assert similarity.flagged(0.0) == ()
    assert similarity.histogram(4).tolist() == [0, 0, 0, 0]


def test_what_alone_says_needs_no_other_pair() -> None:
    (pair,) = four().alone(np.array([2]), np.array([1]))
    assert (pair.a, pair.b, pair.percentile) == (0, 1, 0.0)
    assert pair.similarity == pytest.approx(0.5)
