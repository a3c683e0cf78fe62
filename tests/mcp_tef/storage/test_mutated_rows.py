"""Whatever a stranger writes into a row, the verbs that read it start, contact and remove nothing, and never crash."""

import socket
from pathlib import Path

import pytest
from sqlalchemy import Float, Integer

from mcp_tef.errors import StoreError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.tools import Listing
from mcp_tef.ports import CheckResult
from mcp_tef.storage.columns import StoredRow
from mcp_tef.storage.definition_store import DEFINITIONS
from mcp_tef.storage.draft_store import DRAFTS
from mcp_tef.storage.library_tables import LIBRARY_TOOLS
from mcp_tef.storage.run_tables import RUNS
from mcp_tef.storage.store import SqliteStore
from tests.support.row_mutations import MARKER, VICTIMS, cells, mutated, surroundings, tried
from tests.support.workspace_files import fill, http, rows, run_all

MUTATIONS = 300


def test_no_mutated_row_starts_contacts_or_removes_anything(tmp_path: Path) -> None:
    outcomes = list(tried(tmp_path, MUTATIONS, seed=33))
    assert [one for one in outcomes if one.fault] == []
    assert len(outcomes) > MUTATIONS * 0.8
    assert {one.code for one in outcomes} >= {0, 2, 3}


def test_each_table_has_rows_to_mutate(tmp_path: Path) -> None:
    with surroundings(tmp_path) as around:
        tables = {table for (table,) in rows(around.first, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert {table for table in tables if not rows(around.first, f"SELECT 1 FROM {table}")} == set()
        assert {table for table, _ in cells(around.first)} == tables - {"workspace_identity"}


def test_no_column_of_numbers_is_read_unchecked() -> None:
    assert {table.metadata for table in (DEFINITIONS, DRAFTS, LIBRARY_TOOLS, RUNS)} == {StoredRow.metadata}, (
        "all are loaded"
    )
    columns = [column for table in StoredRow.metadata.tables.values() for column in table.columns]
    unchecked = {column.table.name for column in columns if isinstance(column.type, Integer | Float)}
    assert unchecked == {"run_facts", "fact_keys", "tool_names"}, "these are read as arrays, and checked there"


def test_a_start_a_contact_and_a_touched_file_would_be_noticed(tmp_path: Path) -> None:
    with surroundings(tmp_path) as around:
        assert around.fault() == ""
        (tmp_path / VICTIMS[1]).unlink()
        assert around.fault() == f"touched: {[VICTIMS[1]]}"
        with socket.create_connection(around.listener.getsockname()) as caller:
            caller.sendall(b"GET /mcp")
            assert around.fault() == "an address was contacted: b'GET /mcp'"
        (tmp_path / MARKER).touch()
        assert around.fault() == "a program was started"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("extra", "5"), ("extra", "[1]"), ("oauth", "[]"), ("env", "null"), ("args", "{}"), ("command", b"\xff")),
        *(("problem_count", b""), ("latency_ms", "soon"), ("exit_code", 1.5)),
    ],
)
async def test_a_server_with_a_value_of_another_type_is_named(
    store: SqliteStore, workspace: Path, column: str, value: object
) -> None:
    await store.servers.add(http("docs"))
    assert mutated(workspace, "mcp_servers", column, value)
    with pytest.raises(StoreError, match=rf"cannot be read: {column} of mcp_servers, row [\w-]+\."):
        await store.servers.all()


async def test_a_run_of_a_case_that_is_not_there_is_shown_without_its_name(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    assert mutated(workspace, "test_runs", "test_case_id", "nonsense")
    assert [one.case_name for one in await store.runs.runs(RunFilter(batch_id=filled.batch.id))] == [""]


@pytest.mark.parametrize("value", ["nonsense", "2026-02-30", b"", 5, "0000-00-00"])
async def test_a_listing_with_another_time_is_named_when_it_is_replaced(
    store: SqliteStore, workspace: Path, value: object
) -> None:
    server = await store.servers.add(http("docs"))
    listed = CheckResult(listing=Listing(server="docs", tools=(), protocol="2025-11-25", latency_ms=5))
    await store.servers.record_check(server.id, listed)
    assert mutated(workspace, "server_listings", "seen_at", value)
    with pytest.raises(StoreError, match=r"cannot be read: seen_at of server_listings, row [\w-]+\."):
        await store.servers.record_check(server.id, listed)


@pytest.mark.parametrize(
    ("column", "value"), [("cost_usd", "2026-01-01"), ("cost_usd", float("inf")), ("tokens_in", b"")]
)
async def test_a_run_with_a_number_of_another_type_is_named(
    store: SqliteStore, workspace: Path, column: str, value: object
) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    assert mutated(workspace, "test_runs", column, value)
    with pytest.raises(StoreError, match=rf"cannot be read: {column} of test_runs, row [\w-]+\."):
        await store.runs.detail(filled.runs[0].id)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("model_settings", "provider", "nonsense"),
        ("model_settings", "client", "nonsense"),
        ("model_settings", "prompt", "true"),
        ("fact_keys", "id", 2**31),
        ("tool_names", "id", 2**31),
        ("tool_names", "id", -1),
    ],
)
async def test_runs_that_refer_to_no_name_are_told_when_figures_are_read(
    store: SqliteStore, workspace: Path, table: str, column: str, value: object
) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    assert mutated(workspace, table, column, value)
    with pytest.raises(StoreError, match=r"cannot be read: .*(fact_keys|tool_names), row -?\d+\."):
        await store.metrics.history(RunFilter())
