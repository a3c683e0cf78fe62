"""Paths that a stranger wrote into a workspace: read only after a question, which one's own paths never bring."""

import shutil
from pathlib import Path

import pytest

from tests.support import isolation, workspace_files
from tests.support.command_line import Said, say


def do(workspace: Path, *words: str | Path) -> Said:
    """Run a command on a workspace, with nobody to ask."""
    return say(*words, "--workspace", workspace, "--json")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file of tools outside of every workspace's own folder."""
    return workspace_files.tools_file(tmp_path)


@pytest.fixture
def adopted(home: Path, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of somebody else with a server that is a file, which the user made his own."""
    isolation.move_in(monkeypatch, tmp_path / "their-home")
    theirs = tmp_path / "theirs.db"
    assert do(theirs, "servers", "add", "city", "--tools-file", tools).code == 0
    isolation.move_in(monkeypatch, home)
    return Path(say("workspace", "adopt", theirs, "--json").document["workspace"])


@pytest.mark.parametrize("verb", ["check", "tools"])
def test_a_path_that_a_stranger_wrote_is_read_only_once_it_is_allowed(adopted: Path, tools: Path, verb: str) -> None:
    workspace_files.change(adopted, "DELETE FROM server_listings")
    tools.unlink()  # so that it shows when it is looked for
    said = do(adopted, "servers", verb, "city", "--yes")
    assert (said.code, said.error["code"]) == (2, "consent_needed"), said
    assert str(tools) in said.error["message"]
    workspace_files.tools_file(tools.parent)
    option = said.error["hint"].split("--allow-program ")[1].split()[0].rstrip(".")
    assert do(adopted, "servers", verb, "city", "--allow-program", option).code == 0


def test_a_path_that_leads_elsewhere_by_now_is_another_one(adopted: Path, tools: Path, tmp_path: Path) -> None:
    hint = do(adopted, "servers", "check", "city").error["hint"]
    option = hint.split("--allow-program ")[1].split()[0].rstrip(".")
    shutil.move(tools, tmp_path / "moved.json")
    tools.symlink_to(tmp_path / "moved.json")
    assert do(adopted, "servers", "check", "city", "--allow-program", option).code == 2


def test_a_copy_and_a_restored_backup_of_it_ask_as_well(adopted: Path, tmp_path: Path) -> None:
    backup, restored = tmp_path / "backup.db", tmp_path / "restored.db"
    assert do(adopted, "workspace", "backup", backup).code == 0
    assert do(restored, "workspace", "restore", backup).code == 0
    for workspace in (backup, restored):
        assert do(workspace, "servers", "check", "city").code == 2


def test_ones_own_path_is_never_asked_about(adopted: Path, tools: Path, tmp_path: Path) -> None:
    for workspace in (tmp_path / "mine.db", adopted):
        assert do(workspace, "servers", "add", "typed", "--tools-file", tools).code == 0
        assert do(workspace, "servers", "check", "typed").code == 0
    own = adopted.with_name(f"{adopted.stem}-tools")
    own.mkdir()
    shutil.copy(tools, own / "tools.json")
    workspace_files.change(adopted, f"UPDATE mcp_servers SET path = '{own}/tools.json' WHERE name = 'city'")
    assert do(adopted, "servers", "check", "city").code == 0
