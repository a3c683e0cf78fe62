"""Process groups of the programs that we start, which a forced end must not leave behind."""

import os
import signal
import subprocess
import sys

_RUNNING: set[int] = set()


def add_process_group(pid: int) -> None:
    """Remember a group by its leader, a program that runs now."""
    _RUNNING.add(pid)


def remove_process_group(pid: int) -> None:
    """Forget a group in which nothing runs any more."""
    _RUNNING.discard(pid)


def signal_process_group(pid: int, number: int) -> bool:
    """Send a signal to a whole group (0 sends none); return whether anyone was there to receive it."""
    if sys.platform == "win32":
        return number != 0 and subprocess.call(["taskkill", "/F", "/T", "/PID", str(pid)]) == 0
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_process_groups() -> None:
    """Kill every group that still runs; for a process that ends without unwinding. Safe in a signal handler."""
    for pid in tuple(_RUNNING):
        signal_process_group(pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
