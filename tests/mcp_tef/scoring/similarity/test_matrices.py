"""Every square of an analysis: symmetric, within 0–1, exact for what is the same, and alike to what pairs say."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_tef.model.similarity import MatrixKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.overlap import Overlap
from tests.support.similarity_factories import a_tool, compared

KINDS = tuple(MatrixKind)
WORDS = some.sampled_from(["search", "files", "the", "of", "", "weather", "get", "délai", "天気", "\n", "\ud83d", "🙂"])
TEXTS = some.lists(WORDS, max_size=5).map(" ".join) | some.text(max_size=12)
PARAMETERS = some.dictionaries(
    some.sampled_from(["query", "limit", "userId", "user_id"]), some.sampled_from(["string", "integer"]), max_size=3
)
TOOLS = some.builds(
    lambda name, text, server, parameters: a_tool(name, text, server, **parameters),
    TEXTS,
    TEXTS,
    some.sampled_from(["one", "two"]),
    PARAMETERS,
)


@settings(max_examples=60, deadline=None)
@given(some.lists(TOOLS, min_size=1, max_size=6))
def test_every_square_is_symmetric_within_0_and_1_with_a_diagonal_of_1(tools: Sequence[Tool]) -> None:
    similarity = compared(*tools)
    overlap = Overlap(similarity)
    squares = [similarity.matrix(kind) for kind in KINDS]
    for square in (*squares, overlap.matrix, overlap.semantic, overlap.parameters, overlap.description):
        assert square.dtype == np.float32
        assert square.shape == (len(tools), len(tools))
        assert np.array_equal(square, square.T)
        assert square.min() >= 0
        assert square.max() <= 1
        assert np.all(np.diag(square) == 1)


@settings(max_examples=60, deadline=None)
@given(some.lists(TOOLS, min_size=2, max_size=5))
def test_a_pair_says_what_the_squares_say(tools: Sequence[Tool]) -> None:
    asked_for_pairs, asked_for_squares = compared(*tools), compared(*tools)
    for kind in KINDS:
        asked_for_squares.matrix(kind)
    one, other = asked_for_pairs.pair(0, 1), asked_for_squares.pair(1, 0)
    for kind in KINDS:
        assert getattr(one, kind.value) == pytest.approx(getattr(other, kind.value), abs=1e-6)


@pytest.mark.parametrize("description", ["Search files by name.", "", "the of and", "検索 " * 40, "a" * 5_000])
@pytest.mark.parametrize("parameters", [{}, {"query": "string", "limit": "integer"}], ids=["bare", "parameters"])
def test_the_same_tool_on_two_servers_scores_exactly_1_everywhere(description: str, parameters: dict[str, str]) -> None:
    tools = [a_tool("find", description, server, **parameters) for server in ("one", "two")]
    similarity = compared(a_tool("other", "Something else"), *tools)
    assert [similarity.matrix(kind)[1, 2] for kind in KINDS] == [1.0] * len(KINDS)
    assert Overlap(similarity).matrix[1, 2] == 1.0
    assert similarity.pair(1, 2).confusability == 1.0


def test_unrelated_tools_without_parameters_score_near_0_everywhere() -> None:
    similarity = compared(a_tool("ping", "Check that the machine answers"), a_tool("sunset", "When daylight ends"))
    assert [similarity.matrix(kind)[0, 1] for kind in KINDS[:-1]] == [0.0] * 5
    assert similarity.matrix(MatrixKind.CONFUSABILITY)[0, 1] < 0.05
    assert Overlap(similarity).matrix[0, 1] == 0.0


def test_a_text_that_says_nothing_is_like_nothing_but_itself() -> None:
    similarity = compared(a_tool("of", "the"), a_tool("of", "the", "two"), a_tool("to", ""), a_tool("x", "search"))
    square = similarity.matrix(MatrixKind.SIMILARITY)
    assert square[0].tolist() == [1, 1, 0, 0]
    assert square[2].tolist() == [0, 0, 1, 0]


def test_words_in_another_order_are_exactly_1_too_and_not_a_hair_less() -> None:
    similarity = compared(a_tool("x", "red blue green quick"), a_tool("x", "quick green blue red"))
    assert similarity.matrix(MatrixKind.SIMILARITY)[0, 1] == 1.0
    assert similarity.matrix(MatrixKind.LEXICAL)[0, 1] == 1.0


def test_blocks_of_a_large_square_fit_together() -> None:
    tools = [
        a_tool(f"tool_{n % 7}_{n % 11}", f"Reads number{n % 13} and number{n % 5}", n=f"t{n % 3}") for n in range(700)
    ]
    similarity = compared(*tools)
    places = np.array([3, 600]), np.array([650, 5])
    for kind in KINDS:
        square = similarity.matrix(kind)
        assert np.array_equal(square, square.T)
        assert getattr(similarity.pairs(*places)[0], kind.value) == square[3, 650]
        assert square[3, 650] == pytest.approx(getattr(compared(tools[3], tools[650]).pair(0, 1), kind.value), abs=0.2)


def test_a_square_cannot_be_changed_by_who_looks_at_it() -> None:
    square = compared(a_tool("a"), a_tool("b")).matrix(MatrixKind.SIMILARITY)
    with pytest.raises(ValueError, match="read-only"):
        square[0, 1] = 0.5


def test_the_score_with_parameters_is_only_there_where_it_was_asked_for() -> None:
    similarity = compared(a_tool("a"), a_tool("b"), full=False)
    assert not similarity.has_full
    assert similarity.pair(0, 1).full is None
    with pytest.raises(KeyError):
        similarity.matrix(MatrixKind.FULL)
