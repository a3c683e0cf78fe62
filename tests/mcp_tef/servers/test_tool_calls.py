"""Calling a tool of a real program: what comes back, what is kept of it, and that it ends."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.limits import USUAL
from mcp_tef.model.secrets import MASK
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.calling_server import BIG, command
from tests.support.processes import children

PROGRAM, *ARGS = command()
SPEC = ServerSpec(
    name="desk", transport=Transport.STDIO, command=PROGRAM, args=tuple(ARGS), env={"CITY_PASS": "${CITY_PASS}"}
)
KEY = "river-horse-9000"


@pytest.fixture
async def caller() -> AsyncIterator[McpToolCaller]:
    before = children()
    made = McpToolCaller({"CITY_PASS": KEY})
    yield made
    await made.close()
    assert children() <= before


async def called(caller: McpToolCaller, tool: str, seconds: float = 30, **arguments: object) -> ToolReply:
    """What the tool answers."""
    return await caller.call_tool(SPEC, tool, arguments, timeout=seconds)


async def failed(caller: McpToolCaller, tool: str, seconds: float = 30) -> ServerError:
    """The error that there must be."""
    with pytest.raises(ServerError) as caught:
        await called(caller, tool, seconds)
    return caught.value


async def test_arguments_arrive_as_they_are_given_nothing_included(caller: McpToolCaller) -> None:
    given: dict[str, Any] = {"a": None, "b": [1, 2.5, {"c": None}], "d": "grün \u202e", "e": False}
    reply = await called(caller, "echo", **given)
    assert (reply.structured, reply.text, reply.is_error, reply.cut) == (given, "heard", False, False)
    assert reply.execution_time_ms < 10_000


async def test_an_error_of_the_tool_is_a_reply_and_one_of_the_protocol_is_not(caller: McpToolCaller) -> None:
    reply = await called(caller, "broken")
    assert (reply.is_error, reply.text) == (True, "No such part.")
    error = await failed(caller, "refuses")
    assert error.fault is ServerFault.PROTOCOL
    assert error.message == f"desk refused the call: Not like that, {MASK}."


async def test_no_key_comes_back(caller: McpToolCaller) -> None:
    reply = await called(caller, "secret")
    assert (reply.text, reply.structured) == (MASK, {"token": MASK})


async def test_a_huge_reply_is_cut_and_says_so(caller: McpToolCaller) -> None:
    reply = await called(caller, "big")
    assert reply.cut
    assert BIG > USUAL.reply_characters >= len(reply.text) > USUAL.reply_characters // 2


async def test_blocks_that_nobody_knows_are_kept_as_they_are(caller: McpToolCaller) -> None:
    reply = await called(caller, "odd")
    assert [block["type"] if isinstance(block, dict) else block for block in reply.content] == ["resource", "new", 5]
    assert reply.structured == {"n": 1}


async def test_a_silent_tool_ends_with_the_time_and_a_word_of_doubt(caller: McpToolCaller) -> None:
    error = await failed(caller, "silent", seconds=2)
    assert error.message == "desk did not answer the call within 2 s."
    assert error.hint == "It may have done what was asked all the same."


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("unfit", "desk answered the call in a way that MCP does not allow: it holds no list of content."),
        ("asks", "desk asked for more input before it would answer the call, which cannot be given here."),
    ],
)
async def test_an_answer_that_is_none_says_what_is_wrong_with_it(caller: McpToolCaller, tool: str, words: str) -> None:
    assert (await failed(caller, tool)).message == words


def test_the_gateway_that_runs_are_given_cannot_call_a_tool() -> None:
    assert not hasattr(McpToolLister(), "call_tool")
