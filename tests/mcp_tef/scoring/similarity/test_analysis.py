"""Score matrices: symmetric, within 0–1, exact for equal tools; highest pairs, counts and the chance of confusion."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from mcp_tef.model.similarity import (
    ComparedTool,
    ConfusabilityLevel,
    FlagRule,
    MatrixKind,
    ToolSet,
    confusability_level,
)
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import COEFFICIENTS, above, coefficients_for
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.score_kinds import best_pairs
from mcp_tef.scoring.similarity.signals import BLOCK, Matrix, Meaning, Square
from mcp_tef.scoring.similarity.tool_texts import without_boilerplate
from tests.support.similarity_factories import a_tool, compared, tool_set

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


@settings(max_examples=30, deadline=None)
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


@settings(max_examples=30, deadline=None)
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


def square(count: int) -> Matrix:
    """Scores in steps of a tenth, so that many are equal."""
    found = np.random.default_rng(1).integers(0, 11, (count, count)) / 10
    return np.maximum(found, found.T).astype(np.float32)


def sorted_pairs(scores: Matrix, least: float) -> list[tuple[int, int]]:
    """All of them the plain way: highest first, of equals the first."""
    pairs = [(a, b) for a in range(len(scores)) for b in range(a + 1, len(scores)) if scores[a, b] >= np.float32(least)]
    return sorted(pairs, key=lambda pair: (-scores[pair], pair))


def found_in(scores: Matrix, least: float, most: int) -> list[tuple[int, int]]:
    a, b = best_pairs(lambda start, stop: scores[start:stop, start:], len(scores), least, most)
    return list(zip(a.tolist(), b.tolist(), strict=True))


@pytest.mark.parametrize("most", [0, 1, 7, 30, 10_000])
@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_the_best_are_the_first_of_all_sorted(least: float, most: int) -> None:
    scores = square(40)
    assert found_in(scores, least, most) == sorted_pairs(scores, least)[:most]


def test_equals_of_later_blocks_never_displace_the_first() -> None:
    scores = np.full((BLOCK + 90, BLOCK + 90), 0.5, dtype=np.float32)
    scores[BLOCK + 3, BLOCK + 80] = 0.9
    assert found_in(scores, 0.1, 4) == [(BLOCK + 3, BLOCK + 80), (0, 1), (0, 2), (0, 3)]


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


def by_confusability() -> list[tuple[float, tuple[int, int]]]:
    similarity = four()
    return sorted(
        ((similarity.pair(a, b).confusability, (a, b)) for a, b in combinations(range(4), 2)),
        key=lambda one: (-one[0], one[1]),
    )


@pytest.mark.parametrize("rank", range(6))
def test_a_pair_is_flagged_from_the_threshold_on(rank: int) -> None:
    scores = [score for score, _ in by_confusability()]
    count = sum(score >= scores[rank] for score in scores)
    assert four().count_flagged(FlagRule(scores[rank])) == len(four().flagged(FlagRule(scores[rank]))) == count
    assert four().count_flagged(FlagRule(1.0)) == 0


def test_flagged_pairs_come_most_confusable_first_and_in_order_where_equal() -> None:
    pairs = [pair for _, pair in by_confusability()]
    assert [(pair.a, pair.b) for pair in four().flagged(FlagRule(0.0))] == pairs
    assert [(pair.a, pair.b) for pair in four().flagged(FlagRule(0.0), limit=2)] == pairs[:2]


def test_the_percentile_is_the_share_of_pairs_that_are_less_similar() -> None:
    ranks = {(pair.a, pair.b): pair.percentile for pair in four().flagged(FlagRule(0.0))}
    assert ranks[0, 1] == pytest.approx(5 / 6)
    assert ranks[0, 2] == ranks[1, 3] == pytest.approx(1 / 6)
    assert ranks[2, 3] == 0


def test_the_histogram_counts_every_pair_by_confusability_and_1_in_the_last_bin() -> None:
    similarity = compared(a_tool("find", "Search files"), a_tool("find", "Search files", "two"), a_tool("pay", "Pays"))
    expected = np.histogram(similarity.scores(MatrixKind.CONFUSABILITY), bins=10, range=(0, 1))[0]
    assert similarity.histogram(10).tolist() == expected.tolist()
    assert similarity.histogram(10)[-1] == 1


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
    assert similarity.pair_count == similarity.count_flagged(FlagRule(0.0)) == 0
    assert similarity.flagged(FlagRule(0.0)) == ()
    assert similarity.histogram(4).tolist() == [0, 0, 0, 0]


def test_what_alone_says_needs_no_other_pair() -> None:
    (pair,) = four().alone(np.array([2]), np.array([1]))
    assert (pair.a, pair.b, pair.percentile) == (0, 1, 0.0)
    assert pair.similarity == pytest.approx(0.5)


def test_the_nearest_tools_have_the_scores_of_their_pairs() -> None:
    similarity = four()
    for place in range(4):
        found = similarity.nearest(place, 2)
        pairs = [similarity.pair(place, other) for other in range(4) if other != place]
        expected = sorted((-pair.similarity, -pair.confusability) for pair in pairs if pair.similarity > 0)[:2]
        assert [(-score, -chance_of) for _, score, chance_of in found] == expected


def chance(cosine: float, *, level: float = 0.0, embedder: str = "folder:x") -> float:
    scores = np.array([[1, cosine], [cosine, 1]], dtype=np.float32)
    meaning = Meaning(embedder=embedder, described=Square(scores), level=level)
    return (
        Similarity(tool_set(a_tool("ping", "Answers"), a_tool("sunset", "Daylight")), meaning).pair(0, 1).confusability
    )


@pytest.mark.parametrize("kind", ["tfidf", "model"])
def test_only_opposed_verbs_speak_against_confusion(kind: str) -> None:
    weights = asdict(COEFFICIENTS[kind])
    assert weights.pop("intercept") < 0
    assert weights.pop("opposed") < 0
    assert min(weights.values()) >= 0


def test_the_chance_is_the_logistic_of_what_is_stored() -> None:
    weights = COEFFICIENTS["model"]
    odds = weights.intercept + weights.one_server + 0.5 * weights.within
    assert chance(0.5) == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-6)


def test_the_nearer_in_meaning_the_likelier() -> None:
    assert chance(0.1) < chance(0.5) < chance(0.9)


def test_a_cosine_that_the_embedder_gives_to_unrelated_tools_counts_for_nothing() -> None:
    assert chance(0.6, level=0.6) == pytest.approx(chance(0.0))
    assert chance(0.3, level=0.6) == pytest.approx(chance(0.0))
    assert above(0.6, np.array([0.2, 0.6, 0.8, 1.0], dtype=np.float32)).tolist() == pytest.approx([0, 0, 0.5, 1])


def test_words_have_coefficients_of_their_own_and_every_model_shares_the_others() -> None:
    assert coefficients_for("tfidf") == COEFFICIENTS["tfidf"] != COEFFICIENTS["model"]
    assert coefficients_for("litellm:openai/x") == COEFFICIENTS["model"]


def confusability_of(one: Tool, other: Tool) -> float:
    return compared(one, other).pair(0, 1).confusability


def test_opposed_verbs_make_tools_easier_to_tell_apart() -> None:
    alike = confusability_of(a_tool("delete_issue", "Works on it"), a_tool("remove_ticket", "Handles that"))
    opposed = confusability_of(a_tool("delete_issue", "Works on it"), a_tool("create_ticket", "Handles that"))
    reading = confusability_of(a_tool("list_issue", "Works on it"), a_tool("search_ticket", "Handles that"))
    assert opposed < reading < alike


def test_a_verb_of_the_description_counts_where_the_name_has_none() -> None:
    one = a_tool("issue_tool", "Deletes what is named")
    assert confusability_of(one, a_tool("ticket_box", "Creates things")) < confusability_of(
        one, a_tool("ticket_box", "Removes things")
    )


def test_a_name_that_holds_the_other_whole_is_more_confusable_than_one_that_only_shares_a_word() -> None:
    whole = confusability_of(a_tool("trial_getter", "Works"), a_tool("trial_protocol_getter", "Handles"))
    part = confusability_of(a_tool("trial_site_getter", "Works"), a_tool("trial_protocol_getter", "Handles"))
    assert whole > part


@pytest.mark.parametrize("other", ["solve", "delete_run"])
@pytest.mark.parametrize("server", ["one", "two"])
def test_tools_with_the_same_description_and_parameters_are_high_whatever_their_names(other: str, server: str) -> None:
    tools = [a_tool("create_run", "Runs a saved job now.", "one", job="string")]
    tools.append(a_tool(other, "Runs a saved job now.", server, job="string"))
    assert compared(*tools, a_tool("x", "Something else")).pair(0, 1).level is ConfusabilityLevel.HIGH


def test_sentences_that_three_tools_of_a_server_have_are_not_compared() -> None:
    note = "Results are cached for ten minutes. Ask the owner of the account for access."
    texts = ["Finds flights", "Books hotels", "Rents cars"]
    bare = compared(*(a_tool(f"tool{at}", f"{text}.") for at, text in enumerate(texts)))
    noted = compared(*(a_tool(f"tool{at}", f"{text}. {note}") for at, text in enumerate(texts)))
    two = compared(*(a_tool(f"tool{at}", f"{text}. {note}") for at, text in enumerate(texts[:2])))
    for kind in (MatrixKind.LEXICAL, MatrixKind.CONFUSABILITY):
        assert noted.matrix(kind).tolist() == bare.matrix(kind).tolist()
        assert two.matrix(kind)[0, 1] > bare.matrix(kind)[0, 1]
    assert noted.tools[0].tool.description.endswith(note)


def test_a_description_of_nothing_but_shared_sentences_stays() -> None:
    tools = [a_tool(name, "Generated from the specification.") for name in ("alpha", "beta", "gamma")]
    assert [tool.description for tool in without_boilerplate(tools)] == ["Generated from the specification."] * 3


@pytest.mark.parametrize(
    ("score", "level"),
    [(0.0, "low"), (0.2499, "low"), (0.25, "medium"), (0.4999, "medium"), (0.5, "high"), (1, "high")],
)
def test_confusability_is_shown_as_one_of_three_levels(score: float, level: str) -> None:
    assert confusability_level(score).value == level


def test_the_coefficients_say_where_they_come_from() -> None:
    stored = json.loads(files("resources").joinpath("confusability.json").read_text("utf-8"))
    assert {"data", "fitted_on", "fitted_by"} <= set(stored)
