"""The workspaces that pictures are taken of: one empty, one full of work, one in trouble, one shut."""

import json
from dataclasses import replace
from pathlib import Path

from mcp_tef import (
    BatchRequest,
    CaseDraft,
    Engine,
    Expectation,
    ModelSettings,
    Secret,
    ServerSpec,
    TefError,
    Transport,
    expectation_from_json,
)
from tests.shots import library_states, routing_states
from tests.shots.answers import Answers
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import change

EMPTY, FULL, ERRORS, SHUT, LIBRARY, ROUTING = "empty", "full", "errors", "shut", "library", "routing"
ROOM = "room"
STATES = (EMPTY, FULL, ERRORS, SHUT, LIBRARY, ROUTING, ROOM)
TOOLS = Path(__file__).with_name("documents.json")
CASES: tuple[tuple[str, str, str | None], ...] = (
    ("A sentence in a contract", "Which of my contracts mentions a notice period of three months?", "search_files"),
    ("Where a function is called", "Where in the source is parse_invoice called?", "search_code"),
    ("A file by its name", "Find the file called budget-2026.xlsx.", "find_document"),
    ("Text of one file", "Show me what is in notes/meeting.md.", "read_document"),
    ("A regular expression", "Look for every place where we compile a regular expression.", "search_code"),
    ("Minutes of a meeting", "In which minutes did we speak about the new office?", "search_files"),
    ("What a folder holds", "What lies in the folder invoices/2026?", "list_folder"),
    ("A short version", "Give me the gist of report.pdf in five lines.", "summarise"),
    ("Small talk", "How was your weekend?", None),
)


async def prepare(folder: Path) -> None:
    """Make all of them, each in a folder of its own."""
    for state in STATES:
        (folder / state).mkdir(parents=True)
    engine = await Engine.open(workspace(folder, FULL))
    await _fill(engine, folder / FULL)
    await engine.close()
    engine = await Engine.open(workspace(folder, ERRORS))
    await _spoil(engine, folder / ERRORS)
    await engine.close()
    engine = await Engine.open(workspace(folder, LIBRARY))
    await library_states.fill(engine)
    await engine.close()
    engine = await Engine.open(workspace(folder, ROUTING))
    await routing_states.fill(engine)
    await engine.close()
    engine = await Engine.open(workspace(folder, ROOM))
    await _open_sample(engine, "reading-room")
    for server in await engine.servers.list():
        await engine.servers.tools(server.id)
    await _run(engine, BatchRequest(name="Baseline"))
    await engine.close()
    engine = await Engine.open(workspace(folder, SHUT))
    await engine.close()
    change(workspace(folder, SHUT), "PRAGMA user_version = 999")


def workspace(folder: Path, state: str) -> Path:
    """The file of a workspace."""
    return folder / state / "bike-shop.db"


async def _fill(engine: Engine, folder: Path) -> None:
    await _open_sample(engine)
    tools = folder / TOOLS.name
    tools.write_text(TOOLS.read_text("utf-8"), "utf-8")
    await engine.servers.add(ServerSpec(name="Documents", transport=Transport.FILE, path=str(tools)))
    await engine.cases.add([_case(*case) for case in CASES])
    for server in await engine.servers.list():
        await engine.servers.tools(server.id)
    with ModelStub(Answers(await engine.cases.list())) as stub:
        large, small = (
            ModelSettings(provider="openai", model=f"stub-{size}", base_url=stub.url, max_retries=0)
            for size in ("large", "small")
        )
        await _run(engine, BatchRequest(name="First look"))
        await _run(engine, BatchRequest(name="Small model", models=(small,)))
        await _run(
            engine, BatchRequest(name="Documents, three times", suites=("Documents",), models=(large,), repeats=3)
        )
        await _run(engine, BatchRequest(name="Sample, three times", suites=("Sample",), models=(large,), repeats=3))
        await _run(engine, BatchRequest(name="Everything", models=(large,)))
        await _run(engine, BatchRequest(name="Everything, new texts", models=(large,)))


async def _open_sample(engine: Engine, name: str = "bike-shop") -> None:
    """The sample, started by a command that says nothing of the machine on which pictures are taken."""
    await engine.open_sample(name)
    (server,) = await engine.servers.list()
    spec = replace(server.spec, command="python")
    await engine.consents.allow_server(spec)
    await engine.servers.edit(server.id, spec)


async def _spoil(engine: Engine, folder: Path) -> None:
    """Servers that cannot be reached in as many ways, one with a tool that is not one, and runs that failed."""
    half = folder / "half.json"
    half.write_text(json.dumps({"tools": [{"name": "ring", "inputSchema": {"type": "object"}}, {"name": 7}]}), "utf-8")
    absent = ServerSpec(name="Mail", transport=Transport.STDIO, command="mail-mcp-server", args=("--imap",))
    await engine.consents.allow_server(absent)
    specs = (
        absent,
        ServerSpec(name="Calendar", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1:9/mcp"),
        ServerSpec(name="Files", transport=Transport.STDIO, command="npx", args=("-y", "files-server", "/home")),
        ServerSpec(name="Bells", transport=Transport.FILE, path=str(half)),
    )
    for spec in specs:
        await engine.consents.add_typed_server(spec)
        server = await engine.servers.add(spec)
        if spec.name != "Files":
            try:
                await engine.servers.tools(server.id)
            except TefError:
                await engine.servers.check(server.id)
    drafts = [
        CaseDraft(name="Unread mail", query="Have I got new mail?", servers=("Mail",)),
        CaseDraft(name="Next appointment", query="When is my next appointment?", servers=("Calendar",)),
        CaseDraft(
            name="Sound the bell", query="Ring the bell.", servers=("Bells",), expectation=_expected("ring", "Bells")
        ),
    ]
    await engine.cases.add(drafts)
    await _run(engine, BatchRequest(name="Nothing answers"))


async def _run(engine: Engine, request: BatchRequest) -> None:
    for model in request.models:
        engine.consents.add_typed_address(model.provider, model.base_url or "")
    batch = await engine.runs.start(request, {"openai": Secret("sk-of-a-stub")})
    await engine.runs.wait(batch.id)


def _case(name: str, query: str, tool: str | None) -> CaseDraft:
    return CaseDraft(
        name=name, query=query, servers=("Documents",), suites=("Documents",), expectation=_expected(tool, "Documents")
    )


def _expected(tool: str | None, server: str) -> Expectation:
    return expectation_from_json([{"tool": tool, "server": server}] if tool else None)
