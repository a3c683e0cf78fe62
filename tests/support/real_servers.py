"""Programs of the protocol's makers for node, such as the everything server, installed once under `.cache/`."""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import filelock
import pytest

LOCKS, INSPECTOR = (Path(__file__).with_name(name) for name in ("locked_programs", "locked_inspector"))
CACHE = Path(__file__).parents[2] / ".cache" / "servers"
INSTALL_SECONDS = 600
OLDEST_NODE = 22


@functools.cache
def node_program(name: str, *path: str, locks: Path = LOCKS) -> tuple[str, str]:
    """Node, and the script at a path in a package; skips the test without npm or a node that is new enough."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on this machine, so the protocol's own programs cannot be had here")
    own, came = shutil.which("node"), _installed(npm, LOCKS).glob("node-*/bin/node*")
    node = next((node for node in (own, *map(str, came)) if node and _version(node) >= OLDEST_NODE), None)
    if node is None:
        pytest.skip(f"the protocol's own programs need node {OLDEST_NODE}, which is not on this machine")
    return node, str(_installed(npm, locks).joinpath("@modelcontextprotocol", name, *path))


def inspector() -> list[str]:
    """The command line of the protocol's Inspector."""
    return [*node_program("inspector", "clients", "launcher", "build", "index.js", locks=INSPECTOR), "--cli"]


def everything_server(kind: str) -> list[str]:
    """The command line of the everything server over `stdio`, `sse` or `streamableHttp`."""
    return [*node_program("server-everything", "dist", "index.js"), kind]


@contextlib.contextmanager
def everything_over(kind: str) -> Iterator[int]:
    """The everything server over `sse` or `streamableHttp`; the port on which it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = os.environ | {"PORT": str(port)}
    command = everything_server(kind)
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


def _installed(npm: str, locks: Path) -> Path:
    """The packages that a folder locks, installed by whoever comes first; none of them may run anything."""
    files = [locks / name for name in ("package.json", "package-lock.json")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    home = CACHE / f"{locks.name}-{digest}"
    done = home.with_suffix(".done")
    CACHE.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(CACHE / f"{locks.name}.lock"):
        if not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir()
            for file in files:
                shutil.copy(file, home)
            _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(home))
            done.touch()
    return home / "node_modules"


def _version(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    found = re.match(r"v(\d+)", said)
    return int(found[1]) if found else 0


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
