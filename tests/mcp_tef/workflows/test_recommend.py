"""Recommendations for pairs, by rules and by a model."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.errors import EmbeddingError, InputError, ModelError, ModelFault
from mcp_tef.llm.writer import LitellmWriter
from mcp_tef.model.runs import ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, EmbedderChoice, EmbedderKind, PairAdvice, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Written
from mcp_tef.scoring.differentiation.patches import sound
from tests.support.fake_ports import FakeWriter
from tests.support.model_replies import words
from tests.support.model_stub import ModelStub, Step
from tests.support.similarity_factories import (
    BOOKING,
    COMMENT,
    GOOD,
    KEY,
    MODEL,
    PAGE_COMMENT,
    TOOLS,
    WEATHER,
    Advisor,
    HashedWords,
    SlowWriter,
    answer,
    by_model,
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


async def test_a_model_writes_for_both_tools_and_the_drafts_stay_beside_it() -> None:
    written = Written(answer(), 100, 20, 0.001)
    advice = await Advisor(FakeWriter(lambda _task: written)).advice(model=MODEL)
    assert [each.tool_name for each in by_model(advice)] == ["confluence_add_comment", "jira_add_comment"]
    assert {each.author for each in by_model(advice)} == {"local/writer"}
    assert {each.revised for each in by_model(advice)} == {GOOD}
    assert by_model(advice)[0].rationale.startswith("It names the place.")
    assert changed(by_model(advice)[1], TOOLS)[0]["description"] == GOOD
    assert drafts(advice)
    assert advice.failure is None
    assert advice.tokens == 240
    assert advice.cost_usd == pytest.approx(0.002)


async def test_a_cost_that_is_not_known_is_none() -> None:
    advice = await Advisor(FakeWriter(lambda _task: Written(answer()))).advice(model=MODEL)
    assert (advice.tokens, advice.cost_usd) == (None, None)


async def test_a_models_text_that_does_not_help_is_shown_with_its_score_and_says_so() -> None:
    same = f"{PAGE_COMMENT.description} And to a Jira issue."
    advice = await Advisor(FakeWriter(lambda _task: answer(same))).advice(model=MODEL)
    worse = [each for each in by_model(advice) if (each.similarity_after or 0) >= advice.similarity]
    assert worse
    assert all(each.rationale.endswith("It does not make the two less alike.") for each in worse)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "it gave an empty answer."),
        ("I cannot help with that.", "it answered in words instead of a description"),
        (answer("None"), "it gave “None” as the description."),
        ('{"description": null, "rationale": "x"}', "it gave no text as the description."),
        (answer("x" * 2001), "it wrote 2,001 characters, more than 2,000."),
        (answer("Adds a\u200b comment."), "it put the invisible character \\u200b into the description."),
        (answer(PAGE_COMMENT.description), "it gave the"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_reported_in_one_sentence_and_never_applied(
    reply: str, said: str
) -> None:
    advice = await Advisor(FakeWriter(lambda _task: reply.replace("\\\\u", "\\u"))).advice(model=MODEL)
    assert advice.failure is not None
    assert advice.failure.code == "rewrite_unusable"
    assert advice.failure.message.startswith("local/writer wrote no usable description of confluence_add_comment: it ")
    assert said in advice.failure.message
    assert "\n" not in advice.failure.message
    assert drafts(advice)
    assert all(each.tool_name == "jira_add_comment" for each in by_model(advice))


async def test_a_wrong_key_is_tried_once_for_all_pairs_and_reported_for_each() -> None:
    error = ModelError(ModelFault.KEY_WRONG, "The key was not accepted.", hint="Check it.")
    writer = FakeWriter(lambda _task: error)
    advisor = Advisor(writer)
    similarity = await advisor.similarity((*TOOLS, told("jira_add_comments", "Add a comment to a Jira issue now.")))
    advices: list[PairAdvice] = []
    for pair in ((0, 1), (0, 4)):
        advices += await advisor.recommend.pairs(similarity, [pair], model=MODEL)
    both = await advisor.recommend.pairs(similarity, [(0, 1), (0, 4)], model=MODEL)
    assert {advice.failure.message for advice in (*advices, *both) if advice.failure} == {"The key was not accepted."}
    assert all(advice.failure and drafts(advice) and not by_model(advice) for advice in (*advices, *both))


async def test_a_passing_failure_is_tried_again_after_a_while() -> None:
    replies: Iterator[ModelError | str] = iter(
        [ModelError(ModelFault.RATE, "Too fast.", retry_after=7.0), answer(), answer()]
    )
    advisor = Advisor(FakeWriter(lambda _task: next(replies)))
    advice = await advisor.advice(model=MODEL)
    assert advice.failure is None
    assert advisor.slept == [7.0]


async def test_retries_end_and_the_failure_is_told() -> None:
    writer = FakeWriter(lambda _task: ModelError(ModelFault.PROVIDER, "It failed."))
    advisor = Advisor(writer)
    advice = await advisor.advice(model=MODEL)
    assert advice.failure is not None
    assert (len(writer.tasks), len(advisor.slept)) == (2, 1)


async def test_four_pairs_at_a_time_and_cancelling_stops_them_all() -> None:
    writer = SlowWriter(lambda _task: answer())
    writer.gate.clear()
    writer.wanted = 4
    advisor = Advisor(writer)
    tools = [told(f"add_note_{letter}", f"Add a note to page {letter * 3}.") for letter in "abcdefg"]
    similarity = await advisor.similarity(tools)
    heard: list[PairAdvice] = []
    pairs = [(0, place) for place in range(1, 7)]
    job = asyncio.create_task(advisor.recommend.pairs(similarity, pairs, model=MODEL, heard=heard.append))
    await writer.reached.wait()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert (writer.most_under_way, writer.under_way, len(writer.tasks), heard) == (4, 0, 4, [])


async def test_each_call_goes_with_the_key_that_was_given() -> None:
    writer = FakeWriter(lambda _task: answer())
    advisor, key = Advisor(writer), Secret("given")
    settings_ = replace(MODEL, provider="cloud")
    await advisor.recommend.pairs(await advisor.similarity(), [(0, 1)], model=settings_, keys={"cloud": key})
    assert {task.key for task in writer.tasks} == {key}


async def test_a_missing_key_and_the_baseline_are_refused_before_anything_is_asked() -> None:
    writer = FakeWriter(lambda _task: answer())
    advisor = Advisor(writer)
    similarity = await advisor.similarity()
    with pytest.raises(ModelError, match="There is no key for cloud"):
        await advisor.recommend.pairs(similarity, [(0, 1)], model=replace(MODEL, provider="cloud"))
    with pytest.raises(InputError, match="baseline cannot write"):
        await advisor.recommend.pairs(similarity, [(0, 1)], model=ModelSettings())
    assert not writer.tasks


async def test_the_estimate_counts_a_request_a_tool_and_only_for_pairs_that_have_an_issue() -> None:
    info = ModelInfo(provider="local", model="writer", input_price=1e-6, output_price=2e-6)
    advisor = Advisor(known=info)
    similarity = await advisor.similarity()
    one = await advisor.recommend.estimate(similarity, [(0, 1)], MODEL)
    both = await advisor.recommend.estimate(similarity, [(0, 1), (2, 3)], MODEL)
    assert one == both
    assert one.runs == 2
    assert one.tokens is not None
    assert one.cost_usd == pytest.approx((one.tokens - 600) * 1e-6 + 600 * 2e-6)


async def test_an_unknown_price_is_no_price_and_never_nothing() -> None:
    advisor = Advisor(half=ModelInfo(provider="local", model="writer", input_price=1e-6))
    assert (await advisor.recommend.estimate(await advisor.similarity(), [(0, 1)], MODEL)).cost_usd is None


async def test_copies_are_not_put_before_a_model() -> None:
    writer = FakeWriter(lambda _task: answer())
    one, other = told("search", "Find it.", server="a"), told("search", "Find it.", server="b")
    advice = await Advisor(writer).advice((one, other), MODEL)
    assert [each.action for each in advice.recommendations] == ["Offer only one of the two: `a/search` or `b/search`."]
    assert not writer.tasks


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("401", "did not accept the key"),
        ("text", "answered in words instead of a description"),
        ("empty", "gave an empty answer"),
        ("html", "is not the address of a model's API"),
        (words(answer("null")), "gave “null” as the description"),
    ],
)
async def test_over_the_wire_failures_of_a_model_are_told_and_the_drafts_stay(step: Step, said: str) -> None:
    writer = LitellmWriter()
    with ModelStub(lambda _request: step) as stub:
        settings_ = ModelSettings(provider="openai", model="gpt-test", base_url=stub.url)
        advisor = Advisor(writer)
        advisor.consents.add_typed_address("openai", stub.url)
        similarity = await advisor.similarity()
        (advice,) = await advisor.recommend.pairs(similarity, [(0, 1)], model=settings_, keys={"openai": Secret(KEY)})
    await writer.close()
    assert advice.failure is not None
    assert said in advice.failure.message
    assert KEY not in str(advice)
    assert drafts(advice)
    assert not by_model(advice)


async def test_over_the_wire_a_sound_answer_becomes_a_recommendation() -> None:
    writer = LitellmWriter()
    with ModelStub(lambda _request: words(answer())) as stub:
        settings_ = ModelSettings(provider="openai", model="gpt-test", base_url=stub.url)
        advice = await Advisor(writer).advice(model=settings_)
    await writer.close()
    assert [each.author for each in by_model(advice)] == ["openai/gpt-test"] * 2
    assert advice.tokens == 300
    assert "confluence_add_comment" in stub.requests[0].query
