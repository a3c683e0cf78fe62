"""Every writer with something else in its way: nothing outside is changed, and nothing half-written stays."""

import inspect
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, StoreError, TefError
from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.tools import Tool
from mcp_tef.reports.markdown import write_markdown
from mcp_tef.storage.schema import new_database
from mcp_tef.storage.workspace_copies import rename_workspace, save_copy
from mcp_tef.trust import files
from mcp_tef.trust.files import (
    append_text,
    copy_folder,
    open_inside,
    replace_if_unchanged,
    write_file,
    write_inside,
    write_lines,
    write_private,
)
from mcp_tef.trust.own_workspaces import tools_folder
from mcp_tef.workflows.ci_folder import write_ci_folder
from tests.support.file_obstacles import files_of_at_most

SECRET = b"what lies outside"
TOOL = Tool(server="s", name="t", description="", input_schema={}, raw={"name": "t"})

Writer = Callable[[Path], object]
OF_FILES: dict[str, tuple[str, Writer]] = {
    "report": ("report.html", lambda root: write_text(root / "report.html", "new")),
    "lines": ("out.jsonl", lambda root: write_lines(root / "out.jsonl", ["new\n"])),
    "bytes": ("chart.png", lambda root: write_file(root / "chart.png", b"new")),
    "summary": ("summary.md", lambda root: write_markdown(root / "summary.md", "new")),
    "addition": ("summary.md", lambda root: append_text(root / "summary.md", "new")),
    "inside": ("a/b/c.txt", lambda root: write_inside(root, "a/b/c.txt", b"new")),
    "tools file": ("w-tools/x.json", lambda root: write_text(root / "w-tools" / "x.json", "{}", private=True)),
    "tools of a build": ("tools/s-1.json", lambda root: write_ci_folder(root, {"s": (TOOL,)})),
    "options of a build": ("mcp-tef.toml", lambda root: write_ci_folder(root, {"s": (TOOL,)})),
    "workflow": (".github/workflows/mcp-tef.yml", lambda root: write_ci_folder(root, {"s": (TOOL,)})),
    "copy of a workspace": ("copy.db", lambda root: save_copy(root.parent / "own.db", root / "copy.db")),
}
"""Each writer of files whose place somebody else may have prepared, with the path that it writes below its folder."""
OBSTACLES: dict[str, Callable[[Path, Path], object]] = {
    "link to a file": lambda place, outside: place.symlink_to(outside / "file"),
    "dangling link": lambda place, outside: place.symlink_to(outside / "new"),
    "link to a folder": lambda place, outside: place.symlink_to(outside / "folder"),
    "link to a device": lambda place, outside: place.symlink_to("/dev/null"),
    "folder": lambda place, outside: (place / "inside").mkdir(parents=True),
    "pipe": lambda place, outside: os.mkfifo(place),
}


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return every path below a folder, with the bytes of regular files."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in folder.rglob("*")
    }


def own_workspace(path: Path) -> Path:
    """Write an empty workspace."""
    with closing(new_database()) as made:
        path.write_bytes(made.serialize())
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder with a file and a folder of the user's, and a workspace beside."""
    folder = tmp_path / "outside"
    (folder / "folder").mkdir(parents=True)
    (folder / "file").write_bytes(SECRET)
    (folder / "folder" / "file").write_bytes(SECRET)
    return folder


def ways() -> Iterator[tuple[str, int, str]]:
    """Yield each writer, each component of its path, and each obstacle that matters there."""
    for writer, (path, _) in OF_FILES.items():
        parts = len(Path(path).parts)
        for depth in range(parts):
            is_last = depth == parts - 1
            # A folder on the way is none, and a pipe at the end is for who names it (see the next test).
            left_out = {"pipe"} if is_last else {"folder"}
            yield from ((writer, depth, obstacle) for obstacle in OBSTACLES.keys() - left_out)


@pytest.mark.parametrize(("writer", "depth", "obstacle"), sorted(ways()))
def test_an_obstacle_is_refused_and_nothing_is_changed(
    writer: str, depth: int, obstacle: str, tmp_path: Path, outside: Path
) -> None:
    root = tmp_path / "root"
    path, write = OF_FILES[writer]
    place = root.joinpath(*Path(path).parts[: depth + 1])
    place.parent.mkdir(parents=True)
    own_workspace(tmp_path / "own.db")
    OBSTACLES[obstacle](place, outside)
    before = contents(outside), place.lstat().st_ino
    with pytest.raises((OSError, TefError)) as refused:
        write(root)
    assert not isinstance(refused.value, TefError) or refused.value.exit_code in (2, 3)
    assert (contents(outside), place.lstat().st_ino) == before
    assert not [name for name in contents(root) if name.endswith(".part")]
    assert not os.path.exists(outside / "new")


def appended_private(place: Path) -> None:
    with files.open_private(place, "a") as file:
        file.write("new")


def written_database(place: Path) -> None:
    with files.replaced_database(place) as unfinished:
        unfinished.write_bytes(b"new")


def written_by_hand(place: Path) -> None:
    with files.replaced_file(place) as file:
        file.write(b"new")


CHANGING: dict[Callable[..., object], Writer] = {
    files.append_text: lambda place: append_text(place, "new"),
    files.copy_folder: lambda place: copy_folder(place.parent.parent / "full", place),
    files.copy_private: lambda place: files.copy_private(place.parent.parent / "full" / "file", place),
    files.create_private: files.create_private,
    files.make_folder: files.make_folder,
    files.make_private_folder: files.make_private_folder,
    files.new_private_folder: files.new_private_folder,
    files.open_private: appended_private,
    files.remove_folder: files.remove_folder,
    files.rename: lambda place: files.rename(place.parent.parent / "full" / "file", place),
    files.replace_if_unchanged: lambda place: replace_if_unchanged(place, SECRET, b"new"),
    files.replaced_database: written_database,
    files.replaced_file: written_by_hand,
    files.tighten: files.tighten,
    files.unlink: files.unlink,
    files.write_file: lambda place: write_file(place, b"new"),
    files.write_inside: lambda place: write_inside(place.parent, place.name, b"new"),
    files.write_lines: lambda place: write_lines(place, ["new"]),
    files.write_private: lambda place: write_private(place, b"new"),
}
"""Each function of the owner that changes something, at a path that somebody else may have prepared."""
NOT_CHANGING = {
    *(files.bounded_lines, files.open_inside, files.open_regular_file, files.require_no_link, files.write_failed),
}


def test_each_function_of_the_writer_is_tried() -> None:
    public: set[Callable[..., object]] = {
        one
        for name, one in vars(files).items()
        if inspect.isfunction(one) and one.__module__ == files.__name__ and not name.startswith("_")
    }
    assert public == {*CHANGING, *NOT_CHANGING}


@pytest.mark.parametrize("obstacle", sorted(OBSTACLES.keys() - {"pipe", "folder"}))
@pytest.mark.parametrize("function", CHANGING, ids=lambda one: one.__name__)
def test_no_function_of_the_writer_follows_a_link(
    function: Callable[..., object], obstacle: str, tmp_path: Path, outside: Path
) -> None:
    for name in ("root", "full"):
        (tmp_path / name).mkdir()
    (tmp_path / "full" / "file").write_bytes(b"new")
    OBSTACLES[obstacle](tmp_path / "root" / "place", outside)
    for one in outside.rglob("*"):
        one.chmod(0o755)
    with suppress(OSError, TefError):
        CHANGING[function](tmp_path / "root" / "place")
    assert contents(outside) == {"file": SECRET, "folder": None, "folder/file": SECRET}
    assert {stat.S_IMODE(one.stat().st_mode) for one in outside.rglob("*")} == {0o755}


def test_a_link_in_the_way_that_the_user_named_is_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "data")
    write_text(tmp_path / "work" / "report.html", "new")
    write_inside(tmp_path / "work", "tools/a.json", b"new")
    assert contents(tmp_path / "data") == {"report.html": b"new", "tools": None, "tools/a.json": b"new"}


def test_no_name_that_leads_out_is_written_or_read(tmp_path: Path, outside: Path) -> None:
    for name in ("../outside/file", str(outside / "file"), "", "a/../../outside/file"):
        with pytest.raises(OSError, match="Not a path inside"):
            write_inside(tmp_path / "root", name, b"new")
        with pytest.raises(OSError, match="Not a path inside"):
            open_inside(tmp_path / "root", name)
    assert (outside / "file").read_bytes() == SECRET


@pytest.mark.parametrize("obstacle", ["link to a file", "link to a folder", "link to a device", "pipe"])
@pytest.mark.parametrize("depth", [1, 2])
def test_nothing_but_a_regular_file_inside_is_read(obstacle: str, depth: int, tmp_path: Path, outside: Path) -> None:
    place = (tmp_path / "root").joinpath(*("folder", "file")[:depth])
    place.parent.mkdir(parents=True)
    OBSTACLES[obstacle](place, outside)
    with pytest.raises(OSError, match=r"is a link|Not a regular|Not a directory"):
        open_inside(tmp_path / "root", "folder/file")


def test_copies_leave_links_pipes_and_devices_out(tmp_path: Path, outside: Path) -> None:
    source = tmp_path / "w-tools"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "own.json").write_bytes(b"own")
    (source / "ssh").symlink_to(outside / "folder")
    (source / "deep" / "key").symlink_to(outside / "file")
    os.mkfifo(source / "pipe")
    copy_folder(source, tmp_path / "copy")
    assert contents(tmp_path / "copy") == {"deep": None, "deep/own.json": b"own"}


@pytest.mark.parametrize("whole", [False, True])
def test_no_key_goes_into_a_copy_or_a_renamed_workspace(whole: bool, tmp_path: Path, outside: Path) -> None:
    path = own_workspace(tmp_path / "work.db")
    folder = tools_folder(path)
    if whole:
        folder.symlink_to(outside / "folder")
    else:
        folder.mkdir()
        (folder / "ssh").symlink_to(outside / "folder")
    save_copy(path, tmp_path / "sent" / "copy.db")
    renamed = rename_workspace(path, "renamed")
    for place in (tmp_path / "sent", tools_folder(renamed)):
        assert SECRET not in contents(place).values()
    assert contents(outside)["folder/file"] == SECRET


def test_a_folder_that_was_exchanged_since_the_question_is_not_written_to(tmp_path: Path, outside: Path) -> None:
    source = (tmp_path / "server").resolve()
    source.mkdir()
    (source / "file").write_bytes(SECRET)
    source.rename(tmp_path / "away")
    source.symlink_to(outside)
    assert not replace_if_unchanged(source / "file", SECRET, b"new")
    assert (outside / "file").read_bytes() == SECRET


def test_a_private_file_replaces_a_link_and_leaves_what_it_leads_to(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "settings.json").symlink_to(outside / "file")
    write_private(tmp_path / "settings.json", b"new")
    assert (outside / "file").read_bytes() == SECRET
    assert not (tmp_path / "settings.json").is_symlink()


def test_a_foreign_part_file_is_left_alone(tmp_path: Path) -> None:
    own_workspace(tmp_path / "own.db")
    for name in ("y.yaml.part", "copy.db.part", "report.pdf.unfinished"):
        (tmp_path / name).write_bytes(b"mine")
    write_text(tmp_path / "y.yaml", "new")
    save_copy(tmp_path / "own.db", tmp_path / "copy.db")
    assert {name: data for name, data in contents(tmp_path).items() if data == b"mine"}.keys() == {
        *("y.yaml.part", "copy.db.part", "report.pdf.unfinished")
    }


def test_a_full_disk_and_a_folder_are_named_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder, not a file"):
        write_text(tmp_path / "folder", "new")
    with files_of_at_most(100), pytest.raises(StoreError, match="could not be written: File too large"):
        write_text(tmp_path / "report.html", "x" * 1000)
    assert contents(tmp_path) == {"folder": None}
