"""Recommendations for pairs, by rules and by a model."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.llm.client import LitellmWriter
from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import CaseEffect, ComparedTool, PairAdvice, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question, Written
from mcp_tef.scoring.differentiation.patches import joint_changes, sound
from tests.support.fake_ports import FakeSelector, FakeWriter
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


async def test_each_tool_of_a_pair_is_told_from_the_other_in_one_draft() -> None:
    made = drafts(await Advisor().advice())
    assert {each.tool_name for each in made} == {COMMENT.name, PAGE_COMMENT.name}
    for each, other in zip(made, reversed(made), strict=True):
        assert f"use `{other.tool_name}`" in each.revised
        assert other.tool_name in each.action


async def test_a_pair_without_a_draft_has_issues_but_no_recommendation() -> None:
    advice = await Advisor().advice((told("find_it", "Find rows."), told("find_them", "Find rows.")))
    assert advice.issues
    assert advice.recommendations == ()


async def test_a_tool_of_several_pairs_gets_one_draft_that_names_all_its_look_alikes() -> None:
    tools = [told(f"add_{word}_note", f"Add a note to a {word} page.") for word in ("wiki", "team", "home")]
    advisor = Advisor()
    advices = await advisor.recommend.pairs(await advisor.similarity(tools), [(0, 1), (0, 2)])
    (text,) = {each.revised for advice in advices for each in advice.recommendations if each.tool_name == tools[0].name}
    assert all(f"use `{other.name}`" in text for other in tools[1:])


def case(query: str, tool: str) -> CaseDraft:
    return CaseDraft(name=query, query=query, expectation=Expectation(((ExpectedCall(tool=tool),),)))


def first_that_says_it(question: Question) -> Answer:
    """A call of the first tool whose description has the words of the query."""
    said = [one.tool for one in question.tools if question.query in one.tool.description][:1]
    return Answer(calls=tuple(ActualCall(tool=tool.name, server=tool.server) for tool in said))


@pytest.mark.parametrize(("expected", "gain"), [(COMMENT.name, 1), (PAGE_COMMENT.name, -1)])
async def test_cases_show_what_the_baseline_does_with_a_draft_and_the_best_comes_first(
    expected: str, gain: int
) -> None:
    advisor = Advisor(baseline=FakeSelector(first_that_says_it))
    similarity = await advisor.similarity()
    (without,) = await advisor.recommend.pairs(similarity, [(0, 1)])
    assert {each.cases for each in without.recommendations} == {None}
    await advisor.store.cases.add([case("a Confluence page", expected), case("a city", WEATHER.name)])
    (advice,) = await advisor.recommend.pairs(similarity, [(0, 1)])
    made = {each.tool_name: each for each in advice.recommendations}
    changed_one, other = made[COMMENT.name], made[PAGE_COMMENT.name]
    assert changed_one.cases == CaseEffect(1, max(0, -gain), max(0, gain))
    assert other.cases is not None
    assert other.cases.gain == 0
    assert next(iter(made)) == (COMMENT.name if gain > 0 else PAGE_COMMENT.name)
    assert ("fewer cases" in changed_one.rationale) is (gain < 0)


async def test_every_draft_says_that_it_is_one_and_shows_both_texts() -> None:
    for each in drafts(await Advisor().advice()):
        assert each.author == "draft"
        assert each.before in (COMMENT.description, PAGE_COMMENT.description)
        assert each.override == {"toolsOverride": {each.tool_name: {"description": each.revised}}}


async def test_every_patch_applies_to_the_servers_own_document() -> None:
    elsewhere = told("jira_add_comment", "Add a comment.", server="other")
    patched = [each for each in (await Advisor().advice((*TOOLS, elsewhere))).recommendations if each.patch]
    assert patched
    for each in patched:
        after = changed(each.patch, TOOLS)
        assert all(map(sound, after))
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


pieces = [
    "Find",
    "the",
    "files",
    "in",
    "a",
    "folder.",
    "Get",
    "rows of the wiki.",
    "pages",
    "\n\n",
    "`x`",
    "(e.g.",
    "'ab')",
    "Jira",
    "“b”",
    '"q"',
    "ü",
    "\\",
]
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
    kept = [replace(each, patch=tuple(op["op"] for op in each.patch)) for each in advice.recommendations]
    return replace(advice, recommendations=tuple(kept), similarity=round(advice.similarity, 4))


async def _advised(tools: Sequence[ComparedTool]) -> tuple[PairAdvice, ...]:
    advisor = Advisor(embedder=HashedWords())
    similarity = await advisor.similarity_of(ToolSet(tools=tuple(tools)))
    pairs = [(a, b) for a in range(len(tools)) for b in range(a)]
    return await advisor.recommend.pairs(similarity, pairs)


@settings(max_examples=25)
@given(some_tools, st.randoms(use_true_random=False))
def test_the_patches_of_a_whole_selection_apply_together_in_any_order_of_the_tools(
    tools: list[Tool], chance: random.Random
) -> None:
    compared = list(tool_set(*tools).tools)
    advices = asyncio.run(_advised(compared))
    texts = {each.tool_name: each.revised for advice in advices for each in advice.recommendations}
    for patch, override in joint_changes(advices).values():
        after = changed(patch, tools)
        assert all(map(sound, after))
        assert {tool["name"]: tool["description"] for tool in after} == {
            tool.name: texts.get(tool.name, tool.description) for tool in tools
        }
        assert override == {"toolsOverride": {name: {"description": text} for name, text in texts.items()}}
    chance.shuffle(compared)
    again = {(advice.a, advice.b): without_places(advice) for advice in asyncio.run(_advised(compared))}
    assert again == {(advice.a, advice.b): without_places(advice) for advice in advices}


async def test_a_model_writes_for_both_tools_in_place_of_the_drafts() -> None:
    written = Written(answer(), 100, 20, 0.001)
    advice = await Advisor(FakeWriter(lambda _task: written)).advice(model=MODEL)
    assert [each.tool_name for each in by_model(advice)] == ["confluence_add_comment", "jira_add_comment"]
    assert {each.author for each in by_model(advice)} == {"local/writer"}
    assert {each.revised for each in by_model(advice)} == {GOOD}
    assert by_model(advice)[0].rationale.startswith("It names the place.")
    assert changed(by_model(advice)[1].patch, TOOLS)[0]["description"] == GOOD
    assert not drafts(advice)
    assert advice.failure is None
    assert advice.tokens == 240
    assert advice.cost_usd == pytest.approx(0.002)


async def test_a_cost_that_is_not_known_is_none() -> None:
    advice = await Advisor(FakeWriter(lambda _task: Written(answer()))).advice(model=MODEL)
    assert (advice.tokens, advice.cost_usd) == (None, None)


async def test_a_model_is_asked_once_for_a_tool_of_several_pairs_and_told_of_all_its_look_alikes() -> None:
    writer = FakeWriter(lambda _task: Written(answer(), 100, 20, 0.001))
    third = told("jira_add_comments", "Add a comment to a Jira issue now.")
    advisor = Advisor(writer)
    similarity, pairs = await advisor.similarity((*TOOLS, third)), [(0, 1), (0, 4)]
    advices = await advisor.recommend.pairs(similarity, pairs, model=MODEL)
    assert len(writer.tasks) == (await advisor.recommend.estimate(similarity, pairs, MODEL)).runs == 3
    assert sum(advice.cost_usd or 0 for advice in advices) == pytest.approx(0.003)
    (asked,) = [task.prompt for task in writer.tasks if f'"rewrite": {{"name": "{TOOLS[0].name}"' in task.prompt]
    assert all(name in asked for name in (TOOLS[1].name, third.name))


async def test_a_models_text_that_leaves_a_fact_out_is_refused_and_the_draft_stays() -> None:
    one = told("jira_add_comment", "Add a comment to a Jira issue. Comments above 32 KB are cut.")
    advice = await Advisor(FakeWriter(lambda _task: answer())).advice((one, PAGE_COMMENT), MODEL)
    assert advice.failure is not None
    assert "32" in advice.failure.message
    assert [each.tool_name for each in drafts(advice)] == [one.name]
    assert [each.tool_name for each in by_model(advice)] == [PAGE_COMMENT.name]


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
    assert all(advice.failure and not by_model(advice) for advice in (*advices, *both))
    assert drafts(both[0])


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
    assert (len(writer.tasks), len(advisor.slept)) == (4, 2)


async def test_four_pairs_at_a_time_and_cancelling_stops_them_all() -> None:
    writer = SlowWriter(lambda _task: answer())
    writer.gate.clear()
    writer.wanted = 4
    advisor = Advisor(writer)
    tools = [told(f"add_note_{letter}", f"Add a note to page {letter * 3}.") for letter in "abcdefghijkl"]
    similarity = await advisor.similarity(tools)
    heard: list[PairAdvice] = []
    pairs = [(place, place + 1) for place in range(0, 12, 2)]
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
    assert (len(advice.issues), advice.recommendations) == (1, ())
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
