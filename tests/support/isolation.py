"""Isolation of tests: no home folder, keys, screen or network of this machine, and no leftovers in the process."""

import asyncio
import gc
import ipaddress
import itertools
import logging
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from mcp_tef.model import secrets

LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
NETWORK_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"})
HOME_VARIABLES = {
    "HOME": "",
    "USERPROFILE": "",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
    "APPDATA": "AppData/Roaming",
    "LOCALAPPDATA": "AppData/Local",
}
LIMIT_BEGINNING = "MCP_TEF_MAX_"
HARDLY_EVER = 500_000
ROUNDS = 50
"""Collections of the middle generation, each after some 7,000 new objects, after which a full one is due."""
SETTING_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL")
SETTINGS = (
    "COLUMNS",
    *("DATABASE_URL", "DEFAULT_LLM_PROVIDER", "DEFAULT_LLM_MODEL", "EMBEDDING_MODEL_TYPE", "LOG_LEVEL"),
    *(
        "MCP_TEF_EMBEDDING_FOLDER",
        "MCP_TOOL_PREFIX_SEPARATOR",
        "OFFLINE_MEANING_THRESHOLD",
        "OFFLINE_WORDS_THRESHOLD",
        "SIMILARITY_THRESHOLD",
        "TOOL_INGESTION_TIMEOUT_SECONDS",
    ),
)


class Network:
    """Refuses every address outside this machine, and remembers what was tried."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        sys.addaudithook(self._watch)

    @contextmanager
    def nothing_refused(self) -> Iterator[None]:
        """Fail where another machine was tried, even where the code swallowed the refusal."""
        self.refused.clear()
        yield
        assert not self.refused, f"the test tried to reach {self.refused}"

    def _watch(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in NETWORK_EVENTS:
            return
        host = _host(event, arguments)
        if host is not None and not is_local(host):
            self.refused.append(host)
            raise OSError(f"Tests may not leave this machine: {host}.")


def _host(event: str, arguments: tuple[object, ...]) -> str | None:
    address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    if isinstance(address, tuple):
        address = address[0]
    elif event != "socket.getaddrinfo":
        return None
    return address.decode() if isinstance(address, bytes) else address if isinstance(address, str) else None


def is_local(host: str) -> bool:
    """Whether a host name or address is this machine."""
    name = host.rstrip(".").lower()
    if name in LOCAL_NAMES or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def settings_of_this_machine() -> list[str]:
    """Names of environment variables that would change what the product does."""
    return [
        name
        for name in os.environ
        if name.endswith(SETTING_ENDINGS) or name.startswith(LIMIT_BEGINNING) or name in SETTINGS
    ]


@cache
def variables_of(home: Path) -> dict[str, str]:
    """Values of HOME and its kin for a home folder."""
    return {name: str(home / folder) for name, folder in HOME_VARIABLES.items()}


def move_in(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Point HOME and its kin to `home` until the patch is undone."""
    for name, folder in variables_of(home).items():
        patch.setenv(name, folder)


@contextmanager
def at_home(home: Path) -> Iterator[Path]:
    """Point HOME and its kin to a folder, which several tests may share."""
    before = {name: os.environ[name] for name in HOME_VARIABLES}
    os.environ.update(variables_of(home))
    try:
        yield home
    finally:
        os.environ.update(before)


def empty_folders(parent: Path) -> Iterator[Path]:
    """Return one empty folder after the other: the same again if it was left as it was."""
    for number in itertools.count():
        folder = parent / str(number)
        folder.mkdir()
        as_new = folder.stat()
        while True:
            yield folder
            if not folder.exists() or any(folder.iterdir()) or folder.stat().st_mode != as_new.st_mode:
                break


def prepare_process() -> None:
    """Detach this process from the machine, before anything is imported.

    No screen unless MCP_TEF_TEST_SCREEN names Qt's platform plugin for one, no home, no keys, no price table from the
    network, the C locale, the UTC time zone. Signals are handled even under nohup, which would ignore them. Full
    garbage collections do not start by themselves, as in the window: with all that libraries hold, each takes up to
    half a second. Bytecode is kept even where the environment says otherwise: every program that a test starts would
    compile the project again.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    gc.set_threshold(*gc.get_threshold()[:2], HARDLY_EVER)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGTERM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.environ["QT_QPA_PLATFORM"] = os.environ.get("MCP_TEF_TEST_SCREEN", "offscreen")
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["LANGUAGE"] = "C"  # else argparse looks for a file of translations for each of its words, each time
    os.environ["TZ"] = "UTC"
    if sys.platform != "win32":
        time.tzset()
    for name in settings_of_this_machine():
        del os.environ[name]
    home = Path(tempfile.gettempdir()) / f"mcp-tef-tests-{os.getpid()}"
    for name, folder in HOME_VARIABLES.items():
        os.environ[name] = str(home / folder)


GRACE_SECONDS = 10.0
OUR_LOGGERS = ("mcp_tef", "app", "asyncio", "qasync")
LIBRARY_THREADS = ("tqdm_monitor", "pytest_timeout", "execnet", "loguru", "LiteLLM", "litellm-", "QDBusConnection")


def uses_qt(item: pytest.Item) -> bool:
    """Return whether a test or one of its fixtures asks for the application."""
    return not {"qtbot", "qapp"}.isdisjoint(getattr(item, "fixturenames", ()))


class Complaints(logging.Handler):
    """Collects warnings and worse from our own loggers."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")

    @contextmanager
    def none(self, expected: bool) -> Iterator[None]:
        """Listen, and fail where there was any complaint unless it is expected."""
        self.lines.clear()
        for name in OUR_LOGGERS:
            logging.getLogger(name).addHandler(self)
        try:
            yield
        finally:
            for name in OUR_LOGGERS:
                logging.getLogger(name).removeHandler(self)
        assert expected or not self.lines, f"unexpected complaints: {self.lines}"


@contextmanager
def no_rubbish_is_left(has_qt: bool) -> Iterator[None]:
    """Collect Qt's objects only here, on the thread that they belong to; other tests collect by themselves.

    What outlives a test is set aside: to look through all that libraries hold takes longer than most tests, and an
    object of Qt that outlived its test would be destroyed on whichever thread a later collection ran.
    """
    if has_qt or not gc.isenabled() or gc.get_count()[2] >= ROUNDS:
        gc.collect()  # also what the report of the test before has held
        gc.freeze()
    (gc.disable if has_qt else gc.enable)()
    try:
        yield
    finally:
        if has_qt:
            gc.collect()


@contextmanager
def no_thread_is_left() -> Iterator[None]:
    """Fail where a thread is left."""
    before = threads()
    yield
    left = threads_left(before)
    assert not left, f"threads were left running: {left}"


def threads() -> frozenset[threading.Thread]:
    """Threads alive now, without those that libraries keep for the life of the process."""
    return frozenset(thread for thread in threading.enumerate() if not thread.name.startswith(LIBRARY_THREADS))


def threads_left(before: AbstractSet[threading.Thread]) -> list[str]:
    """Names of threads that are new since `before` and do not end within the time of grace."""
    deadline = time.monotonic() + GRACE_SECONDS
    for thread in threads() - before:
        thread.join(max(0.0, deadline - time.monotonic()))
    return sorted(thread.name for thread in threads() - before)


async def tasks_left() -> list[str]:
    """Tasks of the running loop that do not end within a few of its rounds, as those that close generators do."""
    own = asyncio.current_task()
    for _ in range(3):
        await asyncio.sleep(0)
    return sorted(repr(task) for task in asyncio.all_tasks() if task is not own)


@contextmanager
def same_secrets() -> Iterator[None]:
    """Let no secret that is new mask what later tests read, even where the collector has not come by."""
    before = frozenset(secrets._HELD)
    try:
        yield
    finally:
        for held in frozenset(secrets._HELD) - before:
            secrets._HELD.pop(held, None)


@contextmanager
def same_interpreter() -> Iterator[None]:
    """Restore the switch interval, the garbage collection and the loggers after a test.

    import-linter configures logging with `dictConfig`, which disables every logger that exists by then.
    """
    turn, collects, thresholds = sys.getswitchinterval(), gc.isenabled(), gc.get_threshold()
    try:
        yield
    finally:
        if logging.getLogger(OUR_LOGGERS[0]).disabled:
            for logger in logging.root.manager.loggerDict.values():
                if isinstance(logger, logging.Logger):
                    logger.disabled = False
        sys.setswitchinterval(turn)
        gc.set_threshold(*thresholds)
        (gc.enable if collects else gc.disable)()
