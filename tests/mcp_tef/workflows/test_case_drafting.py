"""Drafting cases for the tools of a server: look-alikes, a model's requests, and what is refused of them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.errors import InputError, ModelError, ModelFault, NotFoundError
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.drafted_cases import DraftedCases, DraftKind
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.tools import Tool
from mcp_tef.ports import WritingTask, Written
from mcp_tef.workflows.case_drafting import CaseDrafting
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.similarity import SimilarityAnalyses
from tests.support.fake_ports import FakeCatalogue, FakeKeys, FakeWriter, loopback_consents
from tests.support.memory_store import MemoryStore
from tests.support.similarity_factories import KEY, MODEL, FakeEmbedders, told, tool_set

CANCEL = told("cancel_order", "Cancel an order.", order_id={"type": "string"})
REFUND = told("cancel_invoice", "Cancel an invoice.", invoice_id={"type": "string"})
WEATHER = told("get_weather", "Returns the weather in a city.", city={"type": "string"})


def drafting(writer: FakeWriter, *infos: ModelInfo) -> CaseDrafting:
    embedders = FakeEmbedders(TfidfEmbedder())
    similarity = SimilarityAnalyses(embedders, TfidfLexicon(), MemoryStore().metrics)
    catalogue = FakeCatalogue({info.label: info for info in infos})
    models = Models(catalogue, FakeKeys(known=KEY), loopback_consents(), Config())
    return CaseDrafting(similarity, lambda: writer, models, CurrentConfig(Config()))


def answer(**kinds: list[dict[str, Any]]) -> str:
    return json.dumps(kinds)


async def drafted(script: Any, *tools: Tool, **options: Any) -> DraftedCases:
    work = drafting(FakeWriter(script))
    return await work.draft(await work.plan(tool_set(*tools)), model=MODEL, **options)


async def test_without_a_model_every_tool_and_no_tool_get_drafts() -> None:
    work = drafting(FakeWriter(lambda _task: ""))
    found = await work.draft(await work.plan(tool_set(CANCEL, WEATHER)))
    assert {one.tool for one in found.drafts} == {"cancel_order", "get_weather", ""}
    assert sum(one.kind is DraftKind.NO_TOOL for one in found.drafts) == 10


async def test_tools_that_a_definition_says_too_little_of_are_left_out_with_the_reason() -> None:
    options = {"type": "object", "properties": {"options": {"type": "object"}}, "required": ["options"]}
    silent, typed = told("frob", "Frobnicates."), replace(told("save", "Save the page."), input_schema=options)
    work = drafting(FakeWriter(lambda _task: ""))
    found = await work.draft(await work.plan(tool_set(silent, typed, told("get_page", "Get a page."))))
    reasons = dict(found.left_out)
    assert reasons.keys() == {"frob", "save", "get_page"}
    for tool, part in (("frob", "description"), ("save", "requires"), ("get_page", "which")):
        assert part in reasons[tool]


async def test_an_edited_query_keeps_the_rules_and_expects_only_what_it_states() -> None:
    work = drafting(FakeWriter(lambda _task: ""))
    plan = await work.plan(tool_set(CANCEL, WEATHER))
    case = next(one for one in (await work.draft(plan)).drafts if one.tool == "cancel_order")
    number = str((case.draft.expectation.first_call.parameters or {})["order_id"])  # type: ignore[union-attr]
    kept, problem = plan.with_query(case, f"Undo my purchase {number}")
    assert (kept.draft.expectation, problem) == (case.draft.expectation, "")
    changed, problem = plan.with_query(case, "Undo my purchase")
    call = changed.draft.expectation.first_call
    assert (call and call.tool, call and call.parameters, problem) == ("cancel_order", None, "")
    assert "names the tool" in plan.with_query(case, "cancel_order, please")[1]


async def test_progress_is_heard_tool_by_tool() -> None:
    heard: list[float] = []
    await drafted(lambda _task: answer(direct=[]), WEATHER, CANCEL, progress=heard.append)
    assert heard == [0.5, 1.0]


async def test_only_the_named_tools_are_drafted_for_and_an_unknown_name_is_refused() -> None:
    work = drafting(FakeWriter(lambda _task: ""))
    plan = await work.plan(tool_set(CANCEL, WEATHER), tools=["get_weather"])
    assert {one.tool for one in (await work.draft(plan)).drafts} == {"get_weather", ""}
    with pytest.raises(NotFoundError, match="get_wether"):
        await work.plan(tool_set(CANCEL, WEATHER), tools=["get_wether"])


async def test_requests_of_a_model_keep_the_same_rules_and_expect_what_they_state() -> None:
    written = answer(
        direct=[
            {"query": "Will I need an umbrella in Oslo?", "parameters": {"city": "Oslo"}},
            {"query": "Do I need a coat?", "parameters": {"city": "Oslo"}},
            {"query": "Use get_weather for Oslo.", "parameters": {"city": "Oslo"}},
            {"query": "Will I need an umbrella in Oslo today?", "parameters": {"city": "Oslo"}},
            {"query": "How hot is it in Rome?", "parameters": {"city": 7}},
        ],
        near_misses=[{"query": "Is it wet at sea?", "parameters": {}, "other": "unknown"}],
    )
    found = await drafted(lambda _task: written, WEATHER)
    kept = {one.draft.query: one.draft.expectation.first_call for one in found.drafts if one.tool}
    assert [call and call.parameters for call in kept.values()] == [{"city": "Oslo"}, None]
    reasons = [one.reason for one in found.refused]
    assert len(reasons) == 4
    for reason, part in zip(reasons, ("names the tool", "nearly the same", "do not fit", "no look-alike"), strict=True):
        assert part in reason


async def test_look_alikes_are_part_of_the_prompt_and_of_the_near_misses() -> None:
    twin = told("cancel_orders", "Cancel an order.", order_id={"type": "string"})

    def write(task: WritingTask) -> str:
        near = [{"query": "Take back my purchase A7", "parameters": {"order_id": "A7"}, "other": "cancel_orders"}]
        return answer(near_misses=near if '"tool": {"name": "cancel_order",' in task.prompt else [])

    found = await drafted(write, CANCEL, twin)
    assert [(one.tool, one.other) for one in found.drafts if one.kind is DraftKind.NEAR_MISS] == [
        ("cancel_order", "cancel_orders")
    ]


async def test_an_unusable_answer_costs_one_tool_only_and_a_wrong_key_is_asked_once() -> None:
    found = await drafted(lambda task: "Sure!" if "get_weather" in task.prompt else answer(direct=[]), WEATHER, CANCEL)
    assert {tool for tool, _ in found.failures} == {"get_weather", "cancel_order"}
    writer = FakeWriter(lambda _task: ModelError(ModelFault.KEY_WRONG, "Wrong key.", hint="Set it."))
    work = drafting(writer)
    tools = [told(f"get_{name}", f"Returns the {name}.") for name in ("time", "tide", "news", "name", "mood", "menu")]
    failed = await work.draft(await work.plan(tool_set(*tools)), model=MODEL)
    assert len(failed.failures) == 6
    assert len(writer.tasks) <= 4


async def test_tokens_and_cost_are_summed_and_a_cap_that_allows_nothing_is_refused() -> None:
    text = answer(direct=[{"query": "Is it warm in Oslo?", "parameters": {}}])
    found = await drafted(lambda _task: Written(text, 100, 20, 0.5), WEATHER, CANCEL)
    assert (found.tokens, found.cost_usd) == (240, 1.0)
    info = ModelInfo(provider=MODEL.provider, model=MODEL.model, input_price=1.0, output_price=1.0)
    work = drafting(FakeWriter(lambda _task: text), info)
    plan = await work.plan(tool_set(WEATHER))
    estimate = await work.estimate(plan, MODEL)
    assert estimate.runs == 1
    assert (estimate.cost_usd or 0) > 0
    with pytest.raises(InputError, match="cap"):
        await work.draft(plan, model=MODEL, max_cost_usd=0.0001)
