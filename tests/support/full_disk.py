"""Runs a command on a disk that is full: no file of the process may grow beyond so many bytes.

As a program it sets the limit and then is the command: `python full_disk.py BYTES PROGRAM [ARGUMENT…]`.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.support.command_line import ROOT, Said, command


def run_on_full_disk(most_bytes: int, *arguments: str | Path) -> Said:
    """Run a command whose files may not grow beyond the limit."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.full_disk", str(most_bytes), *command(*arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


if __name__ == "__main__":
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    os.execv(sys.argv[2], sys.argv[2:])
