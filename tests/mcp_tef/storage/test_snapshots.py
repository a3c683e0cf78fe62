"""The tools as runs saw them: stored once, and kept as long as one run still needs them."""

from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import NotFoundError
from mcp_tef.model.ids import RunId
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import change, draft, fill, http, offered, right, rows, run_all, tool

LINKED = """
SELECT count(*) FROM tool_definitions
WHERE NOT EXISTS (
    SELECT 1 FROM snapshot_tools JOIN test_runs USING (snapshot_id)
    WHERE tool_id = tool_definitions.id AND test_runs.id = tool_definitions.test_run_id
)
"""


async def seen(store: SqliteStore, run_id: RunId) -> list[Tool]:
    """The tools that a run saw."""
    snapshot = (await store.runs.detail(run_id)).snapshot
    assert snapshot is not None
    return [item.tool for item in snapshot.tools]


async def test_equal_definitions_and_equal_snapshots_are_stored_once(store: SqliteStore, workspace: Path) -> None:
    first, second = await fill(store, repeats=20), await fill(store, repeats=20)
    one = await run_all(store, first.runs, tool(), tool("read"))
    two = await run_all(store, second.runs, tool(), tool("read"))
    assert one == two
    assert rows(workspace, "SELECT count(*) FROM tool_definitions") == [(2,)]
    assert rows(workspace, "SELECT count(*) FROM snapshots") == [(1,)]


async def test_a_changed_definition_is_stored_beside_the_old_one(store: SqliteStore, workspace: Path) -> None:
    old, new = await fill(store), await fill(store)
    changed = tool(description="Looks for words, quickly.")
    await run_all(store, old.runs, tool(), tool("read"))
    await run_all(store, new.runs, changed, tool("read"))
    assert rows(workspace, "SELECT count(*) FROM tool_definitions") == [(3,)]
    assert await seen(store, old.runs[0].id) == [tool(), tool("read")]
    assert await seen(store, new.runs[0].id) == [changed, tool("read")]


async def test_order_and_offered_names_belong_to_the_snapshot(store: SqliteStore) -> None:
    await store.servers.add(http("web"))
    filled = await fill(store)
    tools = (OfferedTool("web-search", tool(server="web")), OfferedTool("docs-search", tool()))
    await store.runs.finish([right(filled.runs[0], await store.runs.save_snapshot(tools, filled.runs[0].id))])
    snapshot = (await store.runs.detail(filled.runs[0].id)).snapshot
    assert snapshot is not None
    assert snapshot.tools == tools


async def test_the_tool_that_was_picked_is_linked_to_the_run(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs, tool("read"), tool())
    picked = "SELECT name FROM tool_definitions JOIN test_runs ON tool_definitions.id = selected_tool_id"
    assert rows(workspace, picked) == [("search",)]


async def test_tools_of_a_server_that_nobody_registered_are_refused(store: SqliteStore) -> None:
    filled = await fill(store)
    with pytest.raises(NotFoundError, match="The tools of stranger cannot be kept"):
        await store.runs.save_snapshot(offered(tool(server="stranger")), filled.runs[0].id)


async def test_a_server_that_was_removed_during_the_batch_still_has_its_tools_kept(store: SqliteStore) -> None:
    filled = await fill(store)
    await store.servers.remove([(await store.servers.find("docs")).id])
    await run_all(store, filled.runs)
    assert await seen(store, filled.runs[0].id) == [tool()]


async def test_deleting_the_batch_that_saw_a_tool_first_leaves_it_to_the_others(
    store: SqliteStore, workspace: Path
) -> None:
    first, second = await fill(store, repeats=3), await fill(store, repeats=3)
    await run_all(store, first.runs, tool(), tool("read"))
    await run_all(store, second.runs, tool(), tool("read"))
    change(workspace, f"DELETE FROM batches WHERE id = '{first.batch.id}'")
    assert await seen(store, second.runs[2].id) == [tool(), tool("read")]
    assert rows(workspace, LINKED) == [(0,)]
    assert rows(workspace, "SELECT count(*) FROM test_runs") == [(3,)]


async def test_a_tool_that_only_part_of_the_others_saw_goes_to_one_of_those(
    store: SqliteStore, workspace: Path
) -> None:
    first, second, third = await fill(store), await fill(store), await fill(store)
    await run_all(store, first.runs, tool(), tool("read"))
    await run_all(store, second.runs, tool())
    await run_all(store, third.runs, tool("read"))
    change(workspace, f"DELETE FROM batches WHERE id = '{first.batch.id}'")
    assert await seen(store, second.runs[0].id) == [tool()]
    assert await seen(store, third.runs[0].id) == [tool("read")]
    assert rows(workspace, LINKED) == [(0,)]


async def test_deleting_a_case_leaves_its_tools_to_runs_of_other_cases(workspace: Path) -> None:
    store = await open_store(workspace)
    filled = await fill(store, [draft("one"), draft("two")], repeats=2)
    await run_all(store, filled.runs)
    await store.cases.remove([filled.cases[0].id])
    await store.close()
    store = await open_store(workspace)
    left = [run for run in filled.runs if run.case_id == filled.cases[1].id]
    assert await seen(store, left[0].id) == [tool()]
    await store.close()
    assert rows(workspace, LINKED) == [(0,)]


async def test_a_cascade_in_one_statement_also_hands_the_tools_on(workspace: Path) -> None:
    store = await open_store(workspace)
    first, second = await fill(store, repeats=5), await fill(store, repeats=5)
    await run_all(store, [*first.runs, *second.runs])
    await store.close()
    change(workspace, f"DELETE FROM batches WHERE id = '{first.batch.id}'")
    assert rows(workspace, LINKED) == [(0,)]
    store = await open_store(workspace)
    assert await seen(store, second.runs[4].id) == [tool()]
    await store.close()


async def test_the_last_run_takes_its_tools_and_snapshot_with_it(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store, repeats=2)
    await run_all(store, filled.runs)
    change(workspace, f"DELETE FROM batches WHERE id = '{filled.batch.id}'")
    for table in ("tool_definitions", "snapshots", "snapshot_tools", "evaluation_results", "model_settings"):
        assert rows(workspace, f"SELECT count(*) FROM {table}") == [(0,)]


async def test_deleting_a_server_for_good_leaves_its_runs(workspace: Path) -> None:
    store = await open_store(workspace)
    filled = await fill(store)
    await run_all(store, filled.runs)
    await store.cases.update(filled.cases[0].id, replace(filled.cases[0].draft, servers=()))
    await store.servers.remove([(await store.servers.find("docs")).id])
    await store.close()
    store = await open_store(workspace)
    detail = await store.runs.detail(filled.runs[0].id)
    assert detail.summary.selected == "docs / search"
    assert await seen(store, filled.runs[0].id) == []
    again = await fill(store)
    await run_all(store, again.runs)
    assert await seen(store, again.runs[0].id) == [tool()]
    await store.close()


async def test_a_run_that_saw_other_tools_at_its_second_try_keeps_those(store: SqliteStore) -> None:
    filled = await fill(store, repeats=2)
    await run_all(store, filled.runs)
    await store.runs.reopen(filled.batch.id, filled.runs[:1], None)
    await run_all(store, filled.runs[:1], tool("read"))
    assert await seen(store, filled.runs[0].id) == [tool("read")]
    assert await seen(store, filled.runs[1].id) == [tool()]
