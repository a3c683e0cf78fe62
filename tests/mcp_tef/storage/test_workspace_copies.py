"""Copies and renames of a workspace are whole, with its tools files; impossible ones are refused."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path, PurePath

import pytest

from mcp_tef import CaseDraft, Engine, InputError, ServerSpec, StoreError, Transport, require_workspace
from mcp_tef.storage.store import open_store
from mcp_tef.storage.workspace_copies import rename_workspace, renamed_path, save_copy
from mcp_tef.trust.own_workspaces import tools_folder
from tests.support.file_obstacles import files_of_at_most
from tests.support.workspace_files import change, fill, http, rows, tools_file

COUNTS = (
    "SELECT (SELECT count(*) FROM mcp_servers), (SELECT count(*) FROM test_cases), (SELECT count(*) FROM test_runs)"
)
BFCL = {
    "id": "simple_0",
    "question": [[{"role": "user", "content": "Add 1 and 2"}]],
    "function": [{"name": "add", "description": "Add.", "parameters": {"type": "dict", "properties": {}}}],
    "ground_truth": [{"add": {}}],
}


def content_of(path: Path | str) -> bytes:
    """What a file holds."""
    return Path(path).read_bytes()


def names_in(folder: Path) -> list[str]:
    """The names in a folder."""
    return [file.name for file in folder.iterdir()]


async def test_a_copy_of_an_open_workspace_holds_what_is_in_its_journal_and_opens_by_itself(
    workspace: Path, tmp_path: Path
) -> None:
    store = await open_store(workspace)
    await fill(store, repeats=3)
    copy = tmp_path / "there" / "copy.db"
    save_copy(workspace, copy)
    assert rows(copy, COUNTS) == rows(workspace, COUNTS)
    await store.servers.add(http("later"))
    await store.close()
    again = await open_store(copy)
    assert "later" not in [server.name for server in await again.servers.all()]
    await again.close()
    assert names_in(copy.parent) == ["copy.db"]


async def test_tools_files_that_came_with_cases_belong_to_the_copy(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "a.db", environment={})
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps(BFCL), "utf-8")
    await engine.case_files.import_file(cases)
    (tmp_path / "b").mkdir()
    await engine.save_copy(tmp_path / "b" / "copy.db")
    (mine,) = await engine.servers.list()
    await engine.close()
    engine = await Engine.open(tmp_path / "b" / "copy.db", environment={})
    (its,) = await engine.servers.list()
    assert its.spec.path == str(tmp_path / "b" / "copy-tools" / PurePath(str(mine.spec.path)).name)
    assert content_of(str(its.spec.path)) == content_of(str(mine.spec.path))
    await engine.close()


async def with_tools(path: Path) -> None:
    """A workspace with a tools file that came with a case."""
    engine = await Engine.open(path, environment={})
    cases = path.with_suffix(".jsonl")
    cases.write_text(json.dumps(BFCL), "utf-8")
    await engine.case_files.import_file(cases)
    await engine.close()


async def test_tools_files_that_lie_where_those_of_a_copy_would_go_are_never_written_over(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    for path in (ours, theirs):
        await with_tools(path)
    (their_file,) = (tmp_path / "theirs-tools").iterdir()
    their_file.write_text("their own", "utf-8")
    before = content_of(theirs)
    with pytest.raises(StoreError, match=r"The folder theirs-tools is there already") as refused:
        save_copy(ours, theirs)
    assert refused.value.hint == "Use another name."
    assert (content_of(theirs), content_of(their_file)) == (before, b"their own")
    assert names_in(their_file.parent) == [their_file.name]


async def test_a_copy_that_fails_leaves_no_tools_files_behind_and_can_be_made_later(tmp_path: Path) -> None:
    ours, copy = tmp_path / "ours.db", tmp_path / "copy.db"
    await with_tools(ours)
    copy.mkdir()
    with pytest.raises(StoreError, match=r"copy\.db cannot be opened or written"):
        save_copy(ours, copy)
    assert not (tmp_path / "copy-tools").exists()
    copy.rmdir()
    save_copy(ours, copy)
    assert names_in(tmp_path / "copy-tools") == names_in(tmp_path / "ours-tools")


async def test_an_open_workspace_is_not_written_over(workspace: Path, tmp_path: Path) -> None:
    other = await open_store(tmp_path / "other.db")
    await other.servers.add(http("docs"))
    ours = await open_store(workspace)
    around, link = tmp_path / "not-there" / ".." / workspace.name, tmp_path / "link.db"
    link.symlink_to(workspace)
    journals = [workspace.with_name(f"{workspace.name}{ending}") for ending in ("-wal", "-shm")]
    for target in (tmp_path / "other.db", workspace, around, link, *journals):
        with pytest.raises(StoreError, match=r"The workspace \S+ is open"):
            save_copy(workspace, target)
    assert len(await other.servers.all()) == 1
    for store in (other, ours):
        await store.close()


async def test_a_copy_that_cannot_be_written_leaves_what_was_there(workspace: Path, tmp_path: Path) -> None:
    await (await open_store(workspace)).close()
    (tmp_path / "file").write_text("mine", "utf-8")
    with pytest.raises(StoreError, match=r"copy\.db cannot be opened or written"):
        save_copy(workspace, tmp_path / "file" / "copy.db")
    assert content_of(tmp_path / "file") == b"mine"


async def test_a_file_that_is_no_workspace_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    notes = tmp_path / "notes.yaml"
    notes.write_text("cases: []\n" * 10, "utf-8")
    with pytest.raises(StoreError, match=r"The file notes\.yaml is no workspace\."):
        await open_store(notes)
    assert content_of(notes) == b"cases: []\n" * 10
    assert names_in(tmp_path) == ["notes.yaml"]


async def test_a_look_tells_a_workspace_from_every_other_file_and_changes_nothing(
    workspace: Path, tmp_path: Path
) -> None:
    store = await open_store(workspace)
    foreign, newer, text = tmp_path / "foreign.db", tmp_path / "newer.db", tmp_path / "text.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    save_copy(workspace, newer)
    change(newer, "PRAGMA user_version = 999")
    text.write_text("cases: []\n" * 10, "utf-8")
    before = {file: content_of(file) for file in (foreign, newer, text)}
    for file, said in ((foreign, "another program"), (newer, "newer mcp-tef"), (text, "is no workspace")):
        with pytest.raises(StoreError, match=said):
            require_workspace(file)
        assert content_of(file) == before[file]
    require_workspace(workspace)
    require_workspace(tmp_path / "new.db")
    assert "new.db" not in names_in(tmp_path)
    await store.close()


async def filled(path: Path) -> None:
    """A workspace with a case, and with a server whose tools file belongs to it."""
    engine = await Engine.open(path, environment={})
    await engine.cases.add([CaseDraft(name="mine", query="Find it")])
    folder = tools_folder(path)
    folder.mkdir()
    await engine.servers.add(ServerSpec(name="tools", transport=Transport.FILE, path=str(tools_file(folder))))
    await engine.close()


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


async def test_everything_goes_along_and_nothing_of_the_old_name_stays(tmp_path: Path) -> None:
    old = tmp_path / "work.mcp-tef"
    await filled(old)
    new = rename_workspace(old, "Bike shop")
    assert new == tmp_path / "Bike shop.mcp-tef"
    assert set(os.listdir(tmp_path)) == {"Bike shop.mcp-tef", "Bike shop-tools"}
    engine = await Engine.open(new, environment={})
    (server,) = await engine.servers.list()
    assert server.spec.path == str(tools_folder(new) / "tools.json")
    assert os.listdir(tools_folder(new)) == ["tools.json"]
    assert [case.draft.name for case in await engine.cases.list()] == ["mine"]
    await engine.close()


async def test_what_still_stands_in_the_journal_goes_along(tmp_path: Path) -> None:
    old = tmp_path / "work.db"
    await filled(old)
    with closing(sqlite3.connect(old)) as reader, closing(sqlite3.connect(old)) as writer:
        reader.execute("SELECT * FROM test_cases").fetchall()
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE test_cases SET name = 'yours'")
        writer.commit()
        (tmp_path / "kept.db").write_bytes(old.read_bytes())
        (tmp_path / "kept.db-wal").write_bytes((tmp_path / "work.db-wal").read_bytes())
    new = rename_workspace(tmp_path / "kept.db", "renamed")
    with closing(sqlite3.connect(new)) as connection:
        assert connection.execute("SELECT name FROM test_cases").fetchall() == [("yours",)]
    assert not new.with_name("kept.db-wal").exists()


async def test_a_name_that_was_refused_half_way_can_be_tried_again(tmp_path: Path) -> None:
    old = tmp_path / "work.mcp-tef"
    await filled(old)
    (tools_folder(old) / "large.json").write_bytes(bytes(4_000_000))
    before = set(contents(tmp_path))
    with files_of_at_most(3_000_000), pytest.raises(StoreError):
        rename_workspace(old, "Bike shop")
    assert set(contents(tmp_path)) == before
    assert rename_workspace(old, "Bike shop").is_file()


async def test_tools_files_that_another_workspace_uses_stay_where_they_are(tmp_path: Path) -> None:
    old = tmp_path / "work.db"
    await filled(old)
    (tmp_path / "work.mcp-tef").write_bytes(old.read_bytes())
    rename_workspace(old, "other")
    assert tools_folder(old).is_dir()


async def test_a_workspace_that_is_open_elsewhere_keeps_its_name(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    engine = await Engine.open(path, environment={})
    with pytest.raises(StoreError, match=r"work.db is open in another window"):
        rename_workspace(path, "other")
    await engine.close()
    assert path.is_file()


@pytest.mark.parametrize("there", ["other.mcp-tef", "other-tools/tools.json", "other.db-wal", "other.db-journal"])
async def test_nothing_that_belongs_to_another_workspace_is_replaced_or_taken_for_its_own(
    tmp_path: Path, there: str
) -> None:
    path = tmp_path / "work.db"
    await filled(path)
    if there == "other.mcp-tef":
        await filled(tmp_path / there)
    else:
        (tmp_path / there).parent.mkdir(exist_ok=True)
        (tmp_path / there).write_text("of another", "utf-8")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"^other\S+ is there already. Use another name.$"):
        rename_workspace(path, "other")
    assert contents(tmp_path) == before


def test_a_workspace_that_has_gone_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"work.db is not there any more"):
        rename_workspace(tmp_path / "work.db", "other")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "Write a name."),
        ("a/b", "A name cannot hold /"),
        ("a\u202eb", "A name cannot hold a hidden character"),
        ("../up", "A name cannot hold /"),
        (".hidden", "A name cannot begin with a dot, end with one, or have spaces around it."),
        ("work.", "A name cannot begin with a dot, end with one, or have spaces around it."),
        ("CON", "Windows keeps CON for itself. Use another name."),
        ("ü" * 101, "This name is too long."),
        ("taken", "taken.db is there already. Use another name."),
    ],
)
def test_a_name_that_cannot_be_had_is_refused_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "taken.db").touch()
    with pytest.raises(InputError) as caught:
        renamed_path(tmp_path / "work.db", name)
    assert caught.value.message == why
