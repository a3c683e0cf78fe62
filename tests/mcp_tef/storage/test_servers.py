"""Servers, their listings and calls by hand on disk: unique names, traces of checks, removal that can be undone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ConflictError, InputError, NotFoundError
from mcp_tef.model.ids import ServerId, ToolCallId, new_id
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.servers import INPUTS, AuthType, OAuthClient, ServerSpec, ServerStatus, Transport
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import Listing, Tool, ToolProblem
from mcp_tef.ports import CheckResult
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import change, draft, http, rows, tool

STDIO = ServerSpec(
    name="files",
    transport=Transport.STDIO,
    command="npx",
    args=("-y", "server-files", "/tmp"),
    cwd="/srv",
    env={"LEVEL": "debug"},
    alias="f",
    allowed_tools=("read",),
    disallowed_tools=("write",),
    env_file="/srv/.env",
    project="/srv",
    origin="/srv/.vscode/mcp.json",
    extra={INPUTS: [{"id": "token"}]},
)
LISTING = Listing(
    server="docs",
    tools=(tool(), tool("read")),
    problems=(ToolProblem("odd", "Its schema is a list.", 2, {"inputSchema": []}), ToolProblem(None, "Cut short.")),
    protocol="2025-11-25",
    latency_ms=140,
)


@pytest.mark.parametrize(
    "spec",
    [
        STDIO,
        http("docs", headers={"X-Team": "a"}, auth_type=AuthType.BEARER, secret="${DOCS_TOKEN}"),
        http(
            "docs",
            auth_type=AuthType.OAUTH2,
            oauth=OAuthClient(client_id="ours", remember=True, scope="a b"),
            secret="${keychain:docs}",
        ),
        http(
            "build",
            auth_type=AuthType.CLIENT_CREDENTIALS,
            oauth=OAuthClient(client_id="us", issuer="https://login.test", private_key_file="/srv/client.pem"),
        ),
        ServerSpec(name="saved", transport=Transport.FILE, path="tools.json"),
    ],
    ids=["stdio", "http", "oauth", "client credentials", "file"],
)
async def test_a_server_is_kept_exactly_as_it_was_given(store: SqliteStore, spec: ServerSpec) -> None:
    added = await store.servers.add(spec)
    assert (await store.servers.get(added.id)).spec == spec
    assert await store.servers.find(spec.name) == added
    assert added.status is ServerStatus.INACTIVE


async def test_two_servers_cannot_have_one_address(store: SqliteStore) -> None:
    await store.servers.add(http("docs"))
    with pytest.raises(ConflictError, match="docs has the address"):
        await store.servers.add(http("other", url="http://docs.test/mcp"))


async def test_servers_without_an_address_do_not_collide(store: SqliteStore) -> None:
    await store.servers.add(STDIO)
    await store.servers.add(replace(STDIO, name="more files"))
    assert len(await store.servers.all()) == 2


async def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(store: SqliteStore) -> None:
    await store.servers.add(http("docs"))
    with pytest.raises(NotFoundError, match="No server is named “dosc”") as caught:
        await store.servers.find("dosc")
    assert caught.value.hint == "Did you mean docs?"


@pytest.mark.parametrize("secret", ["sk-live-123", "${TOKEN:-sk-live-123}", "${T}sk-live-123", "${input:sk-live-123}"])
async def test_a_secret_that_is_written_out_is_refused_and_reaches_no_file(
    store: SqliteStore, workspace: Path, secret: str
) -> None:
    with pytest.raises(InputError, match="never stored"):
        await store.servers.add(http("docs", auth_type=AuthType.BEARER, secret=secret))
    files = [file for file in workspace.parent.rglob("*") if file.is_file()]
    assert files
    assert not any(b"sk-live-123" in file.read_bytes() for file in files)


async def test_an_address_is_kept_without_user_and_password(store: SqliteStore, workspace: Path) -> None:
    server = await store.servers.add(http("docs", url="https://ines:hush@docs.test/mcp"))
    assert rows(workspace, "SELECT url FROM mcp_servers") == [("https://docs.test/mcp",)]
    change(workspace, "UPDATE mcp_servers SET url = 'https://ines:hush@docs.test/mcp'")
    assert (await store.servers.get(server.id)).spec.url == "https://docs.test/mcp"


async def test_a_check_that_succeeds_says_what_was_found(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    found = await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    assert (found.status, found.tool_count, found.problem_count) == (ServerStatus.ACTIVE, 2, 2)
    assert (found.protocol, found.latency_ms) == ("2025-11-25", 140)
    assert found.last_connected_at is not None
    kept = await store.servers.listing(server.id)
    assert kept == LISTING
    assert [(one.place, one.raw) for one in kept.problems] == [(2, {"inputSchema": []}), (None, None)]


async def test_a_check_that_fails_says_why_and_keeps_the_tools_last_seen(store: SqliteStore) -> None:
    server = await store.servers.add(STDIO)
    await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    failure = CheckResult(reason="It ended at once.", hint="Look at its log.", exit_code=3, stderr_tail="boom\ud800")
    found = await store.servers.record_check(server.id, failure)
    assert (found.status, found.reason, found.hint) == (ServerStatus.FAILED, "It ended at once.", "Look at its log.")
    assert (found.exit_code, found.stderr_tail) == (3, "boom\\ud800")
    assert found.tool_count == 2
    assert await store.servers.listing(server.id) is not None


async def test_a_check_that_succeeds_again_clears_the_reason(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.record_check(server.id, CheckResult(reason="It was down.", exit_code=1))
    found = await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    assert (found.status, found.reason, found.exit_code) == (ServerStatus.ACTIVE, None, None)


async def test_a_server_that_moved_must_be_checked_again(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    moved = await store.servers.update(server.id, http("docs", url="http://elsewhere.test"))
    assert (moved.status, moved.tool_count) == (ServerStatus.INACTIVE, None)
    assert await store.servers.listing(server.id) is None


async def test_a_server_that_is_only_renamed_stays_checked(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    renamed = await store.servers.update(server.id, http("papers", url="http://docs.test/mcp"))
    seen = await store.servers.listing(server.id)
    assert renamed.status is ServerStatus.ACTIVE
    assert seen is not None
    assert {item.server for item in seen.tools} == {seen.server} == {"papers"}


async def test_any_change_moves_the_moment_of_the_last_change(store: SqliteStore, workspace: Path) -> None:
    server = await store.servers.add(http("docs"))
    changed = await store.servers.update(server.id, http("papers"))
    assert changed.updated_at > server.updated_at
    assert changed.created_at == server.created_at


async def test_a_removed_server_is_gone_and_its_name_is_free(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.remove([server.id])
    assert await store.servers.all() == ()
    with pytest.raises(NotFoundError):
        await store.servers.get(server.id)
    await store.servers.add(http("docs"))


async def test_a_removed_server_comes_back_with_its_cases(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    (case,) = await store.cases.add([draft()])
    await store.servers.remove([server.id])
    assert (await store.cases.get(case.id)).draft.servers == ("docs",)
    await store.servers.restore([server.id])
    assert await store.servers.find("docs") == await store.servers.get(server.id)
    assert (await store.cases.get(case.id)).draft.servers == ("docs",)


async def test_cases_of_a_server_that_was_deleted_attach_to_the_next_one_of_its_name(workspace: Path) -> None:
    store = await open_store(workspace)
    server = await store.servers.add(http("docs"))
    (case,) = await store.cases.add([draft()])
    await store.servers.remove([server.id])
    await store.close()
    store = await open_store(workspace)
    assert await store.servers.all() == ()
    assert (await store.cases.get(case.id)).draft.servers == ("docs",)
    await store.servers.add(http("docs", url="http://new.test"))
    assert (await store.cases.get(case.id)).draft.servers == ("docs",)
    await store.close()
    assert rows(workspace, "SELECT url FROM mcp_servers JOIN test_case_mcp_servers ON id = mcp_server_id") == [
        ("http://new.test",)
    ]


async def test_a_server_does_not_come_back_onto_a_name_that_was_taken(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.remove([server.id])
    other = await store.servers.add(http("docs", url="http://new.test"))
    with pytest.raises(ConflictError):
        await store.servers.restore([server.id])
    assert await store.servers.all() == (other,)


async def test_the_next_open_deletes_removed_servers_for_good(workspace: Path) -> None:
    store = await open_store(workspace)
    server = await store.servers.add(http("docs"))
    await store.servers.record_check(server.id, CheckResult(listing=LISTING))
    await store.servers.remove([server.id])
    await store.close()
    await (await open_store(workspace)).close()
    assert rows(workspace, "SELECT id FROM mcp_servers UNION ALL SELECT mcp_server_id FROM server_listings") == []


@pytest.mark.parametrize(
    "changes", [{"env_file": "/srv/other"}, {"project": "/elsewhere"}, {"extra": {INPUTS: [{"id": "other"}]}}]
)
def test_consent_is_asked_again_where_a_launch_is_filled_from_something_else(changes: dict[str, Any]) -> None:
    assert replace(STDIO, **changes).launch_fingerprint != STDIO.launch_fingerprint
    assert replace(STDIO, origin=None, alias=None).launch_fingerprint == STDIO.launch_fingerprint


def listing(*tools: Tool) -> Listing:
    """What docs lists."""
    return Listing(server="docs", tools=tools, protocol="2025-11-25", latency_ms=5)


OLD, NEW = listing(tool(), tool("read")), listing(tool(description="Looks for words, then mails them."), tool("read"))


async def test_the_first_listing_counts_as_seen(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.servers.record_check(server.id, CheckResult(listing=OLD))
    assert await store.servers.accepted_listing(server.id) is None


async def test_another_order_is_no_change(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for tools in (OLD.tools, tuple(reversed(OLD.tools))):
        await store.servers.record_check(server.id, CheckResult(listing=listing(*tools)))
    assert await store.servers.accepted_listing(server.id) is None


async def test_a_server_that_goes_back_to_what_was_seen_has_not_changed(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW, OLD):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    assert await store.servers.accepted_listing(server.id) is None


async def test_a_failed_check_changes_nothing(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    await store.servers.record_check(server.id, CheckResult(reason="docs is mute."))
    assert await store.servers.accepted_listing(server.id) == OLD


AT = datetime(2026, 11, 22, 6, tzinfo=UTC)


def asked(server_id: ServerId, number: int = 0, tool: str = "search") -> ToolCall:
    """A call that was sent."""
    return ToolCall(
        id=ToolCallId(new_id()),
        server_id=server_id,
        server="docs",
        tool=tool,
        arguments={"query": f"no. {number}", "deep": [None, 1.5]},
        asked_at=AT + timedelta(seconds=number),
    )


async def test_a_call_is_kept_before_it_is_answered_and_then_with_its_answer(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    sent = asked(server.id)
    await store.calls.begin(sent)
    assert await store.calls.of_server(server.id) == (sent,)
    reply = ToolReply(
        content=({"type": "text", "text": "\ud800 ok"},), structured={"n": 1}, execution_time_ms=3, cut=True
    )
    answered = replace(sent, status=ToolCallStatus.ANSWERED, duration_ms=20, reply=reply)
    await store.calls.end(answered)
    assert await store.calls.of_server(server.id) == (answered,)


async def test_a_failure_is_kept_with_its_sentence(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    failed = replace(
        asked(server.id), status=ToolCallStatus.FAILED, failure=FailureInfo("server_silent", "docs is mute.", "Wait.")
    )
    await store.calls.begin(failed)
    assert await store.calls.of_server(server.id, "search") == (failed,)


async def test_of_each_tool_the_last_fifty_are_kept_newest_first(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    await store.calls.begin(asked(server.id, 0, "read"))
    for number in range(53):
        await store.calls.begin(asked(server.id, number))
    kept = await store.calls.of_server(server.id, "search")
    assert [call.arguments["query"] for call in kept] == [f"no. {number}" for number in range(52, 2, -1)]
    assert len(await store.calls.of_server(server.id)) == 51


async def test_the_calls_of_a_removed_server_go_with_it(workspace: Path) -> None:
    store = await open_store(workspace)
    server = await store.servers.add(http("docs"))
    await store.calls.begin(asked(server.id))
    await store.servers.remove([server.id])
    await store.close()
    await (await open_store(workspace)).close()
    assert rows(workspace, "SELECT count(*) FROM tool_calls") == [(0,)]
