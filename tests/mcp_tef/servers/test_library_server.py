"""The library served over MCP: what clients list and call, the token, and notices of changes."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ServerNotification, ToolListChangedNotification

from mcp_tef import Engine, ServerSpec, ToolStatus, Transport
from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import AuthType
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.agent_client import serving_ended
from tests.support.library_designs import answering

TOKEN = {"LIBRARY_TOKEN": "a-token-for-this-test-0123456789"}
SECONDS = 30.0


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine whose library has a draft, an active and a deprecated tool."""
    async with await Engine.open(tmp_path / "workspace.db", environment=os.environ) as opened:
        for name, statuses in (("drafted", ()), ("weather", ("active",)), ("old_weather", ("active", "deprecated"))):
            await opened.library.add(answering(name))
            for status in statuses:
                await opened.library.set_status(name, ToolStatus(status))
        yield opened


@pytest.fixture
async def spec(engine: Engine) -> AsyncIterator[ServerSpec]:
    """The library as it is served over HTTP."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(engine.serve_library(address.set_result, http=(0, TOKEN["LIBRARY_TOKEN"])))
    yield ServerSpec(
        name="served",
        transport=Transport.STREAMABLE_HTTP,
        url=await address,
        auth_type=AuthType.BEARER,
        secret="${LIBRARY_TOKEN}",
    )
    await serving_ended(serving)


async def listed(spec: ServerSpec, environment: Mapping[str, str] = TOKEN) -> dict[str, str]:
    """Return the tools that a client lists."""
    lister = McpToolLister({**os.environ, **environment})
    try:
        return {tool.name: tool.description for tool in (await lister.list_tools(spec, timeout=SECONDS)).tools}
    finally:
        await lister.close()


async def test_active_and_deprecated_tools_are_listed_and_called(engine: Engine, spec: ServerSpec) -> None:
    found = await listed(spec)
    assert list(found) == ["old_weather", "weather"]
    assert found["old_weather"].startswith("Deprecated")
    caller = McpToolCaller({**os.environ, **TOKEN})
    good = await caller.call_tool(spec, "weather", {"city": "Rome"}, timeout=SECONDS)
    assert (good.text, good.is_error) == ("It rains in Rome.", False)
    bad = await caller.call_tool(spec, "weather", {"city": 5}, timeout=SECONDS)
    assert bad.is_error
    assert "do not fit weather" in bad.text
    for name in ("drafted", "nothing"):
        with pytest.raises(ServerError, match="no tool named"):
            await caller.call_tool(spec, name, {"city": "Rome"}, timeout=SECONDS)
    await caller.close()
    (kept,) = await engine.library_runs.history("weather")
    assert kept.caller_id == "mcp-tef-desktop"


async def test_nobody_is_served_without_the_token(spec: ServerSpec) -> None:
    for other in (replace(spec, auth_type=AuthType.NONE, secret=None), spec):
        with pytest.raises(ServerError) as refused:
            await listed(other, {"LIBRARY_TOKEN": "another"})
        assert refused.value.fault is ServerFault.UNAUTHORIZED


async def test_clients_are_told_when_the_list_changes(engine: Engine, spec: ServerSpec) -> None:
    told = asyncio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, ServerNotification | ToolListChangedNotification):
            told.set()

    headers = {"Authorization": f"Bearer {TOKEN['LIBRARY_TOKEN']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS) as client,
        streamable_http_client(spec.url or "", http_client=client) as streams,
        ClientSession(*streams, message_handler=hear) as session,
    ):
        greeted = await session.initialize()
        assert greeted.capabilities.tools is not None
        assert greeted.capabilities.tools.list_changed
        assert len((await session.list_tools()).tools) == 2
        await engine.library.set_status("weather", ToolStatus.DISABLED)
        async with asyncio.timeout(SECONDS):
            await told.wait()
        assert [tool.name for tool in (await session.list_tools()).tools] == ["old_weather"]
