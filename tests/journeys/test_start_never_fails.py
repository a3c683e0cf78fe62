"""Whatever has become of the workspace: one sentence and an exit code, or a fresh one with the old one set aside."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import Said, say
from tests.support.processes import read_only
from tests.support.workspace_files import change


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a workspace in which something was run."""
    made = tmp_path / "ours"
    made.mkdir()
    for arguments in (
        ("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path)),
        ("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)])),
        ("run",),
    ):
        assert say(*arguments, "--workspace", made / "work.db").code in (0, 1)
    return made


@pytest.fixture
def locked(folder: Path) -> Iterator[None]:
    """Another program is writing into the workspace, and does not end."""
    with closing(sqlite3.connect(folder / "work.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def listed(path: Path) -> Said:
    """What is said about the runs of a workspace."""
    return say("runs", "list", "--workspace", path, "--json")


def refused(said: Said, code: str, words: str) -> None:
    """Nothing was done, for a reason that is named."""
    assert (said.code, said.error["code"]) == (3, code)
    assert words in said.error["message"]
    assert said.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    with read_only(folder):
        for name in ("work.db", "new.db"):
            said = say("servers", "remove", "city", "--workspace", folder / name, "--json")
            refused(said, "workspace_not_writable", f"{name} cannot be opened or written")
    assert len(listed(folder / "work.db").document["runs"]) == 1


def test_a_folder_in_the_place_of_a_workspace_is_named(folder: Path) -> None:
    refused(listed(folder), "workspace_not_writable", "cannot be opened or written")


def test_a_workspace_that_another_program_writes_is_read_and_named_to_those_who_write(
    folder: Path, locked: None
) -> None:
    assert len(listed(folder / "work.db").document["runs"]) == 1
    said = say("servers", "remove", "city", "--yes", "--workspace", folder / "work.db", "--json")
    refused(said, "workspace_locked", "work.db is locked by another program")


def test_a_workspace_of_a_newer_version_is_refused_and_left_as_it_is(folder: Path) -> None:
    change(folder / "work.db", "PRAGMA user_version = 999")
    before = (folder / "work.db").read_bytes()
    refused(listed(folder / "work.db"), "workspace_too_new", "was written by a newer mcp-tef")
    assert (folder / "work.db").read_bytes() == before


def test_a_workspace_that_was_cut_off_is_refused_until_it_is_to_be_recovered(folder: Path) -> None:
    whole = (folder / "work.db").read_bytes()
    (folder / "work.db").write_bytes(whole[: len(whole) // 2])
    for verb in (("runs", "list"), ("run",)):
        said = say(*verb, "--workspace", folder / "work.db", "--json")
        refused(said, "workspace_damaged", "The workspace work.db is damaged.")
        assert "add --recover" in said.error["hint"]
    assert [file.name for file in folder.iterdir()] == ["work.db"]
    said = say("runs", "list", "--workspace", folder / "work.db", "--recover", "--json")
    assert (said.code, said.document["runs"]) == (0, [])
    (aside,) = folder.glob("work.db.damaged-*")
    assert f"It was set aside as {aside.name}" in said.err
    assert aside.read_bytes() == whole[: len(whole) // 2]


def test_recovering_leaves_a_sound_workspace_as_it_is(folder: Path) -> None:
    said = say("runs", "list", "--workspace", folder / "work.db", "--recover", "--json")
    assert (said.code, len(said.document["runs"])) == (0, 1)
    assert [file.name for file in folder.iterdir()] == ["work.db"]
