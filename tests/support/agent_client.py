"""A coding agent: the SDK's client, connected to the MCP server for agents over HTTP."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from mcp import ClientSession
from mcp.client.context import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from mcp_tef import (
    CallBudget,
    CaseDraft,
    Engine,
    Expectation,
    ExpectedCall,
    ModelSettings,
    ServerSpec,
    Transport,
    WorkspaceOperations,
    answer_tokens,
    serve_agents,
    tool_definitions,
)
from tests.support.workspace_files import tools_file

TOKEN = "a-token-for-this-test-0123456789"
SECONDS = 60.0
SCHEMAS = {raw["name"]: Draft202012Validator(raw["outputSchema"]) for raw in tool_definitions()}


@dataclass
class Agent:
    """The client, and what it was asked by elicitation."""

    session: ClientSession
    address: str
    asked: list[str] = field(default_factory=list)

    async def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool; its answer has to fit its output schema and be short."""
        reply = await self.reply(name, arguments)
        assert not reply.is_error, reply.content
        answer: dict[str, Any] = reply.structured_content
        SCHEMAS[name].validate(answer)
        assert answer_tokens(answer) <= 2_000
        return answer

    async def refusal(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that refuses, and return the text of its error."""
        reply = await self.reply(name, arguments)
        assert reply.is_error
        return str(getattr(reply.content[0], "text", ""))

    async def reply(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Call a tool."""
        reply = await self.session.call_tool(name, dict(arguments))
        assert isinstance(reply, CallToolResult)
        return reply


async def serving_ended(serving: asyncio.Task[None]) -> None:
    """Stop serving MCP over HTTP; sse_starlette leaves a task behind that polls for the end of the process."""
    watchers = [task for task in asyncio.all_tasks() if "_shutdown_watcher" in repr(task)]
    for task in (serving, *watchers):
        task.cancel()
    await asyncio.gather(serving, *watchers, return_exceptions=True)


@asynccontextmanager
async def agent_of(
    engine: Engine,
    settings: ModelSettings | None = None,
    budget: CallBudget | None = None,
    *,
    agrees: Callable[[str], bool] | None = None,
) -> AsyncIterator[Agent]:
    """Serve a workspace, and connect an agent; with `agrees` its client can ask the user."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    operations = WorkspaceOperations(engine, settings or ModelSettings(), budget or CallBudget())
    serving = asyncio.create_task(serve_agents(operations, address.set_result, (0, TOKEN)))
    asked: list[str] = []

    async def elicit(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        assert agrees is not None
        agreed = agrees(params.message)
        return ElicitResult(action="accept" if agreed else "decline", content={"agree": True} if agreed else None)

    headers = {"Authorization": f"Bearer {TOKEN}"}
    try:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=SECONDS) as client,
            streamable_http_client(url := await address, http_client=client) as streams,
            ClientSession(*streams, elicitation_callback=elicit if agrees else None) as session,
        ):
            await session.initialize()
            yield Agent(session, url, asked)
    finally:
        await serving_ended(serving)


@asynccontextmanager
async def opened_workspace(folder: Path, queries: Sequence[str] = ("Weather in Rome?",)) -> AsyncIterator[Engine]:
    """A workspace with the server `city` over a tools file, and a case for each query."""
    async with await Engine.open(folder / "agents.db", environment=os.environ) as engine:
        server = await engine.servers.add(
            ServerSpec(name="city", transport=Transport.FILE, path=str(tools_file(folder)))
        )
        await engine.servers.check(server.id)
        expected = Expectation(((ExpectedCall(tool="weather_report", server="city"),),))
        await engine.cases.add(
            [
                CaseDraft(name=f"case {number}", query=query, expectation=expected, servers=("city",))
                for number, query in enumerate(queries)
            ]
        )
        yield engine
