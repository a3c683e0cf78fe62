"""The contract of the library's store and of contacts, held by the workspace file and by the stores in memory."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.health import ContactKind, ServerContact
from mcp_tef.model.ids import ExecutionId, LibraryToolId
from mcp_tef.model.library import Execution, ExecutionStatus, LibraryTool, ToolCategory, ToolStatus
from mcp_tef.ports import Store
from mcp_tef.storage.store import SqliteStore
from tests.support.library_designs import answering

MOMENT = datetime(2026, 11, 22, 6, tzinfo=UTC)


def executed(tool: LibraryTool, number: int) -> Execution:
    """One execution, so many seconds after the first."""
    began = MOMENT + timedelta(seconds=number)
    return Execution(
        id=ExecutionId(f"{tool.name} {number}"),
        tool_id=tool.id,
        tool=tool.name,
        version=tool.version,
        status=ExecutionStatus.SUCCESS,
        input={"city": "Rome"},
        output={"rain": True},
        created_at=began,
        started_at=began,
        completed_at=began,
        duration_ms=number,
        caller_id="user",
        trace_id="trace",
    )


async def test_tools_have_unique_names_and_every_version_stays(any_store: Store) -> None:
    library = any_store.library
    first = await library.add(answering(tags=("a",), category=None, output_schema={"type": "string"}), "Made.")
    assert (first.version, first.status, await library.get(first.id)) == (1, ToolStatus.DRAFT, first)
    second = await library.update(first.id, answering("rain"), "Renamed.", expected_version=1)
    assert (second.version, second.name) == (2, "rain")
    with pytest.raises(ConflictError):
        await library.update(first.id, answering(), "Late.", expected_version=1)
    newest, oldest = await library.versions(first.id)
    assert (newest.is_latest, oldest.is_latest, newest.design) == (True, False, answering("rain"))
    assert (oldest.design, oldest.changelog, newest.changelog) == (first.design, "Made.", "Renamed.")
    await library.add(answering())
    for again in (library.add(answering()), library.update(first.id, answering(), "", expected_version=2)):
        with pytest.raises(ConflictError):
            await again
    assert [tool.name for tool in await library.all()] == ["rain", "weather"]
    with pytest.raises(NotFoundError):
        await library.get(LibraryToolId("gone"))


async def test_tools_are_removed_and_restored_unless_their_name_was_taken(any_store: Store) -> None:
    library = any_store.library
    tool = await library.add(answering())
    await library.set_status(tool.id, ToolStatus.ACTIVE)
    await library.remove([tool.id])
    assert await library.all() == ()
    await library.restore([tool.id])
    assert (await library.get(tool.id)).status is ToolStatus.ACTIVE
    await library.remove([tool.id])
    await library.add(answering())
    with pytest.raises(ConflictError):
        await library.restore([tool.id])


async def test_executions_are_listed_newest_first_and_go_with_their_tool(any_store: Store) -> None:
    library = any_store.library
    one, other = await library.add(answering()), await library.add(answering("rain"))
    gone = replace(executed(one, 4), tool_id=LibraryToolId("gone"))
    await library.record([executed(one, 1), executed(other, 2), executed(one, 3), gone])
    assert await library.executions(one.id) == (executed(one, 3), executed(one, 1))
    assert [found.tool for found in await library.executions(limit=2)] == ["weather", "rain"]


async def test_categories_are_added_and_changed_by_name(any_store: Store) -> None:
    library = any_store.library
    await library.save_category(ToolCategory(name="town"))
    await library.save_category(ToolCategory(name="buses", parent="town", description="Lines"))
    assert [(one.name, one.parent) for one in await library.categories()] == [("buses", "town"), ("town", None)]
    await library.save_category(ToolCategory(name="buses"))
    assert (await library.categories())[0] == ToolCategory(name="buses")


async def test_contacts_are_kept_in_their_order(any_store: Store) -> None:
    now = datetime.now(UTC)
    late = ServerContact(server="docs", kind=ContactKind.CALL, at=now, duration_ms=9, error="It broke.", failures=1)
    early = ServerContact(server="wiki", kind=ContactKind.LISTING, at=now - timedelta(hours=2), duration_ms=3)
    await any_store.contacts.record_contacts([late])
    await any_store.contacts.record_contacts([early])
    assert await any_store.contacts.contacts(now - timedelta(hours=3)) == (early, late)
    assert await any_store.contacts.contacts(early.at) == (late,)


async def test_earlier_contacts_are_read_in_short(any_store: Store) -> None:
    now = datetime.now(UTC)
    good = [
        ServerContact(
            server="docs", kind=ContactKind.CALL, at=now - timedelta(minutes=200 - number), duration_ms=number
        )
        for number in range(20)
    ]
    failed = [replace(one, at=one.at + timedelta(hours=1), error="It broke.", failures=1) for one in good[:5]]
    few = replace(good[0], server="wiki", at=now - timedelta(minutes=190.5))
    await any_store.contacts.record_contacts([*good, *failed, few, replace(few, at=now)])
    found = await any_store.contacts.summary(now - timedelta(minutes=100))
    assert found.usual_ms == {"docs": 18}
    assert found.last == (few, good[-1], *failed[-3:])


async def test_contacts_older_than_seven_days_are_folded_into_hours(store: SqliteStore) -> None:
    hour = datetime(2026, 1, 5, 10, tzinfo=UTC)
    old = [
        ServerContact(
            server="docs", kind=ContactKind.LISTING, at=hour + timedelta(minutes=10 * number),
            duration_ms=100 * number, failures=number % 2, error="It broke." if number % 2 else None,
        )
        for number in range(7)
    ]  # fmt: skip
    await store.contacts.record_contacts(old)
    await store.contacts.record_contacts([])
    first, second = await store.contacts.contacts(hour - timedelta(hours=1))
    assert first == ServerContact(server="docs", at=hour, duration_ms=250, contacts=6, failures=3, error="It broke.")
    assert (second.contacts, second.duration_ms) == (1, 600)
