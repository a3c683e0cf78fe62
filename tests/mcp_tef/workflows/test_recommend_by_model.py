"""A model's words for a pair or why there are none, and what they would cost."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.llm.writer import LitellmWriter
from mcp_tef.model.runs import ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import PairAdvice
from mcp_tef.ports import Written
from tests.support.fake_ports import FakeWriter
from tests.support.model_replies import words
from tests.support.model_stub import ModelStub, Step
from tests.support.similarity_factories import (
    GOOD,
    KEY,
    MODEL,
    PAGE_COMMENT,
    TOOLS,
    Advisor,
    SlowWriter,
    answer,
    by_model,
    changed,
    drafts,
    told,
)


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
