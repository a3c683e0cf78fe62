"""Processes in tests: running ones, their CPU time, read-only folders and full disks.

`python -m tests.support.processes BYTES PROGRAM [ARGUMENT…]` runs a program whose files may not exceed the limit.
"""

import asyncio
import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.command_line import FORKING, ROOT, Said, command

PATIENCE_SECONDS = 30.0


def children() -> frozenset[int]:
    """Processes that this process has started and that have not ended (Linux; elsewhere none are seen)."""
    lists = Path("/proc/self/task").glob("*/children")
    pids = (int(pid) for file in lists for pid in read(file).split())
    return frozenset(pid for pid in pids if alive(pid)) - FORKING


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is only not yet buried does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self").exists():
        return True
    after_name = read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return after_name[:1] not in ([], ["Z"])


def read(file: Path) -> str:
    """A file of /proc; empty where its thread or process ended before it was read."""
    try:
        return file.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


async def gone(pid: int) -> bool:
    """Whether a process has ended, or does so while somebody would wait."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


@contextmanager
def computing_at_most(seconds: float) -> Iterator[None]:
    """Fail where this thread computed for longer, however long it had to wait for its turn."""
    began = time.thread_time()
    yield
    assert time.thread_time() - began < seconds


_VERSION_3 = 0x20080522
_WRITE_ANYWHERE = 1 << 1
_GET_SECURE_BITS, _SET_SECURE_BITS, _NO_ROOT = 27, 28, 1
_Words = ctypes.c_uint32 * 6


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in a folder can be made, changed or removed by this thread and what it starts, threads or programs."""
    before = folder.stat().st_mode
    folder.chmod(0o555)
    try:
        with _without_superuser_rights():
            yield
    finally:
        folder.chmod(before)


@contextmanager
def _without_superuser_rights() -> Iterator[None]:
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head, rights = (ctypes.c_uint32 * 2)(_VERSION_3, 0), _Words()
    assert libc.capget(head, rights) == 0
    fewer = _Words(*rights)
    fewer[0] &= ~_WRITE_ANYWHERE
    secure = libc.prctl(_GET_SECURE_BITS, 0, 0, 0, 0)
    assert libc.prctl(_SET_SECURE_BITS, secure | _NO_ROOT, 0, 0, 0) == 0  # else a new program has all rights again
    assert libc.capset(head, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(head, rights) == 0
        assert libc.prctl(_SET_SECURE_BITS, secure, 0, 0, 0) == 0


def run_on_full_disk(most_bytes: int, *arguments: str | Path) -> Said:
    """Run a command whose files may not grow beyond the limit."""
    done = subprocess.run(
        command(*arguments),
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},  # a cut one would stay
        preexec_fn=lambda: limit_files(most_bytes),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def limit_files(most_bytes: int) -> None:
    """Have no file of this process grow beyond the limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


if __name__ == "__main__":
    limit_files(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
