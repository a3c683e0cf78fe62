"""The tool lister as a whole, with fault servers and with real servers over every transport."""

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.limits import Limits
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.faults.fault_script import tool
from tests.support.faults.stdio_faults import command
from tests.support.processes import children
from tests.support.real_servers import everything_over, everything_server

AMPLE = 60.0


def spec(fault: str, name: str = "Bench") -> ServerSpec:
    program, *args = command(fault)
    return ServerSpec(name=name, transport=Transport.STDIO, command=program, args=tuple(args))


async def started(before: frozenset[int]) -> None:
    """Wait until a program runs that did not run before."""
    deadline = asyncio.get_running_loop().time() + AMPLE
    while children() <= before:
        assert asyncio.get_running_loop().time() < deadline, "no program was started"
        await asyncio.sleep(0.005)


@pytest.fixture
async def warm(lister: McpToolLister) -> McpToolLister:
    """A lister that has imported its library."""
    await lister.list_tools(spec("none"), timeout=AMPLE)
    return lister


async def test_a_silent_server_stalls_no_other(warm: McpToolLister) -> None:
    silent = asyncio.create_task(warm.list_tools(spec("silent", "Silent"), timeout=2 * AMPLE))
    found = await asyncio.gather(*(warm.list_tools(spec("none", f"S{n}"), timeout=AMPLE) for n in range(6)))
    assert not silent.done()
    assert [listing.server for listing in found] == [f"S{n}" for n in range(6)]
    silent.cancel()
    await asyncio.wait({silent})
    assert silent.cancelled()


async def test_cancelling_a_listing_leaves_no_program(warm: McpToolLister) -> None:
    before = children()
    listing = asyncio.create_task(warm.list_tools(spec("silent-list"), timeout=2 * AMPLE))
    async with asyncio.timeout(AMPLE):
        await started(before)
        listing.cancel()
        await asyncio.wait({listing})
        await warm.close()
    assert listing.cancelled()
    assert children() <= before


async def test_closing_ends_what_is_still_waited_for(warm: McpToolLister) -> None:
    before = children()
    listing = asyncio.create_task(warm.list_tools(spec("silent"), timeout=2 * AMPLE))
    async with asyncio.timeout(AMPLE):
        await started(before)
        await warm.close()
        with pytest.raises(ServerError) as caught:
            await listing
    assert caught.value.message == "Bench was disconnected before it answered."


def test_a_loop_outside_the_main_thread_will_do() -> None:
    found: list[int] = []

    async def listing() -> None:
        lister = McpToolLister()
        found.append(len((await lister.list_tools(spec("none"), timeout=AMPLE)).tools))
        await lister.close()

    thread = threading.Thread(target=lambda: asyncio.run(listing()))
    thread.start()
    thread.join()
    assert found == [2]


async def test_a_tools_file_needs_no_server(lister: McpToolLister, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text('[{"name": "one", "inputSchema": {"type": "object"}}]')
    found = await lister.list_tools(ServerSpec(name="Saved", transport=Transport.FILE, path=str(file)), timeout=5)
    assert [(tool.server, tool.name) for tool in found.tools] == [("Saved", "one")]


@pytest.mark.parametrize(
    ("limits", "fault", "words"),
    [
        (Limits(pages=2), "pages", "it goes on after 2 pages"),
        (Limits(tools=1), "pages", "it goes on after 1 tools"),
        (Limits(depth=2), "bad-tools", "It nests more than 2 levels deep"),
        (Limits(definition_values=5), "bad-tools", "It holds more than 5 values"),
        (Limits(definition_bytes=50), "none", "more than 50"),
        (Limits(name_characters=4), "none", "more than 4"),
        (Limits(values=50), "bad-tools", "sent more than is read"),
        (Limits(message_bytes=500), "bad-tools", "sent more than is read"),
        (Limits(answer_bytes=500), "pages", "sent more than is read"),
        (Limits(messages=2), "pages", "sent more than is read"),
        (Limits(junk_lines=1), "junk-first", "such as “Welcome to the fault server!”"),
        (Limits(discover_seconds=0.1), "ignores-discover", "refused the greeting: Method not found"),
    ],
)
async def test_a_limit_can_be_set(limits: Limits, fault: str, words: str) -> None:
    lister = McpToolLister({}, limits)
    try:
        told = " ".join(problem.reason for problem in (await lister.list_tools(spec(fault), timeout=AMPLE)).problems)
    except ServerError as error:
        told = error.message
    finally:
        await lister.close()
    assert words in told


async def test_a_tools_file_is_held_to_limits_as_well(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([tool(f"tool{number}") for number in range(5)]))
    asked = ServerSpec(name="Saved", transport=Transport.FILE, path=str(file))
    found = await McpToolLister({}, Limits(tools=3)).list_tools(asked, timeout=AMPLE)
    assert [problem.reason for problem in found.problems] == ["Only the first 3 of 5 tools were read."]


async def test_a_file_of_small_values_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{}] * 100))
    lister = McpToolLister({}, Limits(file_values=100))
    with pytest.raises(ServerError, match="holds more than 100 values"):
        await lister.list_tools(ServerSpec(name="Saved", transport=Transport.FILE, path=str(file)), timeout=AMPLE)


async def test_a_tools_file_that_is_missing_is_a_server_error(lister: McpToolLister, tmp_path: Path) -> None:
    asked = ServerSpec(name="Saved", transport=Transport.FILE, path=str(tmp_path / "none.json"))
    with pytest.raises(ServerError) as caught:
        await lister.list_tools(asked, timeout=5)
    assert caught.value.fault is ServerFault.TOOLS_FILE


PATIENT = pytest.mark.timeout(900)


def check(listing: Listing, *names: str) -> None:
    assert set(names) <= {tool.name for tool in listing.tools}
    assert listing.problems == ()
    assert listing.protocol is not None
    assert listing.latency_ms > 0
    assert all(tool.description and tool.raw["name"] == tool.name for tool in listing.tools)


@PATIENT
async def test_the_everything_server_lists_its_tools_over_stdio(lister: McpToolLister) -> None:
    program, *args = everything_server("stdio")
    spec = ServerSpec(name="Everything", transport=Transport.STDIO, command=program, args=tuple(args))
    check(await lister.list_tools(spec, timeout=AMPLE), "echo", "get-sum")


@PATIENT
@pytest.mark.parametrize(
    ("kind", "path", "transport", "other"),
    [
        ("sse", "/sse", Transport.SSE, Transport.STREAMABLE_HTTP),
        ("streamableHttp", "/mcp", Transport.STREAMABLE_HTTP, Transport.SSE),
    ],
)
async def test_the_everything_server_lists_its_tools_over_http_and_the_wrong_transport_gets_a_hint(
    lister: McpToolLister, kind: str, path: str, transport: Transport, other: Transport
) -> None:
    with everything_over(kind) as port:
        spec = ServerSpec(name="Everything", transport=transport, url=f"http://127.0.0.1:{port}{path}")
        check(await lister.list_tools(spec, timeout=AMPLE), "echo", "get-sum")
        with pytest.raises(ServerError) as caught:
            await lister.list_tools(replace(spec, transport=other), timeout=AMPLE)
        await lister.close()
    assert f"try {transport.value}" in caught.value.hint
