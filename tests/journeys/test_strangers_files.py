"""A workspace, a config and a batch from somebody else start nothing, contact nothing and get no key unasked."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.model.addresses import origin_of
from tests.support import isolation, workspace_files
from tests.support.command_line import Said, say, say_allowed
from tests.support.model_stub import ModelStub
from tests.support.telling_server import TellingWeb, program

KEY = "planted/of+the.model~7c41e9"
TOKEN = "planted/of+a.server~55d0aa"
EVIL = "https://evil.example/v1"


@pytest.fixture
def started(tmp_path: Path) -> Path:
    """A file that gets a line each time that the stranger's program is started."""
    return tmp_path / "started"


@pytest.fixture
def theirs(home: Path, tmp_path: Path, started: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that somebody else made and allowed; from then on, HOME is the user's own."""
    isolation.move_in(monkeypatch, tmp_path / "their-home")
    workspace = tmp_path / "theirs.db"
    assert do(workspace, *adding(started), "--yes").code == 0
    for name in ("check", "tools"):
        assert do(workspace, "servers", name, "shop").code == 0
    case = workspace_files.case("weather report 1", [{"tool": "weather_report"}], server="shop")
    assert do(workspace, "cases", "import", workspace_files.case_file(tmp_path, [case])).code == 0
    isolation.move_in(monkeypatch, home)
    return adopted(Path(shutil.copy(workspace, tmp_path / "copy.db")))


def adopted(stranger: Path) -> Path:
    """The copy that is the user's own, of a workspace that only can be read."""
    said = say("cases", "add", "x", "--no-tool", "--workspace", stranger, "--json")
    assert (said.code, said.error["code"]) == (2, "workspace_foreign"), said
    said = say("workspace", "adopt", stranger, "--json")
    assert said.code == 0, said.err
    return Path(said.document["workspace"])


def adding(started: Path) -> list[str]:
    """The command that registers a program which leaves a line in `started`."""
    inner = " ".join(f"'{part}'" for part in program("tools"))
    arguments = ("-c", f"echo run >> '{started}'; exec {inner}")
    return ["servers", "add", "shop", "--command", "/bin/sh", *(f"--arg={text}" for text in arguments)]


def do(workspace: Path, *arguments: str | Path) -> Said:
    """Run a command on a workspace."""
    return say(*arguments, "--workspace", workspace)


def count(started: Path) -> int:
    """How often the program was started."""
    return len(started.read_text().splitlines())


def change(workspace: Path, statement: str, *values: Any) -> None:
    """Change a workspace as a stranger could."""
    with closing(sqlite3.connect(workspace)) as database, database:
        assert database.execute(statement, values).rowcount > 0


STARTING = (
    ("servers", "check", "shop"),
    ("servers", "tools", "shop"),
    ("servers", "call", "shop", "weather_report"),
    ("run",),
    ("quality", "--server", "shop"),
    ("similarity", "--server", "shop"),
    ("recommend", "--server", "shop"),
    ("overlap", "--server", "shop"),
)


def test_no_verb_starts_a_program_that_another_user_allowed(theirs: Path, started: Path) -> None:
    before = count(started)
    for verb in STARTING:
        said = do(theirs, *verb, "--json")
        assert (verb, said.code, said.error["code"]) == (verb, 2, "consent_needed")
        assert "shop" in said.error["message"], verb
        assert "/bin/sh" in said.error["message"], verb
        assert count(started) == before, verb


def test_an_answer_is_for_this_command_or_remembered_and_then_also_for_copies(
    theirs: Path, started: Path, tmp_path: Path
) -> None:
    before = count(started)
    said = do(theirs, "servers", "check", "shop", "--yes")
    assert (said.code, "Add --yes" in said.err) == (2, False), "nobody typed that program in this command"
    assert count(started) == before
    assert do(theirs, "servers", "check", "shop").code == 2
    assert do(theirs, "servers", "check", "shop", "--allow-program", "/bin/sh").code == 0
    assert do(theirs, "servers", "check", "shop").code == 2
    mine = tmp_path / "mine.db"
    assert do(mine, *adding(started), "--yes").code == 0
    moved = tmp_path / "elsewhere" / "moved.db"
    moved.parent.mkdir()
    shutil.move(mine, moved)
    assert do(moved, "servers", "check", "shop").code == 0
    for workspace in (Path(shutil.copy(moved, tmp_path / "again.db")), theirs):
        assert do(workspace, "servers", "check", "shop").code == 0


def test_a_build_names_the_very_definition_that_it_allows(theirs: Path) -> None:
    hint = do(theirs, "servers", "check", "shop", "--json").error["hint"]
    option = hint.split("--allow-program ")[1].split()[0].rstrip(".")
    assert do(theirs, "servers", "check", "shop", "--allow-program", option).code == 0
    other = ("--allow-program", "0" * 16)
    assert do(theirs, "servers", "check", "shop", *other).code == 2


@pytest.fixture
def batch(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, ModelStub]]:
    """A workspace of somebody else with a failed batch of openai at a stored address, and the model there."""
    isolation.move_in(monkeypatch, tmp_path / "their-home")
    workspace = tmp_path / "batch.db"
    do(workspace, "servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    do(workspace, "cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]))
    with ModelStub() as stub:
        url = "http://127.0.0.1:9/v1"
        said = do(workspace, "run", "--model", "openai/stub", "--base-url", url, "--retries", "0")
        assert said.code == 3
        isolation.move_in(monkeypatch, home)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("GITHUB_API_KEY", TOKEN)
        yield workspace_files.made_own(workspace), stub


@pytest.mark.parametrize("verb", ["retry", "resume"])
def test_a_stored_address_gets_no_key_unasked(batch: tuple[Path, ModelStub], verb: str) -> None:
    workspace, _ = batch
    if verb == "resume":
        change(workspace, "UPDATE test_runs SET status = 'cancelled', error_code = NULL, classification = NULL")
    change(workspace, "UPDATE model_settings SET base_url = ?", EVIL)
    said = do(workspace, "runs", verb, "--json")
    assert (said.code, said.error["code"]) == (2, "consent_needed")
    assert "OPENAI_API_KEY would be sent to https://evil.example" in said.error["message"]
    assert "--allow-origin OPENAI_API_KEY=https://evil.example" in said.error["hint"]
    assert KEY not in said.out + said.err


def test_an_unknown_provider_cannot_name_another_variable(batch: tuple[Path, ModelStub]) -> None:
    workspace, _ = batch
    change(workspace, "UPDATE model_settings SET base_url = ?, provider = 'github'", EVIL)
    said = do(workspace, "runs", "retry", "--json")
    assert said.code == 2
    assert "GITHUB_API_KEY would be sent to https://evil.example" in said.error["message"]


def test_a_stored_address_of_this_machine_is_asked_about_and_gets_no_key_unless_that_is_named(
    batch: tuple[Path, ModelStub],
) -> None:
    workspace, stub = batch
    change(workspace, "UPDATE model_settings SET base_url = ?", stub.url)
    assert (do(workspace, "runs", "retry").code, stub.requests) == (2, [])
    assert do(workspace, "runs", "retry", "--allow-origin", origin_of(stub.url)).code == 0
    assert [KEY in str(request.headers) for request in stub.requests] == [False]
    change(workspace, "UPDATE test_runs SET status = 'failed', error_code = 'provider_error', classification = NULL")
    option = ("--allow-origin", f"OPENAI_API_KEY={origin_of(stub.url)}")
    assert do(workspace, "runs", "retry", *option).code == 0
    assert [request.key for request in stub.requests][1:] == [KEY]


def test_a_config_gets_no_variable_unasked_and_names_all_that_it_wants(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    workspace = tmp_path / "w.db"
    with TellingWeb() as web:
        url = f"{web.url}?q=${{env:QUERY:-default}}"
        server = {"url": url, "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"}}
        config = workspace_files.written(
            tmp_path / ".mcp.json", {"mcpServers": {"web": server, "plain": {"url": web.url}}}
        )
        assert do(workspace, "servers", "import", config).code == 0
        for name in ("web", "plain"):
            said = do(workspace, "servers", "check", name, "--json")
            assert (said.code, said.error["code"]) == (2, "consent_needed")
        assert web.heard == []
        message = do(workspace, "servers", "check", "web", "--json").error["message"]
        assert all(word in message for word in ("GITHUB_TOKEN", "QUERY", origin_of(web.url)))
        assert say_allowed("servers", "check", "web", "--workspace", workspace).code == 3
        assert any(TOKEN in heard for heard in web.heard)
        change(workspace, "UPDATE mcp_servers SET headers = ? WHERE name = 'web'", json.dumps({"A": "${OTHER}"}))
        assert do(workspace, "servers", "check", "web").code == 2


def test_the_questions_are_few(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the questions that each way in asks: nobody can answer here, so each of them would end with exit 2."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    workspace = tmp_path / "w.db"
    do(workspace, "servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    do(workspace, "cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]))
    with ModelStub() as model, TellingWeb() as web:
        asked = {
            "sample": say("demo").code == 2,
            "stdio": do(workspace, "servers", "add", "own", "--command", sys.executable).code == 2,
            "local model": do(workspace, "run", "--model", "ollama/m", "--base-url", model.url).code == 2,
            "http": do(workspace, "servers", "add", "web", "--url", web.url).code == 2,
        }
        assert all(KEY not in str(request.headers) for request in model.requests)
    assert asked == {"sample": False, "stdio": True, "local model": False, "http": False}
