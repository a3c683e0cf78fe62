"""What a running command lets others read, and what is left of programs that it started."""

import asyncio
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcp_tef.trust.isolation import descendants, kill_remaining
from tests.support.command_line import fresh_command
from tests.support.processes import PATIENCE_SECONDS, alive, gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these are calls of Linux")

ASK = "from mcp_tef.trust import isolation as one; one.protect_process(); print(one.is_protected())"


def test_a_protected_process_is_neither_read_nor_dumped() -> None:
    root = Path(__file__).parents[3]
    for code, said in ((ASK, "True"), (ASK.replace("one.protect_process();", ""), "False")):
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == said


def test_a_command_makes_no_core_file_from_its_start(tmp_path: Path) -> None:
    command = fresh_command("keys", "set", "openai", "--workspace", tmp_path / "work.db")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as waiting:
        limits, deadline = Path(f"/proc/{waiting.pid}/limits"), time.monotonic() + PATIENCE_SECONDS
        while not re.search(r"core file size +0 +0 ", limits.read_text()):
            assert waiting.poll() is None
            assert time.monotonic() < deadline
        waiting.communicate(b"\n")
    assert waiting.returncode == 2


def test_what_left_the_group_of_a_program_is_killed_with_it() -> None:
    code = (
        "import os, signal, sys\n"
        "if os.fork() == 0:\n    os.setsid()\n    print(os.getpid(), flush=True)\nsignal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={}) as program:
        assert program.stdout is not None
        left = int(program.stdout.readline())
        seen = descendants(program.pid)
        program.kill()
        program.wait()
        assert left in seen
        assert alive(left)
        kill_remaining({left: "another start"})
        assert alive(left)
        kill_remaining(seen)
        assert asyncio.run(gone(left))
    assert os.getpid() not in seen
