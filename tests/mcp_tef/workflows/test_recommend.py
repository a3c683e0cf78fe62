"""Advice on pairs: issues, drafts that are measured, and the order that never matters."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.errors import EmbeddingError, InputError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, EmbedderChoice, EmbedderKind, PairAdvice, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder
from mcp_tef.scoring.differentiation.patches import sound
from tests.support.fake_ports import FakeWriter
from tests.support.similarity_factories import (
    BOOKING,
    COMMENT,
    KEY,
    MODEL,
    PAGE_COMMENT,
    TOOLS,
    WEATHER,
    Advisor,
    HashedWords,
    answer,
    changed,
    drafts,
    told,
    tool_set,
)


async def test_two_clearly_different_tools_get_no_advice_and_no_model_is_asked() -> None:
    writer = FakeWriter(lambda _task: answer())
    advice = await Advisor(writer).advice((WEATHER, BOOKING), MODEL)
    assert (advice.issues, advice.recommendations, advice.failure, advice.tokens) == ((), (), None, None)
    assert not writer.tasks


async def test_drafts_make_the_pair_less_alike_by_the_score_that_the_analysis_would_give() -> None:
    advisor = Advisor()
    advice = await advisor.advice()
    measured = [each for each in drafts(advice) if each.revised]
    assert measured
    for each in measured:
        assert each.revised is not None
        assert each.similarity_after is not None
        assert each.similarity_after < advice.similarity
        after = [replace(tool, description=each.revised) if tool.name == each.tool_name else tool for tool in TOOLS]
        assert (await advisor.similarity(after)).pair(0, 1).similarity == pytest.approx(each.similarity_after, abs=1e-4)


@pytest.mark.parametrize("embedder", [None, HashedWords("folder:hashed")])
async def test_a_change_that_would_make_the_pair_more_alike_is_not_offered(embedder: Embedder | None) -> None:
    one = told("alpha_tool", "Reads rows of a table.")
    other = told("beta_tool", "Reads rows of a table of alpha.")
    for each in drafts(await Advisor(embedder=embedder).advice((one, other))):
        assert each.similarity_after is None or each.similarity_after < 1
        assert bool(each.patch) == bool(each.override) == (each.similarity_after is not None)


async def test_an_advice_without_a_usable_text_keeps_its_action() -> None:
    one, other = told("find_it", "Find rows."), told("find_them", "Find rows.")
    bare = [each for each in drafts(await Advisor().advice((one, other))) if not each.patch]
    assert bare
    assert all(each.action and each.revised is None and each.before is None and each.override == {} for each in bare)


async def test_every_draft_says_that_it_is_one_and_shows_both_texts() -> None:
    for each in drafts(await Advisor().advice()):
        assert each.author == "draft"
        if each.revised:
            assert each.before in (COMMENT.description, PAGE_COMMENT.description)
            assert each.override == {"toolsOverride": {each.tool_name: {"description": each.revised}}}


async def test_every_patch_applies_to_the_servers_own_document() -> None:
    elsewhere = told("jira_add_comment", "Add a comment.", server="other")
    patched = [each for each in (await Advisor().advice((*TOOLS, elsewhere))).recommendations if each.patch]
    assert patched
    for each in patched:
        after = changed(each, TOOLS)
        assert all(map(sound, after))
        if each.revised:
            assert {tool["description"] for tool in after} > {each.revised}


async def test_advice_comes_in_the_order_asked_for_and_is_heard_as_it_is_done() -> None:
    heard: list[PairAdvice] = []
    advisor = Advisor()
    similarity = await advisor.similarity()
    advices = await advisor.recommend.pairs(similarity, [(2, 3), (0, 1)], heard=heard.append)
    assert [advice.a for advice in advices] == ["desk/book_flight", "desk/confluence_add_comment"]
    assert sorted(advice.a for advice in heard) == sorted(advice.a for advice in advices)


@pytest.mark.parametrize("pair", [(0, 0), (0, 4), (-1, 2)])
async def test_a_pair_that_is_none_is_said_to_be(pair: tuple[int, int]) -> None:
    advisor = Advisor()
    with pytest.raises(InputError, match="There is no pair"):
        await advisor.recommend.pairs(await advisor.similarity(), [pair])


async def test_an_embedder_that_cannot_be_had_again_leaves_the_score_open_but_still_judges_drafts() -> None:
    advisor = Advisor(embedder=HashedWords())
    similarity = await advisor.similarity()
    similarity.embedder = "folder:gone"
    (advice,) = await advisor.recommend.pairs(similarity, [(0, 1)])
    assert any(each.revised for each in advice.recommendations)
    assert {each.similarity_after for each in advice.recommendations} == {None}


async def test_the_choice_of_the_analysis_finds_an_embedder_whose_name_does_not() -> None:
    advisor = Advisor(embedder=HashedWords("folder:hashed"))
    similarity, key = await advisor.similarity(), Secret(KEY)
    choice = EmbedderChoice(EmbedderKind.FOLDER, "/some/where/hashed")
    (advice,) = await advisor.recommend.pairs(similarity, [(0, 1)], embedder=choice, embedder_key=key)
    assert any(each.similarity_after is not None for each in advice.recommendations)
    assert advisor.embedders.keys == [key]


async def test_an_embedder_that_fails_meanwhile_leaves_the_score_open() -> None:
    embedder = HashedWords()
    advisor = Advisor(embedder=embedder)
    similarity = await advisor.similarity()
    embedder.fault = EmbeddingError("Gone.")
    (advice,) = await advisor.recommend.pairs(similarity, [(0, 1)])
    assert {each.similarity_after for each in advice.recommendations} == {None}


pieces = ["Find", "files", "in", "a", "folder.", "\n\n", "`x`", "(e.g.", "'ab')", "Jira", "“b”", '"q"', "ü", "\\"]
some_text = st.lists(st.sampled_from(pieces), max_size=8).map(" ".join)
some_tool = st.builds(
    lambda name, text, about, own: told(name, text, required=("key",), key=about, **{own: about}),
    st.from_regex(r"[a-z]{2,5}(_[a-z]{2,5})?", fullmatch=True),
    some_text | st.text(max_size=20),
    some_text,
    st.sampled_from(["path", "a/b", "~x", "Größe"]),
)
some_tools = st.lists(some_tool, min_size=2, max_size=4, unique_by=lambda tool: tool.name)


def without_places(advice: PairAdvice) -> PairAdvice:
    """The advice without what says where in a document a tool stands, and scores to four digits."""
    kept = [
        replace(each, patch=tuple(op["op"] for op in each.patch), similarity_after=_rounded(each.similarity_after))
        for each in advice.recommendations
    ]
    return replace(advice, recommendations=tuple(kept), similarity=round(advice.similarity, 4))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 3)


async def _advised(tools: Sequence[ComparedTool]) -> tuple[PairAdvice, ...]:
    advisor = Advisor(embedder=HashedWords())
    similarity = await advisor.similarity_of(ToolSet(tools=tuple(tools)))
    pairs = [(a, b) for a in range(len(tools)) for b in range(a)]
    return await advisor.recommend.pairs(similarity, pairs)


@settings(max_examples=25)
@given(some_tools, st.randoms(use_true_random=False))
def test_the_order_of_the_tools_never_changes_the_advice_and_every_patch_applies(
    tools: list[Tool], chance: random.Random
) -> None:
    compared = list(tool_set(*tools).tools)
    advices = asyncio.run(_advised(compared))
    for recommendation in (each for advice in advices for each in advice.recommendations if each.patch):
        assert all(map(sound, changed(recommendation, tools)))
    chance.shuffle(compared)
    again = {(advice.a, advice.b): without_places(advice) for advice in asyncio.run(_advised(compared))}
    assert again == {(advice.a, advice.b): without_places(advice) for advice in advices}
