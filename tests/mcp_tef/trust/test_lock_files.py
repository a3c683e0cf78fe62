"""Lock files: one holder at a time, and no file of somebody else is taken for one."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_tef.trust.lock_files import LockFile


def test_one_holds_the_lock_until_it_gives_it_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first, second = LockFile(path), LockFile(path)
    assert first.acquire()
    assert not second.acquire()
    assert path.exists()
    first.remove()
    assert not path.exists()
    assert second.acquire()
    second.remove()
    second.remove()  # nothing is left to give back


def test_a_lock_that_is_not_to_be_made_is_taken_where_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with pytest.raises(FileNotFoundError):
        LockFile(path).acquire(make=False)
    assert not path.exists()
    path.write_bytes(b"kept")
    lock = LockFile(path)
    assert lock.acquire(make=False)
    assert path.read_bytes() == b"kept"
    lock.remove()


@pytest.mark.skipif(sys.platform == "win32", reason="needs links, pipes and the modes of POSIX")
@pytest.mark.parametrize(
    "put",
    [
        lambda path, other: path.symlink_to(other),
        lambda path, other: path.hardlink_to(other),
        lambda path, other: os.mkfifo(path),
    ],
    ids=["link", "second name", "pipe"],
)
def test_what_is_no_lock_file_of_ones_own_is_not_locked(tmp_path: Path, put: Callable[[Path, Path], None]) -> None:
    path, other = tmp_path / "lock", tmp_path / "other"
    other.write_bytes(b"theirs")
    put(path, other)
    with pytest.raises(OSError):  # noqa: PT011  # the system's own words differ
        LockFile(path).acquire()
    assert other.read_bytes() == b"theirs"


@pytest.mark.skipif(sys.platform == "win32", reason="the modes of POSIX")
def test_a_new_lock_file_can_be_read_by_its_user_alone(tmp_path: Path) -> None:
    lock = LockFile(tmp_path / "lock")
    assert lock.acquire()
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    lock.remove()


@pytest.mark.skipif(sys.platform != "linux", reason="counts what is open in /proc")
def test_no_file_stays_open_after_a_lock_was_refused_or_given_back(tmp_path: Path) -> None:
    path, before = tmp_path / "lock", set(os.listdir("/proc/self/fd"))
    lock = LockFile(path)
    assert lock.acquire()
    assert not LockFile(path).acquire()
    assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    lock.remove()
    assert len(os.listdir("/proc/self/fd")) == len(before)
