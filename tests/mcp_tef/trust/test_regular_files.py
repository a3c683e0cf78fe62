"""Files: what could block is refused, lines are bounded, and private files are so from the start with any umask."""

import io
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.trust.files import (
    bounded_lines,
    copy_private,
    create_private,
    make_private_folder,
    open_private,
    open_regular_file,
    tighten,
    write_lines,
    write_private,
)


def test_a_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_regular_file(tmp_path / "link") as file:
        assert file.read() == b"text"


def test_a_pipe_a_socket_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero")):
            with pytest.raises(OSError, match="Not a regular file"):
                open_regular_file(path)


def test_lines_up_to_the_limit_are_read_and_longer_ones_are_not() -> None:
    file = io.BytesIO(b"1234\n12345\n\n12345678901234567890\n1234")
    assert list(bounded_lines(file, 4)) == [b"1234\n", None, b"\n", None, b"1234"]


def test_the_end_of_a_last_line_that_is_too_long_is_the_end() -> None:
    assert list(bounded_lines(io.BytesIO(b"12345"), 4)) == [None]


def test_a_result_that_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_text("before", "utf-8")
    with pytest.raises(ZeroDivisionError):
        write_lines(file, (f"{1 / number}\n" for number in (1, 0)))
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {"out": "before"}


def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="link is a link, and links are not followed"):
        write_lines(tmp_path / "link", ["one\n"])
    assert [path.name for path in tmp_path.iterdir() if path.is_symlink()] == ["link"]


def test_a_link_that_waits_under_the_name_of_the_unfinished_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept", "utf-8")
    (tmp_path / "out.part").symlink_to(tmp_path / "victim")
    write_lines(tmp_path / "out", ["new\n"])
    assert ((tmp_path / "victim").read_text("utf-8"), (tmp_path / "out").read_text("utf-8")) == ("kept", "new\n")
    assert (tmp_path / "out.part").is_symlink()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    write_lines(pipe, ["through\n"])
    reader.join()
    assert (read, pipe.is_fifo()) == (["through\n"], True)


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
