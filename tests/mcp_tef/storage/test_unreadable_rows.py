"""A row that holds something else than this program once wrote is told in one sentence that names it."""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mcp_tef.errors import StoreError
from mcp_tef.model.comparison import Judgement
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.drafts import Draft, DraftStep
from mcp_tef.model.ids import DraftId, ToolCallId, new_id
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchStatus
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import Listing
from mcp_tef.model.verdicts import PastVerdict, RejudgeReason
from mcp_tef.ports import CheckResult
from mcp_tef.storage.columns import Document
from mcp_tef.storage.draft_store import DRAFTS
from mcp_tef.storage.run_tables import FACTS, RUNS
from mcp_tef.storage.store import SqliteStore
from mcp_tef.storage.tables import SERVERS
from tests.support.workspace_files import Filled, draft, fill, right, run_all, tool

(METADATA,) = {table.metadata for table in (DRAFTS, FACTS, RUNS, SERVERS)}
BROKEN = "[{"
NO_JSON = ("", "[" * 100_000)
OTHERWISE = ("5", '"words"', "[5]", '{"tool": 5}', "null")
SEEN_BY_NOBODY = {("test_cases", "expected_parameters"), ("test_runs", "extracted_parameters")}
CELLS = {
    (table.name, column.name)
    for table in METADATA.tables.values()
    for column in table.columns
    if isinstance(column.type, Document) and not table.name.startswith("library_")  # those have a store of their own
} - SEEN_BY_NOBODY
ROW = re.compile(r" cannot be read: .*\b(\w+), row [\w-]+\.$")
MOMENT = datetime(2026, 11, 22, 6, tzinfo=UTC)
STEP = DraftStep(1, ({"op": "remove", "path": "/tools/0/title"},), MOMENT)
LISTING = {"tools": [{"name": "search", "title": "Search"}]}
DRAFT = Draft(id=DraftId("1"), name="d", listing=LISTING, steps=(STEP,), step=1, created_at=MOMENT, updated_at=MOMENT)
Read = Callable[[], Awaitable[object]]
Cell = tuple[str, str]


async def fill_every_table(store: SqliteStore) -> Filled:
    """A workspace with a row wherever JSON is kept."""
    filled = await fill(store, (draft(),))
    run = filled.runs[0]
    await run_all(store, filled.runs)
    verdict = right(run).verdict
    assert verdict is not None
    past = PastVerdict(
        verdict=verdict,
        expectation=draft().expectation,
        replaced_at=MOMENT,
        reason=RejudgeReason.EXPECTATION_CHANGED,
    )
    again = Judgement(
        run_id=run.id, verdict=verdict, expectation=draft(tool="read").expectation, expected_rank=1, past=past
    )
    await store.runs.rejudge([again])
    server = await store.servers.find("docs")
    for description in ("Looks.", "Looks and mails."):
        found = Listing(server="docs", tools=(tool(description=description),), protocol="2025-11-25", latency_ms=5)
        await store.servers.record_check(server.id, CheckResult(listing=found))
    call = ToolCall(
        id=ToolCallId(new_id()),
        server_id=server.id,
        server="docs",
        tool="search",
        arguments={},
        asked_at=MOMENT,
        status=ToolCallStatus.ANSWERED,
        duration_ms=1,
        reply=ToolReply(content=(), execution_time_ms=1),
    )
    await store.calls.begin(call)
    await store.calls.end(call)
    await store.drafts.add(DRAFT)
    await store.definitions.add(DefinitionKind.GROUP, "fast", {"deployments": []})
    await store.runs.set_trial(filled.batch.id, {"seed": 7})
    return filled


async def reads(store: SqliteStore, filled: Filled) -> tuple[Read, ...]:
    """What screens and commands read."""
    run, batch = filled.runs[0].id, filled.batch.id
    server = (await store.servers.find("docs")).id
    return (
        store.servers.all,
        lambda: store.servers.listing(server),
        lambda: store.servers.accepted_listing(server),
        lambda: store.calls.of_server(server),
        store.cases.all,
        store.drafts.all,
        lambda: store.definitions.all(DefinitionKind.GROUP),
        store.cases.recent,
        store.runs.batches,
        lambda: store.runs.request(batch),
        lambda: store.runs.runs(RunFilter()),
        lambda: store.runs.detail(run),
        lambda: store.runs.answered([run]),
        lambda: store.runs.changed_definitions([run]),
        lambda: store.runs.outcomes(batch),
        lambda: store.metrics.history(RunFilter()),
    )


async def writes(store: SqliteStore, filled: Filled) -> tuple[Read, ...]:
    """What is written over rows that are there, and reads them for that."""
    run, case, batch = filled.runs[0], filled.cases[0], filled.batch.id
    server = await store.servers.find("docs")
    listing = Listing(server="docs", tools=(tool(),), protocol="2025-11-25", latency_ms=5)
    return (
        lambda: store.servers.record_check(server.id, CheckResult(listing=listing)),
        lambda: store.servers.accept_listing(server.id, listing),
        lambda: store.servers.update(server.id, server.spec),
        lambda: store.cases.update(case.id, case.draft),
        lambda: store.runs.reopen(batch, filled.runs, None),
        lambda: store.runs.finish([right(run)]),
        lambda: store.runs.rename_batch(batch, "Again"),
        lambda: store.runs.set_batch_status(batch, BatchStatus.COMPLETED),
    )


async def heard(asked: Iterable[Read]) -> dict[Read, StoreError]:
    """What each read says; whatever is no error of the store comes out here."""
    found = {}
    for read in asked:
        try:
            await read()
        except StoreError as error:
            found[read] = error
    return found


@contextmanager
def spoilt_cells(workspace: Path, cell: Cell, text: str) -> Iterator[None]:
    """Put a text into every row of a column, and take it out again."""
    table, column = cell
    with closing(sqlite3.connect(workspace, isolation_level=None)) as file:
        (before,) = file.execute(f"SELECT {column} FROM {table}").fetchone()
        file.execute(f"UPDATE {table} SET {column} = ?", [text])
        yield
        file.execute(f"UPDATE {table} SET {column} = ?", [before])


async def met(workspace: Path, asked: tuple[Read, ...], others: Iterable[str]) -> set[Cell]:
    """The cells that any of these reads looks at, after each has told every text that stands there in a sentence.

    Who looks at a cell says so of broken JSON; only those have to read the `others`.
    """
    looked_at = set()
    for cell in sorted(CELLS):
        with spoilt_cells(workspace, cell, BROKEN):
            told = await heard(asked)
        assert all(ROW.search(error.message) for error in told.values()), (cell, told)
        if any(f"{cell[1]} of {cell[0]}, row " in error.message for error in told.values()):
            looked_at.add(cell)
        for text in others if told else ():
            with spoilt_cells(workspace, cell, text):
                again = await heard(told)
            assert again.keys() == told.keys() or text in OTHERWISE, (cell, text[:9])
            assert all(ROW.search(error.message) for error in again.values()), (cell, again)
    return looked_at


async def test_whatever_stands_in_a_cell_a_read_answers_or_says_which(store: SqliteStore, workspace: Path) -> None:
    asked = await reads(store, await fill_every_table(store))
    assert await heard(asked) == {}
    assert await met(workspace, asked, (*NO_JSON, *OTHERWISE)) == CELLS


async def test_whatever_stands_in_a_cell_a_write_goes_through_or_says_which(
    store: SqliteStore, workspace: Path
) -> None:
    asked = await writes(store, await fill_every_table(store))
    found = await met(workspace, asked, ("5", '{"tool": 5}'))
    assert {("server_listings", "listing"), ("batches", "request")} <= found
