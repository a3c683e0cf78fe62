"""Servers that nobody here wrote, over every transport."""

from pathlib import Path

import pytest

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.real_servers import everything_over, node_server, python_server

AMPLE = 60.0
PATIENT = pytest.mark.timeout(900)


async def over_stdio(lister: McpToolLister, *argv: str, env: dict[str, str] | None = None) -> Listing:
    spec = ServerSpec(name="Real", transport=Transport.STDIO, command=argv[0], args=argv[1:], env=env or {})
    return await lister.list_tools(spec, timeout=AMPLE)


def check(listing: Listing, *names: str) -> None:
    assert set(names) <= {tool.name for tool in listing.tools}
    assert listing.problems == ()
    assert listing.protocol is not None
    assert listing.latency_ms > 0
    assert all(tool.description and tool.raw["name"] == tool.name for tool in listing.tools)


@PATIENT
async def test_the_time_server_lists_its_tools(lister: McpToolLister) -> None:
    check(await over_stdio(lister, python_server("mcp-server-time")), "get_current_time", "convert_time")


@PATIENT
async def test_the_git_server_lists_its_tools(lister: McpToolLister) -> None:
    check(await over_stdio(lister, python_server("mcp-server-git")), "git_status", "git_log", "git_commit")


@PATIENT
async def test_the_everything_server_lists_its_tools_over_stdio(lister: McpToolLister) -> None:
    check(await over_stdio(lister, *node_server("server-everything"), "stdio"), "echo", "get-sum")


@PATIENT
@pytest.mark.parametrize(
    ("kind", "path", "transport"),
    [("sse", "/sse", Transport.SSE), ("streamableHttp", "/mcp", Transport.STREAMABLE_HTTP)],
)
async def test_the_everything_server_lists_its_tools_over_http(
    lister: McpToolLister, kind: str, path: str, transport: Transport
) -> None:
    with everything_over(kind) as port:
        spec = ServerSpec(name="Everything", transport=transport, url=f"http://127.0.0.1:{port}{path}")
        check(await lister.list_tools(spec, timeout=AMPLE), "echo", "get-sum")
        await lister.close()


@PATIENT
@pytest.mark.parametrize(
    ("kind", "path", "transport", "other"),
    [("sse", "/sse", Transport.STREAMABLE_HTTP, "sse"), ("streamableHttp", "/mcp", Transport.SSE, "streamable-http")],
)
async def test_the_wrong_transport_gets_a_hint_at_the_other(
    lister: McpToolLister, kind: str, path: str, transport: Transport, other: str
) -> None:
    with everything_over(kind) as port:
        spec = ServerSpec(name="Everything", transport=transport, url=f"http://127.0.0.1:{port}{path}")
        with pytest.raises(ServerError) as caught:
            await lister.list_tools(spec, timeout=AMPLE)
        await lister.close()
    assert f"try {other}" in caught.value.hint


@PATIENT
async def test_the_filesystem_server_lists_its_tools(lister: McpToolLister, tmp_path: Path) -> None:
    check(await over_stdio(lister, *node_server("server-filesystem"), str(tmp_path)), "write_file", "list_directory")


@PATIENT
async def test_the_memory_server_lists_its_tools(lister: McpToolLister, tmp_path: Path) -> None:
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    check(await over_stdio(lister, *node_server("server-memory"), env=env), "create_entities", "search_nodes")
