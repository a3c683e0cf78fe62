"""Which processes are there: our children, and whether a process still runs."""

import asyncio
import os
import time
from pathlib import Path

PATIENCE_SECONDS = 30.0


def children() -> frozenset[int]:
    """Processes that this process has started and that have not ended (Linux; elsewhere none are seen)."""
    lists = Path("/proc/self/task").glob("*/children")
    pids = (int(pid) for file in lists for pid in read(file).split())
    return frozenset(pid for pid in pids if alive(pid))


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
