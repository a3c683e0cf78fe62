"""What a test may not leave behind: running tasks, running threads, held secrets, complaints in the log."""

import asyncio
import gc
import logging
import sys
import threading
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

from mcp_tef.model import secrets

GRACE_SECONDS = 10.0
OUR_LOGGERS = ("mcp_tef", "app", "asyncio", "qasync")
LIBRARY_THREADS = ("tqdm_monitor", "pytest_timeout", "execnet", "loguru", "LiteLLM", "litellm-", "QDBusConnection")


class Complaints(logging.Handler):
    """Collects warnings and worse from our own loggers."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    def attach(self) -> None:
        """Listen from now on."""
        for name in OUR_LOGGERS:
            logging.getLogger(name).addHandler(self)

    def detach(self) -> None:
        """Listen no more."""
        for name in OUR_LOGGERS:
            logging.getLogger(name).removeHandler(self)


def threads() -> frozenset[threading.Thread]:
    """Threads alive now, without those that libraries keep for the life of the process."""
    return frozenset(thread for thread in threading.enumerate() if not thread.name.startswith(LIBRARY_THREADS))


def threads_left(before: AbstractSet[threading.Thread]) -> list[str]:
    """Names of threads that are new since `before` and do not end within the time of grace."""
    deadline = time.monotonic() + GRACE_SECONDS
    for thread in threads() - before:
        thread.join(max(0.0, deadline - time.monotonic()))
    return sorted(thread.name for thread in threads() - before)


def tasks_left(before: AbstractSet["asyncio.Task[object]"]) -> list[str]:
    """Tasks of the running loop that are new since `before` and not done."""
    own = asyncio.current_task()
    return sorted(repr(task) for task in asyncio.all_tasks() - before if task is not own and not task.done())


def held_secrets() -> frozenset[int]:
    """Which secrets this process takes out of every text now."""
    return frozenset(secrets._HELD)


def let_go_of_secrets(before: AbstractSet[int]) -> None:
    """Let no secret that is new since `before` mask what later tests read, even where the collector has not come by."""
    for held in held_secrets() - before:
        secrets._HELD.pop(held, None)


@contextmanager
def same_interpreter() -> Iterator[None]:
    """Have threads take turns, and garbage be collected, afterwards as before."""
    turn, collects, thresholds = sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()
    yield
    sys.setswitchinterval(turn)
    gc.set_threshold(*thresholds)
    (gc.enable if collects else gc.disable)()
