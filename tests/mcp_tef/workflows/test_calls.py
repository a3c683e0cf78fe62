"""Calling a tool by hand: checked, agreed to, kept without keys, and nothing that an evaluation could do."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, NotFoundError, ServerError
from mcp_tef.events import Event, EventStream, ToolCallsChanged
from mcp_tef.model.config import Config
from mcp_tef.model.ids import ServerId
from mcp_tef.model.secrets import MASK, Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tool_calls import ToolCallStatus
from mcp_tef.ports import Store
from mcp_tef.storage.store import open_store
from mcp_tef.trust.consents import ConsentError
from mcp_tef.workflows.calls import ToolCalls
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.servers import Servers
from tests.support.fake_ports import FakeGateway, command_server, http_server, loopback_consents, silent, tool
from tests.support.memory_servers import FakeCaller, says
from tests.support.workspace_files import change

FIND = tool("find", text={"type": "string"}, limit={"type": "integer", "maximum": 5})
GOOD = {"text": "chain", "limit": 3}


@dataclass
class CallBench:
    """A workspace with one server of one tool, and what was said."""

    store: Store
    gateway: FakeGateway
    caller: FakeCaller
    servers: Servers
    consents: Consents
    calls: ToolCalls
    said: list[Event]

    async def add(self, spec: ServerSpec) -> ServerId:
        """Register a server without checking it."""
        return (await self.store.servers.add(spec)).id


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[CallBench]:
    store, events, said = await open_store(tmp_path / "workspace.db"), EventStream(), list[Event]()
    gateway, caller = FakeGateway({"desk": [FIND], "files": [tool("read", "files")]}), FakeCaller()
    consents = loopback_consents()
    servers = Servers(store.servers, gateway, consents, events, Config())
    calls = ToolCalls(store.servers, store.calls, servers, caller, consents, events)
    events.subscribe(said.append)
    yield CallBench(store, gateway, caller, servers, consents, calls, said)
    await servers.close()
    await store.close()


async def test_the_reply_comes_back_with_id_and_timings_and_is_kept(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    bench.caller.reply = says("3 chains")
    call = await bench.calls.call(server, "find", GOOD)
    assert (call.status, call.reply and call.reply.text) == (ToolCallStatus.ANSWERED, "3 chains")
    assert call.duration_ms is not None
    assert await bench.calls.history(server, "find") == (call,)
    assert bench.caller.asked == [("desk", "find", GOOD)]
    assert ToolCallsChanged(server, "find") in bench.said


async def test_an_error_of_the_tool_is_an_answer_and_one_of_the_server_is_none(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    bench.caller.reply = says("No such part.", is_error=True)
    assert (await bench.calls.call(server, "find", GOOD)).status is ToolCallStatus.TOOL_ERROR
    bench.caller.reply = silent("desk")
    with pytest.raises(ServerError, match="desk did not answer"):
        await bench.calls.call(server, "find", GOOD)
    failed, _ = await bench.calls.history(server)
    assert failed.status is ToolCallStatus.FAILED
    assert failed.failure is not None
    assert failed.failure.hint == "Look at its log."


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"limit": 3}, "`text` is missing, though the schema requires it."),
        ({"text": "a", "limit": "three"}, "`limit` is text, but the schema wants a whole number."),
        ({"text": "a", "limit": 9}, "`limit` is 9, which does not satisfy `maximum: 5`"),
    ],
)
async def test_arguments_that_do_not_fit_the_schema_are_never_sent(
    bench: CallBench, arguments: dict[str, object], why: str
) -> None:
    server = await bench.add(http_server("desk"))
    with pytest.raises(InputError) as caught:
        await bench.calls.call(server, "find", arguments)
    assert why in caught.value.message
    assert (bench.caller.asked, await bench.calls.history(server)) == ([], ())


async def test_huge_and_endlessly_nested_arguments_are_never_sent(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    deep: object = 1
    for _ in range(20_000):
        deep = [deep]
    for arguments, why in (({"text": "a" * 2_000_000}, "larger than 1 MB"), ({"text": deep}, "nest too deep")):
        with pytest.raises(InputError, match=why):
            await bench.calls.call(server, "find", arguments)
    assert bench.caller.asked == []


async def test_a_tool_that_is_not_there_is_answered_with_the_nearest(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    with pytest.raises(NotFoundError) as caught:
        await bench.calls.call(server, "fnd", GOOD)
    assert caught.value.hint == "Did you mean find?"


async def test_a_program_is_not_started_for_a_call_that_nobody_agreed_to(bench: CallBench) -> None:
    server = await bench.add(command_server("files"))
    with pytest.raises(ConsentError):
        await bench.calls.call(server, "read", {})
    assert (bench.gateway.asked, bench.caller.asked) == ([], [])
    await bench.consents.allow_server(command_server("files"))
    assert (await bench.calls.call(server, "read", {})).status is ToolCallStatus.ANSWERED


async def test_a_tools_file_has_nothing_to_call(bench: CallBench) -> None:
    server = await bench.add(ServerSpec(name="saved", transport=Transport.FILE, path="tools.json"))
    with pytest.raises(InputError, match="nothing to call"):
        await bench.calls.call(server, "find", GOOD)


async def test_keys_are_sent_as_they_are_and_kept_masked(bench: CallBench) -> None:
    held = Secret("correct-horse-battery")
    server = await bench.add(http_server("desk"))
    bench.gateway.servers["desk"] = [tool("find", text={"type": "string"}, api_key={"type": "string"})]
    arguments = {"text": f"with {held.reveal()}", "api_key": "hunter2hunter2"}
    await bench.calls.call(server, "find", arguments)
    assert bench.caller.asked[0][2] == arguments
    (kept,) = await bench.calls.history(server)
    assert kept.arguments == {"text": f"with {MASK}", "api_key": MASK}


async def test_a_call_that_is_broken_off_is_kept_as_such(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    bench.caller.gate = asyncio.Event()
    call = asyncio.create_task(bench.calls.call(server, "find", GOOD))
    await bench.caller.reached.wait()
    (under_way,) = await bench.calls.history(server)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (kept,) = await bench.calls.history(server)
    assert (under_way.status, kept.status) == (ToolCallStatus.SENT, ToolCallStatus.CANCELLED)


async def test_calls_can_be_removed_and_come_back_as_they_were(bench: CallBench) -> None:
    server = await bench.add(http_server("desk"))
    for _ in range(3):
        await bench.calls.call(server, "find", GOOD)
    before = await bench.calls.history(server)
    await bench.calls.remove(before[1:])
    assert await bench.calls.history(server) == before[:1]
    await bench.calls.restore(before[1:])
    assert await bench.calls.history(server) == before


async def test_calls_are_listed_in_their_order_though_the_clock_was_set_back(bench: CallBench, tmp_path: Path) -> None:
    desk = await bench.add(http_server("desk"))
    first = await bench.calls.call(desk, "find", GOOD)
    change(tmp_path / "workspace.db", "UPDATE tool_calls SET asked_at = '2040-01-01 00:00:00.000000'")
    later = [(await bench.calls.call(desk, "find", GOOD)).id for _ in range(2)]
    assert [call.id for call in await bench.calls.history(desk)] == [*reversed(later), first.id]
