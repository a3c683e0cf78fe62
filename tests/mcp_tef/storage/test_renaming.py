"""A workspace gets another name in its folder, whole and with its tools files; what cannot be is refused."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mcp_tef import CaseDraft, Engine, InputError, ServerSpec, StoreError, Transport
from mcp_tef.storage.workspace_copies import rename_workspace, renamed_path, tools_folder
from tests.support.workspace_files import tools_file


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
    (tools_folder(old) / "gone.json").symlink_to(tmp_path / "nowhere.json")
    before = set(contents(tmp_path))
    with pytest.raises(StoreError):
        rename_workspace(old, "Bike shop")
    assert set(contents(tmp_path)) == before
    (tools_folder(old) / "gone.json").unlink()
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
    with pytest.raises(InputError, match=r"^other\S+ is there already. Choose another name.$"):
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
        ("CON", "Windows keeps CON for itself. Choose another name."),
        ("ü" * 101, "This name is too long."),
        ("taken", "taken.db is there already. Choose another name."),
    ],
)
def test_a_name_that_cannot_be_had_is_refused_with_the_reason(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "taken.db").touch()
    with pytest.raises(InputError) as caught:
        renamed_path(tmp_path / "work.db", name)
    assert caught.value.message == why
