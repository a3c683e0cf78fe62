"""Limits on programs that we start: they read nothing of ours, and none of them is left.

On Linux a library tool runs below a supervisor, a sub-reaper: whatever leaves the tool's session or loses its parent
becomes a child of the supervisor, which kills until no child is left. Elsewhere only the process group is killed.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

SUPERVISOR: Final = """
import json, os, signal, sys, time
memory, seconds, program, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:4], sys.argv[4:]
def listed(child):
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return [child]
def end_all(child):
    while True:
        for pid in listed(child):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return
def supervise(child):
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
    ended, status = 0, 0
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_all(child)
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL) if os.WTERMSIG(status) != signal.SIGKILL else None
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))
if sys.platform == "linux":
    import ctypes
    if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0 and (child := os.fork()):
        supervise(child)
try:
    import resource
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, most))
except (ImportError, OSError, ValueError):
    pass
if program:
    os.execv(program[0], words)
task = json.loads(sys.stdin.buffer.read())
answers, sys.argv = os.fdopen(os.dup(1), "w", encoding="utf-8"), ["script"]
os.dup2(2, 1)
names = {"__name__": "script"}
exec(compile(task["script"], "script", "exec"), names)
json.dump(names["run"](task["input"]), answers, allow_nan=False)
answers.close()
"""
"""The program that watches over its child, which sets the limits and becomes a program, or runs a script.

The script comes by standard input; its answer has standard output to itself, what it prints goes to standard error.
"""

_SET_DUMPABLE, _GET_DUMPABLE = 4, 3


def protect_process() -> None:
    """Let no other process of this user read our memory or environment, and no crash write them to a file (Linux).

    On macOS and Windows programs of the same user can read them where the system allows it.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        _prctl(_SET_DUMPABLE, 0)


def is_protected() -> bool:
    """Return True if the system keeps other processes of this user from reading our memory."""
    return sys.platform == "linux" and _prctl(_GET_DUMPABLE, 0) == 0


def _prctl(option: int, value: int) -> int:
    import ctypes

    return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0))


def end_supervised(pid: int) -> None:
    """Ask a supervisor to end everything below it."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGTERM)


def descendants(pid: int) -> dict[int, str]:
    """Return the processes below one, each with its time of start (Linux; elsewhere none are seen)."""
    below: dict[int, list[tuple[int, str]]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text("utf-8", "replace").rpartition(")")[2].split()
            below.setdefault(int(fields[1]), []).append((int(file.parent.name), fields[19]))
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        for child, start in below.get(waiting.pop(), ()):
            if child not in found:
                found[child] = start
                waiting.append(child)
    return found


def kill_remaining(known: dict[int, str]) -> None:
    """Kill what is left of processes that were seen before, and what they have started since."""
    for pid, start in known.items():
        for one in (pid, *descendants(pid)) if _start_of(pid) == start else ():
            with suppress(OSError):
                os.kill(one, signal.SIGKILL)


def _start_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[19]
    return ""
