"""A tool of one's own from its first words to calls by strangers' clients, at the command line."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import Tool

from tests.support.command_line import ROOT, command, say
from tests.support.real_servers import inspector
from tests.support.workspace_files import written

SECONDS = 120
TOKEN = "a-token-of-the-journey-0123456789"
WORDS = {"type": "object", "properties": {"words": {"type": "string", "description": "What to look for."}}}
SCHEMA = {**WORDS, "required": ["words"]}
FIRST = {"name": "find_events", "description": "Look things up in town.", "inputSchema": SCHEMA}
BETTER = (
    "Find upcoming events in town by words: concerts, markets and meetings of this week or weekend. "
    "For past events, use search_archive."
)
LOOK_ALIKES = [
    {"name": "search_archive", "description": "Search past events in town: concerts, markets and meetings."},
    {"name": "find_books", "description": "Find books of the town library by words."},
]
QUERIES = (
    "Which concerts are there this weekend?",
    "Is there a market in town this week?",
    "When are the upcoming meetings of the council?",
)


def picked() -> int:
    """Evaluate every case offline; the number of runs that picked the tool."""
    ran = say("run", "--model", "offline/words", "--json")
    assert ran.code in (0, 1), ran.err
    assert len(ran.document["runs"]) == len(QUERIES)
    return sum(run["classification"] == "TP" for run in ran.document["runs"])


def done(*arguments: str | Path) -> Any:
    """The document of a command that succeeds."""
    said = say(*arguments, "--json")
    assert said.code == 0, said.err + said.out
    return said.document


def inspected(*arguments: str) -> Any:
    """The answer of the Inspector's command line."""
    told = subprocess.run([*inspector(), *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert told.returncode == 0, told.stderr + told.stdout
    return json.loads(told.stdout)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the library over HTTP; its process has ended afterwards."""
    token = folder / "token"
    token.write_text(TOKEN, "utf-8")
    words = command("library", "serve", "--http", "0", "--token-file", token)
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stderr is not None
        try:
            yield serving.stderr.readline().strip()
        finally:
            serving.terminate()
            serving.communicate(timeout=SECONDS)


async def called(workspace: Path) -> tuple[list[Tool], Any]:
    """The tools that a client of the SDK lists, and its answer of the first."""
    program, *rest = command("library", "serve", "--workspace", workspace)
    async with Client(StdioServerParameters(command=program, args=rest, cwd=ROOT)) as client:
        tools = (await client.list_tools()).tools
        return tools, (await client.call_tool(tools[0].name, {"words": "band"})).structured_content


@pytest.mark.timeout(600)
def test_from_first_words_to_a_call_by_strangers_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = tmp_path / "town.db"
    monkeypatch.setenv("DATABASE_URL", str(workspace))
    answer = written(tmp_path / "answer.json", {"answer": {"events": ["Brass band, Saturday"], "for": "{words}"}})
    done("library", "add", written(tmp_path / "tool.json", FIRST), "--config", answer)
    assert done("library", "run", "find_events", '{"words": "music"}')["output"]["for"] == "music"

    look_alikes = [{**tool, "inputSchema": SCHEMA} for tool in LOOK_ALIKES]
    done("servers", "add", "town", "--tools-file", written(tmp_path / "town.json", {"tools": look_alikes}))
    for query in QUERIES:
        done("cases", "add", query, "--server", "Library", "--tool", "find_events")
    assert picked() < len(QUERIES)

    text = tmp_path / "better.md"
    text.write_text(BETTER, "utf-8")
    done("draft", "new", "Clearer", "--server", "Library")
    done("draft", "set", "Clearer", "find_events", "--description", text)
    assert done("library", "import", "--draft", "Clearer", "--replace")["changed"] == ["find_events"]
    assert picked() == len(QUERIES)

    assert done("library", "activate", "find_events")["tools"][0]["version"] == 2
    (tool,), answer = asyncio.run(called(workspace))
    assert (tool.name, tool.description, tool.input_schema) == ("find_events", BETTER, SCHEMA)
    assert answer["for"] == "band"
    with served(tmp_path) as address:
        over_http = (address, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}")
        (same,) = inspected(*over_http, "--method", "tools/list")["tools"]
        assert (same["name"], same["description"], same["inputSchema"]) == ("find_events", BETTER, SCHEMA)
        call = ("--method", "tools/call", "--tool-name", "find_events", "--tool-arg", "words=band")
        assert inspected(*over_http, *call)["structuredContent"]["for"] == "band"
    callers = {one["caller_id"] for one in done("library", "history", "find_events")["executions"]}
    assert len(callers) == 3, "the command line, the client of the SDK and the Inspector"
