"""Flagged pairs of many tools, found in blocks: those that scoring every pair finds."""

import pickle
import random
from functools import cache

import numpy as np
import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.similarity import FlagRule, MatrixKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Meaning, WeighedWords
from mcp_tef.scoring.similarity.tool_texts import description_text, without_boilerplate
from tests.support.similarity_factories import a_tool, compared, tool_set

WORDS = ("file", "page", "user", "mail", "search", "list", "the", "of", "order", "price", "map", "get")


def tools(count: int) -> list[Tool]:
    """Tools of few words, so that names hold each other, texts recur, and some say nothing."""
    chance = random.Random(3)
    return [
        a_tool(
            "_".join(chance.choices(WORDS, k=chance.randint(1, 3))) + chance.choice(["", "", f"_{number}"]),
            " ".join(chance.choices(WORDS, k=chance.choice([0, 0, 1, 4, 9]))),
            f"server {number % 4}",
            **dict.fromkeys(chance.sample(WORDS, chance.randint(0, 2)), "string"),
        )
        for number in range(count)
    ]


@cache
def analysed(by: str) -> Similarity:
    made = tools(600)
    if by == "vectors":
        return compared(*made, full=False)
    words = WeighedWords(list(map(description_text, without_boilerplate(made))))
    return Similarity(tool_set(*made), Meaning(embedder="tfidf", described=words))


@pytest.mark.parametrize("by", ["words", "vectors"])
@pytest.mark.parametrize("rule", [FlagRule(), FlagRule(0.2), FlagRule(0.6, MatrixKind.SIMILARITY)], ids=str)
def test_pairs_found_in_blocks_are_those_of_the_whole_square(by: str, rule: FlagRule) -> None:
    similarity = analysed(by)
    square = np.triu(similarity.matrix(rule.kind), 1)
    fresh = Similarity(tool_set(*(each.tool for each in similarity.tools)), pickle.loads(meaning(similarity)))
    found = pickle.loads(pickle.dumps(fresh.scan(rule, block=64))).all()
    expected = list(zip(*np.nonzero(square >= np.float32(rule.threshold)), strict=True))
    assert found.count == len(expected) > 20
    assert set(zip(found.a.tolist(), found.b.tolist(), strict=True)) == {(int(a), int(b)) for a, b in expected}
    assert np.all(np.diff(square[found.a, found.b]) <= 1e-6)


def test_many_tools_have_flagged_pairs_and_percentiles_but_no_squares() -> None:
    pairs = analysed("words").flagged(FlagRule())
    few = Similarity(tool_set(*tools(600)), pickle.loads(meaning(analysed("words"))), 300)
    assert few.count_flagged(FlagRule()) == len(pairs)
    assert {(pair.a, pair.b) for pair in few.flagged(FlagRule())} == {(pair.a, pair.b) for pair in pairs}
    assert few.most_alike(FlagRule(), len(pairs) + 5) == few.flagged(FlagRule())
    assert few.flagged(FlagRule(), 1)[0].percentile == pytest.approx(pairs[0].percentile, abs=0.03)
    with pytest.raises(InputError, match="too many"):
        few.matrix(MatrixKind.SIMILARITY)


def meaning(similarity: Similarity) -> bytes:
    """The meaning of an analysis, as it is sent."""
    return pickle.dumps(similarity.scan(FlagRule()).kinds.meaning)
