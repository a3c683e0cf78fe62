"""What other processes do to a workspace is published here as events, and their batches end with them."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef import (
    BatchEnded,
    BatchesChanged,
    BatchId,
    BatchProgressed,
    BatchStarted,
    BatchStatus,
    CasesChanged,
    DefinitionsChanged,
    DraftsChanged,
    Engine,
    Event,
    LibraryChanged,
    RunEnded,
    ServersChanged,
)
from mcp_tef.storage.foreign_changes import _STAMPS
from mcp_tef.storage.schema import SCHEMA
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.other_processes import _EVENTS
from tests.support.library_designs import answering
from tests.support.workspace_files import draft, fill, http, right, tools_file

CHILD = """
import asyncio, sys
from pathlib import Path
from mcp_tef.storage.store import open_store
from tests.support.library_designs import answering
from tests.support.workspace_files import fill, right

async def main():
    store = await open_store(Path(sys.argv[1]))
    filled = await fill(store, repeats=2)
    await store.runs.finish([right(filled.runs[0])])
    print(filled.batch.id, flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""
ROOT = Path(__file__).parents[3]


class Watched:
    """An open workspace whose events are kept from one look to the next."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.heard: list[Event] = []
        engine.subscribe(self.heard.append)

    async def look(self) -> Sequence[Event]:
        """What a look publishes."""
        self.heard.clear()
        await self.engine.other_processes.look()
        return list(self.heard)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """A workspace with a case and a server, looked at once."""
    async with await Engine.open(tmp_path / "work.db") as engine:
        await engine.servers.add(http("docs"))
        await engine.cases.add([draft("first", tool=None, servers=())])
        made = Watched(engine)
        assert await made.look() == []
        yield made


async def change_tags(other: Engine) -> None:
    case = (await other.cases.list())[0]
    await other.cases.edit(case.id, replace(case.draft, tags=("new",)))


async def add_suite(other: Engine) -> None:
    case = (await other.cases.list())[0]
    await other.cases.edit(case.id, replace(case.draft, suites=("Smoke",)))


async def change_server(other: Engine) -> None:
    server = await other.servers.find("docs")
    await other.servers.edit(server.id, replace(server.spec, project="elsewhere"))


async def add_draft(other: Engine) -> None:
    await other.drafts.new("Shorter", tools_file=str(tools_file(other.workspace.parent)))


async def add_prompt(other: Engine) -> None:
    built_in = (await other.prompts.list())[0]
    await other.prompts.add(replace(built_in, name="Terse", version=1))


async def add_tool(other: Engine) -> None:
    await other.library.add(answering())


ACTIONS: dict[str, tuple[Callable[[Engine], Awaitable[object]], type[object]]] = {
    "a case with other tags": (change_tags, CasesChanged),
    "a case in a suite": (add_suite, CasesChanged),
    "a new case": (lambda other: other.cases.add([draft("second", tool=None, servers=())]), CasesChanged),
    "a server": (change_server, ServersChanged),
    "a draft": (add_draft, DraftsChanged),
    "a prompt": (add_prompt, DefinitionsChanged),
    "a tool of the library": (add_tool, LibraryChanged),
}


@pytest.mark.parametrize("what", ACTIONS)
async def test_a_change_is_published_once_as_one_of_its_kind(watched: Watched, what: str) -> None:
    act, kind = ACTIONS[what]
    async with await Engine.open(watched.engine.workspace) as other:
        await act(other)
        heard = await watched.look()
        assert kind in {type(event) for event in heard}
        assert await watched.look() == []


async def test_own_changes_are_not_published_again(watched: Watched) -> None:
    for act, _ in ACTIONS.values():
        await act(watched.engine)
    assert await watched.look() == []


PARTS = {
    "server_listings", "test_case_mcp_servers", "test_case_tags", "suite_test_cases", "draft_steps",
    "library_versions", "library_executions", "server_contacts", "workspace_identity",
    "model_settings", "snapshots", "snapshot_tools", "test_runs", "tool_definitions", "evaluation_results",
    "fact_keys", "tool_names", "run_facts",
}  # fmt: skip
"""Tables whose rows belong to rows of others, are read when they are needed, or come with events of their batch."""


def test_every_table_is_compared_or_part_of_one_that_is() -> None:
    tables = set(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
    compared = {name for sql in _STAMPS.values() for name in re.findall(r"\b(?:FROM|JOIN) (\w+)", sql)}
    assert tables - PARTS == compared - PARTS
    assert set(_STAMPS) - {"batches"} == set(_EVENTS)


async def test_a_batch_of_another_process_is_followed_to_its_end(watched: Watched) -> None:
    path, runs = watched.engine.workspace, watched.engine.runs
    other = await open_store(path)
    filled = await fill(other, repeats=2)
    assert BatchStarted in {type(event) for event in await watched.look()}
    assert [(one.id, one.elsewhere) for one in await runs.batches()] == [(filled.batch.id, True)]
    await other.runs.finish([right(filled.runs[0])])
    heard = await watched.look()
    assert [event.run.id for event in heard if isinstance(event, RunEnded)] == [filled.runs[0].id]
    assert [event.done for event in heard if isinstance(event, BatchProgressed)] == [1]
    await other.runs.finish([right(filled.runs[1])])
    await other.runs.set_batch_status(filled.batch.id, BatchStatus.COMPLETED)
    heard = await watched.look()
    assert [event.run.id for event in heard if isinstance(event, RunEnded)] == [filled.runs[1].id]
    assert [event.batch.status for event in heard if isinstance(event, BatchEnded)] == [BatchStatus.COMPLETED]
    assert await watched.look() == []
    await other.close()


async def test_a_batch_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(path), stdin=pipe, stdout=pipe, cwd=ROOT
    )
    assert child.stdout is not None
    batch = BatchId((await child.stdout.readline()).decode().strip())
    async with await Engine.open(path) as engine:
        watched = Watched(engine)
        await watched.look()
        assert (await engine.runs.batch(batch)).elsewhere
        assert await watched.look() == []
        child.kill()
        await child.wait()
        (ended,) = [event for event in await watched.look() if isinstance(event, BatchEnded)]
        assert (ended.batch.id, ended.batch.status) == (batch, BatchStatus.INTERRUPTED)
        assert ended.batch.counts["TP"] == 1
        assert await watched.look() == []


async def test_a_batch_that_began_and_ended_between_two_looks_is_there(watched: Watched) -> None:
    other = await open_store(watched.engine.workspace)
    filled = await fill(other)
    await other.runs.finish([right(filled.runs[0])])
    await other.runs.set_batch_status(filled.batch.id, BatchStatus.COMPLETED)
    assert BatchesChanged((filled.batch.id,)) in await watched.look()
    await other.close()
