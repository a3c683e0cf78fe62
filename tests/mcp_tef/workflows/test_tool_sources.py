"""Gathering tools: from wherever they are named, and never without a word of what is missing."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import InputError, NotFoundError, ServerError, ServerFault
from mcp_tef.events import EventStream
from mcp_tef.model.config import Config
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.similarity import SourceKind, ToolSet, ToolSource
from mcp_tef.model.tools import Listing
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.tool_sources import ToolSources
from tests.support.fake_ports import FakeGateway, command_server, http_server, loopback_consents, silent, tool
from tests.support.memory_servers import MemoryServers

READ = {"name": "read", "description": "Reads", "inputSchema": {"type": "object"}}
WRITE = {"name": "write", "inputSchema": {"type": "object"}}


@dataclass
class ThreeServers:
    """Three servers, of which one is silent."""

    gateway: FakeGateway = field(
        default_factory=lambda: FakeGateway(
            {
                "desk": [tool("find"), tool("read")],
                "files": [tool("read", "files"), tool("read", "files")],
                "mute": silent("mute"),
            }
        )
    )
    store: MemoryServers = field(default_factory=MemoryServers)

    @property
    def sources(self) -> ToolSources:
        servers = Servers(self.store, self.gateway, loopback_consents(), EventStream(), Config())
        return ToolSources(servers, self.gateway, Config())

    async def gather(self, *names: str, kind: SourceKind = SourceKind.SERVERS, **given: Any) -> ToolSet:
        return await self.sources.gather(ToolSource(kind=kind, names=names), **given)


@pytest.fixture
async def servers() -> ThreeServers:
    made = ThreeServers()
    for name in ("desk", "files", "mute"):
        await made.store.add(http_server(name))
    return made


def ids(tool_set: ToolSet) -> list[str]:
    return [each.id for each in tool_set.tools]


async def test_tools_of_servers_have_ids_of_their_own_even_where_a_server_repeats_itself(servers: ThreeServers) -> None:
    assert ids(await servers.gather("desk", "files")) == ["desk/find", "desk/read", "files/read", "files/read#2"]


async def test_a_server_that_does_not_answer_is_named_with_its_reason(servers: ThreeServers) -> None:
    found = await servers.gather("desk", "mute")
    assert ids(found) == ["desk/find", "desk/read"]
    assert [(one.server, one.reason, one.hint) for one in found.unreachable] == [
        ("mute", "mute did not answer within 30 s.", "Look at its log.")
    ]


async def test_no_names_mean_all_servers(servers: ThreeServers) -> None:
    found = await servers.gather()
    assert len(found.tools) == 4
    assert [one.server for one in found.unreachable] == ["mute"]


async def test_a_server_seen_before_is_not_asked_again_unless_it_shall_be_fresh(servers: ThreeServers) -> None:
    await servers.gather("desk")
    await servers.gather("desk")
    assert servers.gateway.asked == ["desk"]
    await servers.gather("desk", fresh=True)
    assert servers.gateway.asked == ["desk", "desk"]


async def test_a_program_that_nobody_agreed_to_is_not_started_but_named(servers: ThreeServers) -> None:
    await servers.store.add(command_server("tool"))
    found = await servers.gather("desk", "tool")
    assert [one.server for one in found.unreachable] == ["tool"]
    assert "have not allowed" in found.unreachable[0].reason


async def test_an_unknown_server_is_an_error(servers: ThreeServers) -> None:
    with pytest.raises(NotFoundError):
        await servers.gather("desc")


async def test_one_tool_is_too_few_to_compare_but_enough_where_one_is_asked_for(servers: ThreeServers) -> None:
    servers.gateway.servers["desk"] = [tool("find")]
    with pytest.raises(InputError, match="Only 1 tool was found; it takes at least 2"):
        await servers.gather("desk")
    assert ids(await servers.gather("desk", at_least=1)) == ["desk/find"]


async def test_too_few_tools_are_no_error_where_a_server_is_missing_anyway(servers: ThreeServers) -> None:
    found = await servers.gather("mute")
    assert (found.tools, len(found.unreachable)) == ((), 1)


class TwoWays(FakeGateway):
    """Answers by one transport only; by the other it fails with `fault`."""

    def __init__(self, spoken: Transport | None, fault: ServerFault) -> None:
        super().__init__({})
        self._spoken = spoken
        self._fault = fault
        self.tried: list[Transport] = []

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Tools by the one, an error that names the other."""
        self.tried.append(spec.transport)
        if spec.transport is not self._spoken:
            raise ServerError(self._fault, f"{spec.name} does not speak {spec.transport}.")
        return Listing(server=spec.name, tools=(tool("find", spec.name), tool("read", spec.name)))


URL = "http://127.0.0.1:9/mcp"
BOTH = [Transport.STREAMABLE_HTTP, Transport.SSE]


@pytest.mark.parametrize("spoken", BOTH)
async def test_an_address_is_tried_by_streamable_http_and_then_by_sse(spoken: Transport) -> None:
    gateway = TwoWays(spoken, ServerFault.HTTP_STATUS)
    found = await ThreeServers(gateway).gather(URL, kind=SourceKind.URLS)
    assert ids(found) == [f"{URL}/find", f"{URL}/read"]
    assert gateway.tried == BOTH[: BOTH.index(spoken) + 1]


async def test_an_address_that_speaks_neither_is_named_with_the_first_reason() -> None:
    found = await ThreeServers(TwoWays(None, ServerFault.NOT_MCP)).gather(URL, kind=SourceKind.URLS)
    assert [(one.server, one.reason) for one in found.unreachable] == [(URL, f"{URL} does not speak streamable-http.")]


async def test_where_nothing_listens_no_other_way_is_tried() -> None:
    gateway = TwoWays(Transport.SSE, ServerFault.REFUSED)
    assert len((await ThreeServers(gateway).gather(URL, kind=SourceKind.URLS)).unreachable) == 1
    assert gateway.tried == [Transport.STREAMABLE_HTTP]


async def test_what_is_no_address_is_an_error_before_anything_is_asked(servers: ThreeServers) -> None:
    with pytest.raises(InputError, match="ftp://x is not a web address"):
        await servers.gather(URL, "ftp://x", kind=SourceKind.URLS)
    assert servers.gateway.asked == []


async def test_files_give_their_tools_under_their_own_names(servers: ThreeServers, tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text(json.dumps({"tools": [READ, {"name": "bad"}]}))
    two.write_text(json.dumps([READ, {**WRITE, "server": "elsewhere"}, {**READ, "server": "elsewhere"}]))
    found = await servers.gather(str(one), str(two), kind=SourceKind.FILES)
    assert ids(found) == ["one/read", "two/read", "elsewhere/write", "elsewhere/read"]
    assert [(server, problem.tool, problem.reason) for server, problem in found.problems] == [
        ("one", "bad", "It has no inputSchema.")
    ]


async def test_a_file_that_holds_no_tools_is_an_error_that_says_so(servers: ThreeServers, tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text("3")
    with pytest.raises(InputError, match="holds no list of tools"):
        await servers.gather(str(path), kind=SourceKind.FILES)


async def test_pasted_definitions_are_checked_one_by_one(servers: ThreeServers) -> None:
    pasted = ToolSource(kind=SourceKind.TOOLS, definitions=(READ, WRITE, {"name": 3}, {**READ, "server": "two"}))
    found = await servers.sources.gather(pasted)
    assert ids(found) == ["pasted/read", "pasted/write", "two/read"]
    assert [(server, problem.reason) for server, problem in found.problems] == [
        ("pasted", "Definition 3: Its name is a number, not text.")
    ]


async def test_pasted_definitions_without_any_tool_say_what_was_wrong(servers: ThreeServers) -> None:
    with pytest.raises(InputError, match="No tool was found") as caught:
        await servers.sources.gather(ToolSource(kind=SourceKind.TOOLS, definitions=({"name": "x"},)))
    assert "It has no inputSchema." in caught.value.hint


async def test_an_address_is_called_by_what_is_no_secret_in_it() -> None:
    secret, shown = "//bob:pa55-planted@127.0.0.1:1/mcp?api_key=k3y-planted&team=red", "//127.0.0.1:1/mcp?api_key="
    there, gone = TwoWays(Transport.STREAMABLE_HTTP, ServerFault.NOT_MCP), TwoWays(None, ServerFault.NOT_MCP)
    found = await ThreeServers(there).gather(f"http:{secret}", kind=SourceKind.URLS)
    lost = await ThreeServers(gone).gather(f"http:{secret}", kind=SourceKind.URLS)
    with pytest.raises(InputError) as refused:
        await ThreeServers(gone).gather(f"ftp:{secret}", kind=SourceKind.URLS)
    assert ids(found) == [f"http:{shown}•••&team=red/{name}" for name in ("find", "read")]
    assert lost.unreachable[0].server == f"http:{shown}•••&team=red"
    assert "planted" not in f"{lost} {refused.value}"
