"""`servers import` and `servers discover`: what is added, changed and refused is said, and no secret is."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import ROOT, Said, say, say_allowed
from tests.support.configs import CLOCK, written

SECRET = "hush-4711-hush"


def config(folder: Path, **servers: Any) -> Path:
    return written(folder / "mcp.json", {"mcpServers": servers})


def names() -> list[str]:
    return [server["name"] for server in say("servers", "list", "--json").document["servers"]]


@pytest.fixture
def imported(tmp_path: Path) -> Said:
    settings = {**CLOCK, "env": {"API_KEY": SECRET, "ZONE": "${MY_ZONE}"}}
    return say("servers", "import", config(tmp_path, clock=settings, desk={"url": "https://desk.test/mcp"}))


def test_what_was_added_is_said_with_what_is_to_be_set(imported: Said) -> None:
    assert (imported.code, imported.err) == (0, "")
    assert imported.out.splitlines() == [
        "mcp.json is read as: MCP Inspector.",
        "Added clock: uvx mcp-server-time",
        "    A secret is written out in its variable API_KEY. Here it is ${API_KEY} and not kept.",
        "    Set before it is used: API_KEY, MY_ZONE.",
        "Added desk: https://desk.test/mcp",
        "2 added, 0 changed, 0 unchanged, 0 refused. Nothing was started.",
    ]
    assert names() == ["clock", "desk"]


def test_nothing_was_checked_and_nothing_was_agreed_to(imported: Said) -> None:
    servers = say("servers", "list", "--json").document["servers"]
    assert [server["status"] for server in servers] == ["inactive", "inactive"]
    said = say("servers", "check", "clock", "--json")
    assert (said.code, said.error["code"]) == (2, "consent_needed")


def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    said = say("servers", "import", config(tmp_path, clock=CLOCK), "--dry-run")
    assert "Would add clock: uvx mcp-server-time" in said.out
    assert said.out.endswith("Nothing was changed yet, since this was a dry run.\n")
    assert names() == []


def test_a_change_is_said_field_by_field(imported: Said, tmp_path: Path) -> None:
    file = config(tmp_path, clock={"command": "pipx", "args": ["run", "clock"]})
    said = say("servers", "import", file)
    assert "Changed clock: pipx run clock\n    command: uvx → pipx\n" in said.out
    assert SECRET not in said.out + said.err


def test_what_was_refused_is_said_with_the_reason_and_the_rest_comes_in(tmp_path: Path) -> None:
    said = say("servers", "import", config(tmp_path, clock=CLOCK, odd={}))
    assert said.code == 1
    assert said.err == "Refused odd (mcpServers › odd): It has neither a command nor an address.\n"
    assert names() == ["clock"]


def test_only_some_are_taken(tmp_path: Path) -> None:
    file = config(tmp_path, clock=CLOCK, odd={})
    assert say("servers", "import", file, "--only", "clock").code == 0
    said = say("servers", "import", file, "--only", "clok", "--json")
    assert (said.code, said.error["code"]) == (2, "not_found")


def test_the_document_holds_everything_but_the_secret(tmp_path: Path) -> None:
    settings = {**CLOCK, "env": {"API_KEY": SECRET}}
    said = say("servers", "import", config(tmp_path, clock=settings, odd=3), "--json")
    assert SECRET not in said.out + said.err
    document = said.document
    assert (document["format"], document["dry_run"], document["added"]) == ("inspector", False, ["clock"])
    assert document["refused"] == [
        {"server": "odd", "place": "mcpServers › odd", "reason": "It is not a list of settings."}
    ]
    [server] = document["servers"]
    assert server["command"] == ["uvx", "mcp-server-time"]
    assert (server["env"], server["needs"]) == (["API_KEY"], ["API_KEY"])
    assert server["secrets"] == [{"where": "variable API_KEY", "variable": "API_KEY"}]


def test_a_snippet_can_be_piped_in(tmp_path: Path) -> None:
    workspace = tmp_path / "w.db"
    said = say("servers", "import", "-", "--workspace", workspace, "--json", stdin='"clock": {"command": "uvx"}')
    assert (said.code, said.document["added"]) == (0, ["clock"])


@pytest.mark.parametrize(("content", "code"), [("{", "bad_input"), ("{}", "bad_input"), (None, "file_unreachable")])
def test_a_file_that_lists_no_servers_is_an_error(tmp_path: Path, content: str | None, code: str) -> None:
    file = tmp_path / "mcp.json" if content is None else written(tmp_path / "mcp.json", content)
    assert say("servers", "import", file, "--json").error["code"] == code


def test_configs_are_discovered_with_their_servers(home: Path, tmp_path: Path) -> None:
    written(home / ".cursor" / "mcp.json", {"mcpServers": {"clock": CLOCK, "odd": 3}})
    written(home / ".claude.json", "{")
    said = say("servers", "discover", "--project", tmp_path)
    assert said.code == 0
    assert [line.split() for line in said.out.splitlines()[2:5]] == [
        ["SERVER", "IMPORT", "WHERE"],
        ["clock", "new", "uvx", "mcp-server-time"],
        ["odd", "refused", "It", "is", "not", "a", "list", "of", "settings."],
    ]
    assert said.err == ".claude.json is not valid JSON at line 1.\n"
    document = say("servers", "discover", "--project", tmp_path, "--json").document
    assert [(one["title"], one.get("added"), "problem" in one) for one in document["configs"]] == [
        ("Claude Code", None, True),
        ("Cursor", ["clock"], False),
    ]
    assert names() == []


def test_where_there_is_no_config_that_is_said(tmp_path: Path) -> None:
    assert say("servers", "discover", "--project", tmp_path).out == "No config lists servers here.\n"


def test_another_place_drops_what_belonged_to_the_old_one(tmp_path: Path) -> None:
    say("servers", "import", config(tmp_path, clock={**CLOCK, "envFile": "/gone/.env"}))
    assert "/gone/.env" in say_allowed("servers", "check", "clock").err
    tools = written(tmp_path / "tools.json", [{"name": "now", "inputSchema": {"type": "object"}}])
    assert say("servers", "edit", "clock", "--tools-file", tools).code == 0
    said = say("servers", "edit", "clock", "--command", "no-such-program-of-ours", "--yes")
    assert "there is no program" in said.err


def test_an_imported_program_starts_after_consent_with_what_its_config_refers_to(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'#!/bin/sh\ncd "$SHOP_FOLDER" && exec "{sys.executable}" -m mcp_tef "$1"\n'
    program = written(home / ".local" / "bin" / "shop-of-ours", script)
    program.chmod(0o755)
    written(tmp_path / ".env", f"SHOP_FOLDER={ROOT}\n")
    settings = {"command": "shop-of-ours", "args": ["${input:verb}"], "envFile": "${workspaceFolder}/.env"}
    inputs = [{"id": "verb", "type": "promptString"}]
    file = written(tmp_path / ".vscode" / "mcp.json", {"inputs": inputs, "servers": {"shop": settings}})
    assert say("servers", "import", file, "--json").document["servers"][0]["needs"] == ["VERB"]
    unset = say_allowed("servers", "check", "shop")
    assert (unset.code, "needs the environment variable VERB" in unset.err) == (3, True)
    monkeypatch.setenv("VERB", "sample-server")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    said = say_allowed("servers", "check", "shop", "--json")
    assert (said.code, said.document["status"]) == (0, "active")
