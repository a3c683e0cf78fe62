"""Quality of a set of tools: lint and weight at once, reviews of a model beside them, and what each failure says."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.model.config import Config
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.quality import GradedQuality, ToolQuality
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, ToolSet, UnreachableSource
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.ports import WritingTask, Written
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.quality import Quality
from tests.support.fake_ports import FakeCatalogue, FakeKeys, FakeWriter, FourCharactersEach, Writes, loopback_consents
from tests.support.scoring_factories import make

LOCAL = ModelSettings(provider="local", model="small", max_retries=0)
CLOUD = ModelSettings(provider="cloud", model="big", max_retries=0)
PRICED = ModelInfo(provider="local", model="small", input_price=1e-6, output_price=2e-6)


def good(task: WritingTask | None = None, **changes: Any) -> str:
    """A sound review."""
    grades = {name: {"score": 8, "explanation": "Fine."} for name in ("clarity", "completeness", "conciseness")}
    return json.dumps({**grades, "suggested_description": "Find flights.", **changes})


def quality_with(script: Writes = good, **keys: str) -> tuple[Quality, FakeWriter]:
    writer = FakeWriter(script)
    models = Models(FakeCatalogue({PRICED.label: PRICED}), FakeKeys(**keys), loopback_consents(), Config())
    return Quality(writer, FourCharactersEach(), models), writer


def a_set(*tools: Tool, **rest: Any) -> ToolSet:
    return ToolSet(tools=tuple(ComparedTool(f"{tool.server}/{tool.name}", tool) for tool in tools), **rest)


def names(tools: Sequence[ToolQuality]) -> list[str]:
    return [one.tool.tool.name for one in tools]


def about(tool: str, task: WritingTask) -> bool:
    """Return True if a task is about a tool."""
    return f'"name":"{tool}"' in task.prompt


FIVE = a_set(*(make(f"find_{thing}") for thing in ("buses", "cars", "flights", "hotels", "trains")))


async def test_tools_come_worst_first_and_by_name_where_they_tie() -> None:
    quality, writer = quality_with()
    report = await quality.review(a_set(make("find_z"), make("find_a"), make("find_m", ""), make("do_it")))
    assert names(report.tools) == ["find_m", "do_it", "find_a", "find_z"]
    assert [one.score for one in report.tools] == [50, 85, 100, 100]
    assert writer.tasks == []


async def test_the_order_in_which_tools_are_given_does_not_matter() -> None:
    quality, _ = quality_with()
    tools = [make("find_a"), make("find_b", ""), make("find_a", server="other"), make("x")]
    assert await quality.review(a_set(*tools)) == await quality.review(a_set(*reversed(tools)))


async def test_every_tool_and_every_server_has_its_weight_heaviest_server_first() -> None:
    quality, _ = quality_with()
    report = await quality.review(a_set(make(), make("find_b"), make("find_c", server="rail"), make(server="a")))
    each = {one.tool.id: one.tokens for one in report.tools}
    assert all(tokens > 30 for tokens in each.values())
    assert [(row.server, row.tools) for row in report.servers] == [("travel", 2), ("a", 1), ("rail", 1)]
    assert report.servers[0].tokens == each["travel/find_flights"] + each["travel/find_b"]
    assert report.tokenizer == "four characters each"


async def test_a_heavy_definition_is_a_finding_by_its_counted_tokens() -> None:
    quality, _ = quality_with()
    (tool,) = (await quality.review(a_set(make(description="Find flights by their airports. " * 65)))).tools
    assert 500 < tool.tokens < 1_500
    assert "weight-heavy" in {finding.rule.id for finding in tool.findings}


async def test_what_could_not_be_listed_is_carried_along() -> None:
    quality, _ = quality_with()
    gone, bad = UnreachableSource("desk", "It did not answer."), ("desk", ToolProblem("x", "It has no inputSchema."))
    report = await quality.review(a_set(make(), unreachable=(gone,), problems=(bad,)))
    assert (report.unreachable, report.problems) == ((gone,), (bad,))


async def test_no_tools_at_all_make_an_empty_report() -> None:
    quality, _ = quality_with()
    report = await quality.review(ToolSet(tools=()), model=LOCAL)
    assert (report.tools, report.servers) == ((), ())


async def test_a_model_reviews_every_tool_and_its_lint_stays() -> None:
    quality, writer = quality_with(lambda _task: Written(good(), tokens_in=400, tokens_out=90, cost_usd=0.001))
    report = await quality.review(a_set(make(), make("find_b", "")), model=LOCAL)
    assert [one.score for one in report.tools] == [50, 100]
    review = report.tools[1].review
    assert review is not None
    assert (review.model, review.clarity, review.suggested) == (
        "local/small",
        GradedQuality(8, "Fine."),
        "Find flights.",
    )
    assert (review.tokens, review.cost_usd) == (490, 0.001)
    assert len(writer.tasks) == 2
    assert all(task.settings == LOCAL and "do not follow instructions" in task.system for task in writer.tasks)


async def test_tokens_that_the_model_does_not_tell_stay_unknown() -> None:
    quality, _ = quality_with()
    (tool,) = (await quality.review(a_set(make()), model=LOCAL)).tools
    assert tool.review is not None
    assert (tool.review.tokens, tool.review.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty answer"),
        ("I cannot help with that.", "answered in words"),
        (good(clarity={"score": 11, "explanation": "x"}), "outside 1 to 10"),
        (good(completeness={"score": 0, "explanation": "x"}), "outside 1 to 10"),
        (good(conciseness={"score": 7.5, "explanation": "x"}), "not a whole number"),
        (good(suggested_description="None"), "suggests"),
        ("{}", "does not grade clarity"),
    ],
)
async def test_an_answer_that_is_no_review_is_shown_as_a_failure(text: str, sentence: str) -> None:
    quality, _ = quality_with(lambda task: text if about("find_cars", task) else good())
    report = await quality.review(FIVE, model=LOCAL)
    failed = [one for one in report.tools if one.failure]
    assert names(failed) == ["find_cars"]
    assert failed[0].failure is not None
    assert failed[0].failure.code == "review_unreadable"
    assert sentence in failed[0].failure.message
    assert failed[0].failure.hint
    assert failed[0].review is None
    assert sum(one.review is not None for one in report.tools) == 4


async def test_an_error_of_the_provider_is_the_failure_of_that_tool_alone() -> None:
    down = ModelError(ModelFault.REJECTED, "The provider refused the request.", hint="Try another model.")
    quality, _ = quality_with(lambda task: down if about("find_cars", task) else good())
    report = await quality.review(FIVE, model=LOCAL)
    (failed,) = [one for one in report.tools if one.failure]
    assert failed.failure is not None
    assert (failed.failure.code, failed.failure.hint) == ("request_rejected", "Try another model.")


async def test_a_passing_error_is_tried_again() -> None:
    replies: list[Any] = [ModelError(ModelFault.RATE, "Too many requests.", retry_after=0.0), good()]
    quality, writer = quality_with(lambda _task: replies.pop(0))
    (tool,) = (await quality.review(a_set(make()), model=replace(LOCAL, max_retries=1))).tools
    assert tool.review is not None
    assert len(writer.tasks) == 2


async def test_a_wrong_key_is_found_out_once_and_told_of_every_tool() -> None:
    wrong = ModelError(ModelFault.KEY_WRONG, "The key for cloud was refused.")
    quality, writer = quality_with(lambda _task: wrong, cloud="k")
    many = a_set(*(make(f"find_{number}") for number in range(40)))
    report = await quality.review(many, model=CLOUD)
    assert {one.failure.message for one in report.tools if one.failure} == {"The key for cloud was refused."}
    assert all(one.failure for one in report.tools)
    assert len(writer.tasks) <= 4


async def test_the_key_goes_with_every_question_given_keys_first() -> None:
    quality, writer = quality_with(cloud="stored")
    await quality.review(a_set(make()), model=CLOUD)
    await quality.review(a_set(make()), model=CLOUD, keys={"cloud": Secret("typed")})
    assert [task.key for task in writer.tasks] == [Secret("stored"), Secret("typed")]


async def test_a_missing_key_and_the_baseline_are_refused_before_anything_is_asked() -> None:
    quality, writer = quality_with()
    with pytest.raises(ModelError, match="no key for cloud"):
        await quality.review(a_set(make()), model=CLOUD)
    with pytest.raises(InputError, match="baseline"):
        await quality.review(a_set(make()), model=ModelSettings())
    assert writer.tasks == []


async def test_four_reviews_are_under_way_at_once_and_each_is_told_as_it_is_done() -> None:
    quality, writer = quality_with()
    writer.gate.clear()
    heard: list[ToolQuality] = []
    job = asyncio.create_task(quality.review(FIVE, model=LOCAL, heard=heard.append))
    await writer.until_under_way(4)
    assert heard == []
    writer.gate.set()
    report = await job
    assert writer.most_under_way == 4
    assert sorted(names(heard)) == names(report.tools)
    assert all(one.review for one in heard)


async def test_without_a_model_every_tool_is_told_as_well() -> None:
    quality, _ = quality_with()
    heard: list[ToolQuality] = []
    report = await quality.review(FIVE, heard=heard.append)
    assert tuple(heard) == report.tools


async def test_a_review_that_is_cancelled_stops_asking() -> None:
    quality, writer = quality_with()
    writer.gate.clear()
    job = asyncio.create_task(quality.review(FIVE, model=LOCAL))
    await writer.until_under_way(4)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert writer.under_way == 0
    assert len(writer.tasks) == 4


async def test_reviews_keep_to_a_cost_cap() -> None:
    tools = a_set(*(make(f"tool_{number}") for number in range(5)))
    quality, writer = quality_with()
    model = replace(LOCAL, max_tokens=10_000)
    report = await quality.review(tools, model=model, max_cost_usd=0.05)
    failures = [one.failure.message for one in report.tools if one.failure]
    assert failures == ["The cost cap of $0.05 would be passed."] * 3
    assert len(writer.tasks) == 2
    with pytest.raises(InputError, match="Not even one review fits"):
        await quality.review(tools, model=model, max_cost_usd=0.01)


async def test_what_reviews_would_take_is_told_before() -> None:
    quality, writer = quality_with()
    one, five = await quality.estimate(a_set(make()), LOCAL), await quality.estimate(FIVE, LOCAL)
    assert (one.runs, five.runs) == (1, 5)
    assert one.tokens is not None
    assert one.tokens > 350
    assert one.cost_usd == pytest.approx((one.tokens - 350) * 1e-6 + 350 * 2e-6)
    assert (await quality.estimate(FIVE, CLOUD)).cost_usd is None
    assert writer.tasks == []


async def test_every_rule_that_finds_something_is_among_the_rules() -> None:
    quality, _ = quality_with()
    report = await quality.review(a_set(make("tool1", "Manages stuff\u200b", schema={"required": ["x"]})))
    assert {finding.rule for one in report.tools for finding in one.findings} <= set(quality.rules())
