"""MCP servers that nobody here wrote, each kind installed once into an environment of its own under `.cache/`."""

import contextlib
import functools
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import filelock
import pytest

LOCKS = Path(__file__).with_name("locked_servers")
CACHE = Path(__file__).parents[2] / ".cache" / "servers"
INSTALL_SECONDS = 600


def python_server(name: str) -> str:
    """The program of a server from PyPI."""
    folder = "Scripts" if sys.platform == "win32" else "bin"
    return str(installed("python", (LOCKS / "requirements.txt",), _install_python, sys.version) / folder / name)


def node_server(name: str) -> tuple[str, str]:
    """Program and script of an npm server; skips the test where there is no node."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not on this machine, so its servers cannot be tried here")
    locks = (LOCKS / "package.json", LOCKS / "package-lock.json")
    home = installed("node", locks, functools.partial(install_node, npm, LOCKS))
    return node, str(home / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js")


@contextlib.contextmanager
def everything_over(kind: str) -> Iterator[int]:
    """The everything server over `sse` or `streamableHttp`; the port on which it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"PORT": str(port)}
    command = [*node_server("server-everything"), kind]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if str(port).encode() in line:
                break
        reader = threading.Thread(target=server.stderr.read)
        reader.start()
        try:
            yield port
        finally:
            server.kill()
            reader.join()


def installed(kind: str, locks: tuple[Path, ...], install: Callable[[Path], None], version: str = "") -> Path:
    """The folder into which `locks` are installed, for a version of what runs it, by whoever comes first."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks) + version.encode()).hexdigest()[:12]
    home, done = CACHE / f"{kind}-{digest}", CACHE / f"{kind}-{digest}.done"
    CACHE.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(CACHE / f"{kind}.lock"):
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            install(home)
            done.touch()
    return home


def _install_python(home: Path) -> None:
    _run(sys.executable, "-m", "venv", str(home))
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(LOCKS / "requirements.txt"))


def install_node(npm: str, locks: Path, home: Path) -> None:
    """Put the packages that a folder locks into another one; none of them may run anything."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(locks / name, home)
    _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(home))


def _run(*command: str) -> None:
    done = subprocess.run(
        command, env=_environment(), capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    assert done.returncode == 0, f"{command} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}"


def _environment() -> Mapping[str, str]:
    """This process's environment, but with the user's own home, where installers keep their settings."""
    if sys.platform == "win32":
        return os.environ
    import pwd

    return os.environ | {"HOME": pwd.getpwuid(os.getuid()).pw_dir}
