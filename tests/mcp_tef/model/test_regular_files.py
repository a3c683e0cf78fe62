"""Files that others name: what could block is refused, lines are bounded, results appear whole or not at all."""

import io
import os
import socket
import threading
from pathlib import Path

import pytest

from mcp_tef.model.files import bounded_lines, open_regular_file, write_lines


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


def test_what_a_link_names_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_lines(tmp_path / "link", ["one\n"])
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "file").read_text("utf-8")) == (True, "one\n")


def test_a_link_that_waits_under_the_name_of_the_unfinished_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept", "utf-8")
    (tmp_path / "out.part").symlink_to(tmp_path / "victim")
    write_lines(tmp_path / "out", ["new\n"])
    assert ((tmp_path / "victim").read_text("utf-8"), (tmp_path / "out").read_text("utf-8")) == ("kept", "new\n")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    write_lines(pipe, ["through\n"])
    reader.join()
    assert (read, pipe.is_fifo()) == (["through\n"], True)
