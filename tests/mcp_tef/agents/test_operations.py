"""The MCP server for coding agents: from lint to a tried change, its resources and prompt, cost, budget and pages."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_tef import BatchEnded, CallBudget, Event, ModelSettings, RunFilter
from mcp_tef.agents.untrusted import quoted
from tests.support.agent_client import Agent, agent_of, opened_workspace
from tests.support.command_line import say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel

ROOT = Path(__file__).parents[3]
TOOLS, SUITE = ROOT / "resources" / "agents" / "tools.json", ROOT / "resources" / "agents" / "suite.yaml"
RIGHT = tool_calls(("weather_report", {"city": "Rome"}))


def asking(stub: ModelStub) -> ModelSettings:
    """A model at a stand-in, with known prices."""
    return ModelSettings(
        provider="openai", model="gpt-x", base_url=stub.url, input_price=1.0, output_price=1.0, max_tokens=100
    )


async def test_an_agent_lints_adds_runs_explains_and_tries_without_cost(tmp_path: Path) -> None:
    async with opened_workspace(tmp_path, ["Weather in Rome?", "Rain tomorrow?"]) as engine, agent_of(engine) as agent:
        linted = await agent.call("lint_tools", server="city")
        assert {"weather_report"} <= {row["tool"].rpartition("/")[2] for row in linted["tools"]}
        assert "summary" in await agent.call("find_lookalikes")
        assert "recommendations" in await agent.call("recommend", server="city")
        added = await agent.call("add_case", query="Is it sunny?", server="city", tool="weather_report", suite="new")
        assert (await agent.call("list_cases", suite="new"))["cases"][0]["case"] == added["case"]["case"]
        ran = await agent.call("run_cases", repeats=2)
        assert ran["correct_tool"]["n"] == 6
        again = await agent.call("run_cases", batch=ran["batch"])
        assert unmarked({**again, "cost_usd": None}) == unmarked({**ran, "cost_usd": None})
        runs = await engine.runs.list(RunFilter())
        explained = await agent.call("explain_run", run=runs[0].id)
        assert explained["run"]["run"] == runs[0].id
        patch = [{"op": "replace", "path": "/tools/0/description", "value": quoted("Rain and sun.")}]
        tried = await agent.call("try_change", server="city", patch=patch)
        assert tried["verdict"] in {"better", "worse", "no_worthwhile_change", "cannot_tell_yet"}
        assert await engine.drafts.list() == ()
        crowd = await agent.call("crowd_test", sizes=[0, 10])
        assert [point["other_tools"] for point in crowd["points"]] == [0, 10]


def unmarked(answer: Any) -> str:
    """Return an answer without the random words of its markers."""
    return re.sub("untrusted-[0-9]{18}", "untrusted", json.dumps(answer))


async def test_resources_and_the_prompt_are_read(tmp_path: Path) -> None:
    async with opened_workspace(tmp_path) as engine, agent_of(engine) as agent:
        await agent.call("run_cases")
        resources = (await agent.session.list_resources()).resources
        texts = [(await agent.session.read_resource(one.uri)).contents[0] for one in resources]
        assert ["<untrusted-" in getattr(text, "text", "") for text in texts] == [True] * 3
        (prompt,) = (await agent.session.list_prompts()).prompts
        asked = await agent.session.get_prompt(prompt.name, {"tool": "city/weather_report"})
        assert "city/weather_report" in str(asked.messages[0].content)


async def test_the_cost_is_told_before_and_declined_or_accepted_by_the_user(tmp_path: Path) -> None:
    with ModelStub(lambda _: RIGHT) as stub:
        async with opened_workspace(tmp_path) as engine:
            settings = asking(stub)
            engine.consents.add_typed_address("openai", stub.url)
            async with agent_of(engine, settings) as agent:
                told = await agent.call("run_cases")
                assert told["estimate"]["calls"] == 1
                assert stub.requests == []
                done = await agent.call("run_cases", accept_cost=True)
                assert done["correct_call"]["value"] == 1
            async with agent_of(engine, settings, agrees=lambda _: False) as agent:
                assert "declined" in await agent.refusal("run_cases", accept_cost=True)
                assert "calls" in agent.asked[0]
            async with agent_of(engine, settings, agrees=lambda _: True) as agent:
                assert (await agent.call("run_cases"))["summary"].startswith("1 of 1")
    assert len(stub.requests) == 2


async def test_a_budget_binds_every_call_also_those_at_once(tmp_path: Path) -> None:
    patch = [{"op": "replace", "path": "/tools/0/description", "value": "Report the weather of a city today."}]
    with ModelStub(WordSensitiveModel(1)) as stub:
        async with opened_workspace(tmp_path, ["Weather in Rome?", "Rain in Oslo?"]) as engine:
            engine.consents.add_typed_address("openai", stub.url)
            budget = CallBudget(max_cost_usd=1.0, max_calls=7)
            async with agent_of(engine, asking(stub), budget) as agent:
                both = [agent.reply("run_cases", {"accept_cost": True, "repeats": 2}) for _ in range(2)]
                replies = await asyncio.gather(*both)
                assert sorted(bool(reply.is_error) for reply in replies) == [False, True]
                assert budget.calls_left == 3
                assert "3 are left" in await agent.refusal("run_cases", accept_cost=True, repeats=2)
                assert "left in the budget" in await agent.refusal(
                    "try_change", server="city", patch=patch, accept_cost=True
                )
                await agent.call("run_cases", accept_cost=True)
            assert budget.calls_left == 1
            poor = CallBudget(max_cost_usd=0.0000001)
            async with agent_of(engine, asking(stub), poor) as agent:
                assert "left in the budget" in await agent.refusal("run_cases", accept_cost=True)
    assert len(stub.requests) == 6


async def test_a_session_without_a_typed_budget_has_one(tmp_path: Path) -> None:
    with ModelStub(lambda _: RIGHT) as stub:
        async with opened_workspace(tmp_path) as engine:
            engine.consents.add_typed_address("openai", stub.url)
            budget = CallBudget.of_session()
            async with agent_of(engine, asking(stub), budget) as agent:
                assert "50 are left in the budget" in await agent.refusal("run_cases", accept_cost=True, repeats=60)
                await agent.call("run_cases", accept_cost=True)
            assert (budget.calls_left, budget.cost_left_usd) < (50, 0.5)
            typed = CallBudget.of_session(2.0, 500)
            assert (typed.calls_left, typed.cost_left_usd) == (500, 2.0)
    assert stub.requests


async def test_progress_is_told_and_a_cancelled_call_leaves_nothing_running(tmp_path: Path) -> None:
    told, ended = asyncio.Event(), asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.set()

    def note(event: Event) -> None:
        if isinstance(event, BatchEnded):
            ended.set()

    with ModelStub(lambda _: RIGHT, delay=0.2) as stub:
        async with opened_workspace(tmp_path) as engine:
            engine.subscribe(note)
            engine.consents.add_typed_address("openai", stub.url)
            async with agent_of(engine, asking(stub)) as agent, asyncio.timeout(60):
                asked: dict[str, Any] = {"accept_cost": True, "repeats": 100}
                calling = asyncio.create_task(agent.session.call_tool("run_cases", asked, progress_callback=hear))
                await told.wait()
                calling.cancel()
                await asyncio.gather(calling, return_exceptions=True)
                await ended.wait()
                (batch,) = await engine.runs.batches()
                assert batch.status.value == "cancelled"
    assert len(stub.requests) < 100


async def test_long_answers_come_in_pages_that_hold_every_item_once(tmp_path: Path) -> None:
    long = "x" * 900 + " 天気 ☂ "
    queries = [f"{long} {number}" for number in range(60)]
    async with opened_workspace(tmp_path, queries) as engine, agent_of(engine) as agent:
        found = await pages(agent, "list_cases")
        assert len(found) == len({row["case"] for row in found}) == 60
        lint = [{"name": f"tool {number} 天", "description": long * 5, "inputSchema": {}} for number in range(15)]
        assert len(await pages(agent, "lint_tools", tools=lint)) == 15
        assert "no page 1000" in await agent.refusal("list_cases", page=1000)


async def pages(agent: Agent, name: str, **arguments: Any) -> list[Any]:
    """Every item of a tool's answer, page by page."""
    first = await agent.call(name, **arguments)
    rest = [await agent.call(name, page=number, **arguments) for number in range(2, first["pages"] + 1)]
    (key,) = [key for key, value in first.items() if isinstance(value, list)]
    assert first["total"] == sum(len(one[key]) for one in (first, *rest))
    return [item for one in (first, *rest) for item in one[key]]


def test_its_own_texts_are_clean_and_its_own_suite_finds_every_tool() -> None:
    linted = say("quality", "--tools-file", TOOLS, "--fail-on", "warning", "--json")
    assert linted.code == 0
    severities = {one["severity"] for tool in linted.document["tools"] for one in tool["findings"]}
    assert severities <= {"note"}
    ran = say("run", "--tools-file", f"mcp-tef={TOOLS}", "--cases", SUITE, "--fail-under", "correct_tool=0.9", "--json")
    assert ran.code == 0, ran.err
    assert len(ran.document["runs"]) == 30


async def test_it_is_served_over_stdio(tmp_path: Path) -> None:
    args = ["-P", "-m", "mcp_tef", "mcp", "--workspace", str(tmp_path / "work.db"), "--max-calls", "5"]
    program = StdioServerParameters(command=sys.executable, args=args)
    async with stdio_client(program) as streams, ClientSession(*streams) as session:
        greeted = await session.initialize()
        assert "untrusted" in (greeted.instructions or "")
        assert len((await session.list_tools()).tools) == 9
        reply = await session.call_tool("lint_tools", {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]})
        assert reply.structured_content is not None
        assert reply.structured_content["tools"][0]["findings"]
