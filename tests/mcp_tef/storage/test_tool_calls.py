"""Calls by hand on disk: a request before its answer, the last fifty of a tool, gone with their server."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mcp_tef.model.ids import ServerId, ToolCallId, new_id
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import http, rows

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


async def test_removed_calls_are_gone_and_restored_ones_are_as_they_were(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    calls = [asked(server.id, number) for number in range(3)]
    for call in calls:
        await store.calls.begin(call)
    answered = replace(calls[1], status=ToolCallStatus.ANSWERED, duration_ms=20, reply=ToolReply(structured={"n": 1}))
    await store.calls.end(answered)
    await store.calls.remove([calls[0].id, answered.id])
    assert await store.calls.of_server(server.id) == (calls[2],)
    await store.calls.restore([calls[0], answered])
    assert await store.calls.of_server(server.id) == (calls[2], answered, calls[0])


async def test_the_calls_of_a_removed_server_go_with_it(workspace: Path) -> None:
    store = await open_store(workspace)
    server = await store.servers.add(http("docs"))
    await store.calls.begin(asked(server.id))
    await store.servers.remove([server.id])
    await store.close()
    await (await open_store(workspace)).close()
    assert rows(workspace, "SELECT count(*) FROM tool_calls") == [(0,)]
