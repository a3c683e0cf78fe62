"""Files that only their owner may read are made so from the start, whatever the umask is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.model.files import copy_private, create_private, make_private_folder, open_private, tighten, write_private

pytestmark = pytest.mark.usefixtures("everybody_may_read")


@pytest.fixture
def everybody_may_read() -> Iterator[None]:
    """The most generous umask there is."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    """The rights of user, group and others."""
    return path.stat().st_mode & 0o777


def test_a_file_is_written_in_one_step_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file.json"
    write_private(path, b"one")
    write_private(path, b"other")
    assert path.read_bytes() == b"other"
    assert [item.name for item in path.parent.iterdir()] == ["file.json"]
    assert (mode(path), mode(path.parent), mode(path.parent.parent)) == (0o600, 0o700, 0o700)


def test_a_readable_file_is_private_once_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"one")
    write_private(path, b"other")
    assert mode(path) == 0o600


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file.json" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match=r"file\.json"):
        write_private(tmp_path / "file.json", b"one")
    assert [item.name for item in tmp_path.iterdir()] == ["file.json"]


def test_a_log_is_opened_privately_and_an_earlier_one_made_so(tmp_path: Path) -> None:
    new, earlier = tmp_path / "new.log", tmp_path / "earlier.log"
    earlier.write_text("before\n", "utf-8")
    for path in (new, earlier):
        with open_private(path, "a") as log:
            log.write("after \ud800\n")
    assert earlier.read_text("utf-8") == "before\nafter \\ud800\n"
    assert (mode(new), mode(earlier)) == (0o600, 0o600)


def test_a_copy_is_private_whatever_lay_there(tmp_path: Path) -> None:
    source, there = tmp_path / "source", tmp_path / "there"
    source.write_bytes(b"content")
    there.write_bytes(b"something longer than that")
    copy_private(source, there)
    assert (there.read_bytes(), mode(there)) == (b"content", 0o600)


def test_an_existing_file_and_folder_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    create_private(file)
    make_private_folder(tmp_path)
    assert file.read_bytes() == b"content"
    with pytest.raises(FileExistsError):
        make_private_folder(file)


def test_tightening_leaves_the_owner_what_they_had_and_links_alone(tmp_path: Path) -> None:
    file, folder, link = tmp_path / "file", tmp_path / "folder", tmp_path / "link"
    file.write_bytes(b"")
    file.chmod(0o444)
    folder.mkdir(mode=0o755)
    tighten(file)
    tighten(folder)
    tighten(tmp_path / "missing")
    assert (mode(file), mode(folder)) == (0o400, 0o700)
    file.chmod(0o644)
    link.symlink_to(file)
    tighten(link)
    assert mode(file) == 0o644
