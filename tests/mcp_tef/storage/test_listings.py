"""What a server lists and what the user last saw of it: two listings only where they differ."""

from mcp_tef.model.tools import Listing, Tool
from mcp_tef.ports import CheckResult
from mcp_tef.storage.store import SqliteStore
from tests.support.workspace_files import http, tool


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


async def test_what_was_seen_stays_until_the_new_one_is_accepted(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW, listing(), NEW):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    assert await store.servers.accepted_listing(server.id) == OLD
    assert await store.servers.listing(server.id) == NEW
    assert await store.servers.accept_listing(server.id, NEW)
    assert await store.servers.accepted_listing(server.id) is None
    assert await store.servers.listing(server.id) == NEW


async def test_a_server_that_goes_back_to_what_was_seen_has_not_changed(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW, OLD):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    assert await store.servers.accepted_listing(server.id) is None


async def test_only_what_is_listed_now_can_be_accepted(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW, listing()):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    assert not await store.servers.accept_listing(server.id, NEW)
    assert await store.servers.accepted_listing(server.id) == OLD


async def test_a_failed_check_changes_nothing(store: SqliteStore) -> None:
    server = await store.servers.add(http("docs"))
    for found in (OLD, NEW):
        await store.servers.record_check(server.id, CheckResult(listing=found))
    await store.servers.record_check(server.id, CheckResult(reason="docs is mute."))
    assert await store.servers.accepted_listing(server.id) == OLD
