"""Keeps tests off the machine they run on: no home folder, no keys, no screen, no network beyond loopback."""

import gc
import ipaddress
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

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
SETTING_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL")
SETTINGS = (
    *("DATABASE_URL", "DEFAULT_LLM_PROVIDER", "DEFAULT_LLM_MODEL", "EMBEDDING_MODEL_TYPE", "LOG_LEVEL"),
    *(
        "MCP_TEF_EMBEDDING_FOLDER",
        "MCP_TOOL_PREFIX_SEPARATOR",
        "SIMILARITY_THRESHOLD",
        "TOOL_INGESTION_TIMEOUT_SECONDS",
    ),
)


class Network:
    """Refuses every address outside this machine, and remembers what was tried."""

    def __init__(self) -> None:
        self.refused: list[str] = []
        sys.addaudithook(self._watch)

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


def move_in(patch: pytest.MonkeyPatch, home: Path) -> None:
    """Point HOME and its kin to `home` until the patch is undone."""
    for name, folder in HOME_VARIABLES.items():
        patch.setenv(name, str(home / folder))


def prepare_process() -> None:
    """Detach this process from the machine, before anything is imported.

    No screen unless MCP_TEF_TEST_SCREEN names Qt's platform plugin for one, no home, no keys, no price table from the
    network, the C locale, the UTC time zone. Signals are handled even under nohup, which would ignore them. Full
    garbage collections do not start by themselves, as in the window: with all that libraries hold, each takes up to
    half a second.
    """
    gc.set_threshold(*gc.get_threshold()[:2], HARDLY_EVER)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGTERM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.environ["QT_QPA_PLATFORM"] = os.environ.get("MCP_TEF_TEST_SCREEN", "offscreen")
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["TZ"] = "UTC"
    if sys.platform != "win32":
        time.tzset()
    for name in settings_of_this_machine():
        del os.environ[name]
    home = Path(tempfile.gettempdir()) / f"mcp-tef-tests-{os.getpid()}"
    for name, folder in HOME_VARIABLES.items():
        os.environ[name] = str(home / folder)
