"""Workspace files for tests: servers, cases, tools, outcomes of runs, and SQL dumps of older versions.

`python -m tests.support.workspace_files WORKSPACE > tests/data/workspace_version_N.sql` keeps one.
"""

import json
import sqlite3
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_tef.model.answers import ActualCall, Answer, ConfidenceSource, RankedTool
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall, TestCase
from mcp_tef.model.comparison import Judgement
from mcp_tef.model.ids import ServerId, SnapshotId, ToolCallId, new_id
from mcp_tef.model.runs import Batch, BatchRequest, FailureInfo, PlannedRun, RunResult, RunStatus
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    PastVerdict,
    RejudgeReason,
    Verdict,
    VerdictKind,
)
from mcp_tef.ports import Store
from mcp_tef.storage.workspace_identity import WITHOUT_ID
from mcp_tef.trust.own_workspaces import WorkspaceRecord, log_number, record

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Filled:
    """A batch in a store, with its cases and planned runs."""

    cases: tuple[TestCase, ...]
    batch: Batch
    runs: tuple[PlannedRun, ...]


def http(name: str, **changes: Any) -> ServerSpec:
    """A server at an address of its own."""
    return ServerSpec(
        **{"name": name, "transport": Transport.STREAMABLE_HTTP, "url": f"http://{name}.test/mcp", **changes}
    )


def draft(name: str = "find it", tool: str | None = "search", server: str = "docs", **changes: Any) -> CaseDraft:
    """A case that expects one tool of one server, or none."""
    expectation = Expectation(((ExpectedCall(tool=tool, server=server),),)) if tool else Expectation()
    return CaseDraft(
        **{"name": name, "query": f"Please {name}", "expectation": expectation, "servers": (server,), **changes}
    )


def tool(name: str = "search", server: str = "docs", description: str = "Looks for words.") -> Tool:
    """A tool with one parameter, and a field of its vendor."""
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    raw = {"name": name, "description": description, "inputSchema": schema, "x-vendor": {"cost": 1}}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def offered(*tools: Tool) -> tuple[OfferedTool, ...]:
    """Tools under their own names."""
    return tuple(OfferedTool(item.name, item) for item in tools)


def right(run: PlannedRun, snapshot: SnapshotId | None = None, **changes: Any) -> RunResult:
    """The run picked the expected tool."""
    answer = Answer(
        calls=(ActualCall(tool="search", server="docs", arguments={"query": "retry"}),),
        words="I will look for it.",
        confidence=0.9,
        confidence_source=ConfidenceSource.SELF_REPORTED,
        raw_request={"messages": [{"role": "user", "content": "Please find it"}]},
        raw_response={"id": "chatcmpl-1"},
        tokens_in=100,
        tokens_out=20,
        cost_usd=0.002,
        ranking=(RankedTool("search", 0.8125),),
    )
    verdict = Verdict(
        classification=Classification.TP,
        kind=VerdictKind.MATCH,
        explanation="Selected search on docs, as expected.",
        matches=(CallMatch(expected=0, actual=0, completeness=1.0, correctness=1.0, type_conformance=True),),
        completeness=1.0,
        correctness=1.0,
        type_conformance=True,
        parameters_ok=True,
        confidence_category=ConfidenceCategory.ROBUST,
    )
    outcome: dict[str, Any] = {
        "run_id": run.id,
        "status": RunStatus.COMPLETED,
        "snapshot_id": snapshot,
        "answer": answer,
        "verdict": verdict,
        "execution_time_ms": 412,
    }
    return RunResult(**(outcome | changes))


def nothing_picked(run: PlannedRun, confidence: float | None = None) -> RunResult:
    """The run picked no tool where one was expected."""
    return RunResult(
        run_id=run.id,
        status=RunStatus.COMPLETED,
        answer=Answer(calls=(), confidence=confidence),
        verdict=Verdict(classification=Classification.FN, kind=VerdictKind.NO_TOOL, explanation="Selected no tool."),
        execution_time_ms=5,
    )


def gone_wrong(run: PlannedRun) -> RunResult:
    """The provider did not answer the run."""
    return RunResult(
        run_id=run.id,
        status=RunStatus.FAILED,
        failure=FailureInfo("model_timeout", "The model did not answer within 30 seconds.", "Try again."),
    )


async def fill(store: Store, drafts: Sequence[CaseDraft] = (), **request: Any) -> Filled:
    """Register the server docs where it is missing, add cases, and plan a batch of them."""
    if not any(server.name == "docs" for server in await store.servers.all()):
        await store.servers.add(http("docs"))
    cases = await store.cases.add(drafts or (draft(),))
    batch, runs = await store.runs.create_batch(BatchRequest(**request), cases)
    return Filled(cases, batch, runs)


def judged_again(run: PlannedRun) -> Judgement:
    """The same verdict once more, with what was there before."""
    verdict = right(run).verdict
    assert verdict is not None
    expectation = draft().expectation
    past = PastVerdict(
        verdict=verdict, expectation=expectation, replaced_at=NOON, reason=RejudgeReason.EXPECTATION_CHANGED
    )
    return Judgement(run_id=run.id, verdict=verdict, expectation=expectation, expected_rank=1, past=past)


def tool_call(server: ServerId) -> ToolCall:
    """A call by hand that was sent."""
    return ToolCall(
        id=ToolCallId(new_id()),
        server_id=server,
        server="docs",
        tool="search",
        arguments={"query": "retry"},
        asked_at=NOON,
        status=ToolCallStatus.SENT,
    )


async def run_all(store: Store, runs: Iterable[PlannedRun], *tools: Tool) -> SnapshotId:
    """Let every run see the tools and pick the right one."""
    planned = list(runs)
    snapshot = await store.runs.save_snapshot(offered(*(tools or (tool(),))), planned[0].id)
    await store.runs.finish([right(run, snapshot) for run in planned])
    return snapshot


def rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """What the file itself holds, read past the store."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def change(path: Path, *statements: str) -> None:
    """Change the file past the store, as another program would; foreign keys are on."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        for statement in statements:
            connection.execute(statement)


def spoil_page_of(path: Path, table: str) -> None:
    """Fill a page in the middle of a table with zeros."""
    pages = rows(path, f"SELECT pageno FROM dbstat WHERE name = '{table}' AND pagetype = 'leaf' ORDER BY path")
    page = pages[len(pages) // 2][0]
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(bytes(PAGE))


TOOLS: tuple[Mapping[str, Any], ...] = (
    {
        "name": "weather_report",
        "description": "What the weather is like in a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    {
        "name": "train_times",
        "description": "When trains leave from a station.",
        "inputSchema": {"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]},
    },
)


def tools_file(folder: Path) -> Path:
    """The tools, as a server would list them."""
    return written(folder / "tools.json", {"tools": TOOLS})


def case(query: str, expected: Any, *, server: str = "city", suite: str = "Journey") -> dict[str, Any]:
    """One case in our own form."""
    return {"name": query, "query": query, "servers": [server], "expected": expected, "suites": [suite]}


def case_file(folder: Path, cases: Sequence[Mapping[str, Any]]) -> Path:
    """The cases as a JSON file."""
    return written(folder / "cases.json", {"version": 1, "cases": cases})


def written(file: Path, value: Any) -> Path:
    """The file, with the value as JSON."""
    file.write_text(json.dumps(value), "utf-8")
    return file


def weather(number: int) -> dict[str, Any]:
    """A case whose right answer is the weather tool, whatever its city."""
    return case(f"weather report {number}", [{"tool": "weather_report"}])


VERSION_8 = Path(__file__).parents[1] / "data" / "workspace_version_8.sql"
PAGE = 4096
PRAGMAS = ("application_id", "user_version")


def dumped(path: Path) -> str:
    """The whole file as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        pragmas = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in PRAGMAS]
        return "\n".join([*connection.iterdump(), *pragmas, ""])


def loaded(dump: Path, path: Path, *, own: bool = True) -> None:
    """Make a file of SQL text; one of this user's own."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text("utf-8"))
    if own:
        made_own(path)


def made_own(path: Path) -> Path:
    """Have a copied workspace count as one that this user made here, with the log beside it."""
    one = WorkspaceRecord(WITHOUT_ID)
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection,
        suppress(sqlite3.DatabaseError),
    ):
        ((workspace, generation),) = connection.execute("SELECT id, generation FROM workspace_identity")
        one = WorkspaceRecord(workspace, (generation,), log_number(path))
    record(path, one)
    return path


def a_workspace(folder: Path) -> Path:
    """A database in a folder, under the name that workspaces have."""
    file = folder / "work.mcp-tef"
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE kept (word TEXT)")
    return file


if __name__ == "__main__":
    sys.stdout.write(dumped(Path(sys.argv[1])))


def written_tools(folder: Path, descriptions: Mapping[str, str]) -> Path:
    """A tools file of tools that take a text, by name and description."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = [{"name": name, "description": text, "inputSchema": schema} for name, text in descriptions.items()]
    file = folder / "written_tools.json"
    file.write_text(json.dumps({"tools": tools}), "utf-8")
    return file
