"""A connection by another user of this machine, where the tests may act as one: `python other_user.py PORT < BYTES`."""

import os
import socket
import subprocess
import sys
from pathlib import Path

_SCRIPT = (
    "import encodings.idna, os, socket, sys\n"
    "if hasattr(os, 'geteuid') and os.geteuid() == 0:\n"  # once it runs: its files may be in a folder of root's
    "    os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
    "with socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10) as one:\n"
    "    one.settimeout(float(sys.argv[2]))\n"
    "    try:\n"
    "        one.sendall(sys.stdin.buffer.read())\n"
    "        while piece := one.recv(65536):\n"
    "            sys.stdout.buffer.write(piece)\n"
    "    except OSError:\n"
    "        pass\n"
)


def answer_to_another_user(port: int, sent: bytes, seconds: float = 1.0) -> bytes:
    """Return what a port of loopback answers to some bytes of a process that runs as another user, if we are root."""
    python = Path(sys.base_prefix, "bin", "python3")
    words = [str(python) if python.exists() else sys.executable, "-I", "-S", "-c", _SCRIPT, str(port), str(seconds)]
    return subprocess.run(words, input=sent, capture_output=True, check=True, cwd="/", timeout=60).stdout


def listening_ports(pids: set[int]) -> set[int]:
    """Return the TCP ports at which some processes listen (Linux)."""
    inodes = {_inode(link) for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and row[9] in inodes}


def _inode(link: Path) -> str:
    try:
        return os.readlink(link).removeprefix("socket:[").removesuffix("]")
    except OSError:
        return ""


def descendants(pid: int) -> set[int]:
    """Return a process and all that came from it (Linux)."""
    found = {pid}
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            found |= descendants(int(child))
    return found


def free_port() -> int:
    """Return a port of loopback that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])
