"""Servers: registering answers at once, checks run behind it, nothing starts without consent."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import ConflictError, InputError, NotFoundError, ServerError, ServerFault
from mcp_tef.events import ServersChanged, ServerStateChanged
from mcp_tef.model.servers import ServerSpec, ServerStatus, Transport
from mcp_tef.ports import Store
from mcp_tef.storage.store import open_store
from mcp_tef.trust.consents import ConsentError
from tests.support.fake_ports import Gate, command_server, http_server, picks, silent, tool
from tests.support.workflow_bench import Bench, ServersSaid, bench


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


@pytest.fixture
async def made(store: Store) -> AsyncIterator[Bench]:
    servers: ServersSaid = {"desk": [tool("find")], "mute": silent("mute"), "files": [tool("read", "files")]}
    opened = bench(store, servers, lambda _: picks("find"))
    yield opened
    await opened.servers.close()


async def settled(made: Bench, status: ServerStatus) -> ServerStateChanged:
    """Wait until a check ended in this state."""
    found = asyncio.get_running_loop().create_future()

    def on(event: object) -> None:
        if isinstance(event, ServerStateChanged) and event.server.status is status and not found.done():
            found.set_result(event)

    stop = made.events.subscribe(on)
    event: ServerStateChanged = await found
    stop()
    return event


async def test_a_new_server_is_starting_and_then_active_with_its_tools_counted(made: Bench) -> None:
    server = await made.servers.add(http_server("desk"))
    assert server.status is ServerStatus.STARTING
    event = await settled(made, ServerStatus.ACTIVE)
    assert (event.server.tool_count, event.server.protocol, event.server.latency_ms) == (1, "2025-11-25", 3)
    assert (await made.servers.get(server.id)).last_connected_at is not None


async def test_a_server_that_fails_its_check_stays_registered_with_the_reason(made: Bench) -> None:
    server = await made.servers.add(http_server("mute"))
    await settled(made, ServerStatus.FAILED)
    kept = await made.servers.find("mute")
    assert kept.id == server.id
    assert kept.reason == "mute did not answer within 30 s."
    assert kept.hint == "Look at its log."


async def test_a_failed_server_keeps_the_tools_that_were_last_seen(made: Bench) -> None:
    server = await made.servers.add(http_server("desk"))
    await settled(made, ServerStatus.ACTIVE)
    made.gateway.servers["desk"] = silent("desk")
    assert (await made.servers.check(server.id)).status is ServerStatus.FAILED
    listing = await made.servers.known_tools(server.id)
    assert listing
    assert [item.name for item in listing.tools] == ["find"]


async def test_the_exit_code_and_last_words_of_a_program_are_kept(made: Bench) -> None:
    made.gateway.servers["desk"] = ServerError(
        ServerFault.EXITED, "desk ended at once.", context={"exit_code": 3, "stderr_tail": "no such option"}
    )
    server = await made.servers.add(http_server("desk"))
    await settled(made, ServerStatus.FAILED)
    kept = await made.servers.get(server.id)
    assert (kept.exit_code, kept.stderr_tail) == (3, "no such option")


async def test_a_command_waits_for_consent_and_any_change_of_it_asks_again(made: Bench) -> None:
    spec = command_server("files")
    server = await made.servers.add(spec)
    assert server.status is ServerStatus.INACTIVE
    with pytest.raises(ConsentError):
        await made.servers.check(server.id)
    await made.consents.allow_server(spec)
    assert (await made.servers.check(server.id)).status is ServerStatus.ACTIVE
    changed = ServerSpec(name="files", transport=Transport.STDIO, command="serve", args=("--everything",))
    await made.servers.edit(server.id, changed)
    with pytest.raises(ConsentError) as caught:
        await made.servers.tools(server.id)
    assert [one.target for one in caught.value.requests] == ['"serve" "--everything"']
    assert made.gateway.asked == ["files"]


async def test_what_was_agreed_to_is_listed_with_who_starts_so_and_can_be_revoked(made: Bench) -> None:
    spec = command_server("files")
    server = await made.servers.add(spec)
    await made.consents.allow_server(replace(spec, args=("--old",)))
    await made.consents.allow_server(spec)
    now, old = await made.servers.consents()
    assert (now.description, now.servers, now.allowed_at is not None) == ('"serve" "--all"', ("files",), True)
    assert (old.description, old.servers) == ('"serve" "--old"', ())
    await made.servers.revoke_consent(now.fingerprint)
    assert made.said[-1] == ServersChanged((server.id,))
    assert await made.servers.consents() == (old,)
    with pytest.raises(ConsentError):
        await made.servers.check(server.id)
    assert made.gateway.asked == []


async def test_a_test_connection_of_an_unsaved_server_stores_nothing(made: Bench) -> None:
    listing = await made.servers.probe(http_server("desk"))
    assert [item.name for item in listing.tools] == ["find"]
    assert await made.servers.list() == ()


async def test_two_servers_cannot_have_one_name(made: Bench) -> None:
    await made.servers.add(http_server("desk"))
    with pytest.raises(ConflictError, match="desk"):
        await made.servers.add(http_server("desk"))
    assert len(await made.servers.list()) == 1


async def test_a_mistyped_name_is_answered_with_the_nearest(made: Bench) -> None:
    await made.servers.add(http_server("desk"))
    with pytest.raises(NotFoundError) as caught:
        await made.servers.find("dsek")
    assert caught.value.hint == "Did you mean desk?"


@pytest.mark.parametrize(
    ("spec", "lack"),
    [
        (ServerSpec(name=" ", transport=Transport.SSE, url="http://x"), "has no name"),
        (ServerSpec(name="a", transport=Transport.STDIO), "has no command"),
        (ServerSpec(name="a", transport=Transport.STREAMABLE_HTTP), "has no url"),
        (ServerSpec(name="a", transport=Transport.FILE), "has no path"),
        (ServerSpec(name="a", transport=Transport.SSE, url="ftp://x"), "not a web address"),
    ],
)
async def test_a_server_without_what_its_transport_needs_is_refused(made: Bench, spec: ServerSpec, lack: str) -> None:
    with pytest.raises(InputError, match=lack):
        await made.servers.add(spec)
    assert await made.servers.list() == ()


async def test_a_removed_server_comes_back_whole(made: Bench) -> None:
    server = await made.servers.add(http_server("desk"))
    await settled(made, ServerStatus.ACTIVE)
    await made.servers.remove([server.id])
    assert await made.servers.list() == ()
    await made.servers.restore([server.id])
    back = await made.servers.find("desk")
    assert (back.id, back.tool_count) == (server.id, 1)


async def test_a_check_that_was_given_up_does_not_end_the_one_that_an_edit_began(made: Bench) -> None:
    old, new = made.gateway.gates = [Gate(), Gate()]
    server = await made.servers.add(http_server("desk"))
    await old.reached.wait()
    given_up = made.servers._checks[server.id]
    await made.servers.edit(server.id, replace(server.spec, headers={"X-Team": "docs"}))
    await new.reached.wait()
    old.opened.set()
    await asyncio.wait({given_up})
    assert (await made.servers.get(server.id)).status is ServerStatus.STARTING
    new.opened.set()
    await settled(made, ServerStatus.ACTIVE)


async def test_what_is_left_out_is_known_no_more_and_is_again_once_it_is_offered(made: Bench) -> None:
    server = await made.servers.add(http_server("desk"))
    await settled(made, ServerStatus.ACTIVE)
    made.gateway.servers["desk"] = silent("desk")
    for left_out, names in ((("find",), []), ((), ["find"])):
        await made.servers.edit(server.id, replace(server.spec, disallowed_tools=left_out))
        known = await made.servers.known_tools(server.id)
        assert known is not None
        assert [tool.name for tool in known.tools] == names


async def test_who_waits_for_a_check_that_an_edit_or_a_removal_stops_is_told_what_there_is_instead(made: Bench) -> None:
    first, by_hand, after_edit, again = made.gateway.gates = [Gate() for _ in range(4)]
    first.opened.set()
    server = await made.servers.add(http_server("desk"))
    await settled(made, ServerStatus.ACTIVE)
    waiting = asyncio.create_task(made.servers.check(server.id))
    await by_hand.reached.wait()
    changed = await made.servers.edit(server.id, replace(server.spec, headers={"X-Team": "docs"}))
    by_hand.opened.set()
    assert (await waiting).spec == changed.spec
    active = asyncio.create_task(settled(made, ServerStatus.ACTIVE))
    await after_edit.reached.wait()
    after_edit.opened.set()
    await active
    waiting = asyncio.create_task(made.servers.check(server.id))
    await again.reached.wait()
    await made.servers.remove([server.id])
    again.opened.set()
    with pytest.raises(NotFoundError):
        await waiting
