"""Files that verbs read: pipes, sockets and devices are refused at once, and no line is too long to be passed over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef.servers.launch import read_env_file
from tests.support.command_line import ROOT, say

READS = (
    "score {input} --out {folder}/out.jsonl",
    "similarity --pairs {input}",
    "similarity --tools-file {input}",
    "overlap --tools-file {input}",
    "quality --tools-file {input}",
    "recommend --tools-file {input}",
    "cases import {input} --format csv",
    "servers import {input}",
    "runs list --workspace {input}",
)
LINE_BYTES, ROOM_KB = 2**28, 100 * 1024
PEAKS = """
import sys
from pathlib import Path
from mcp_tef.cli.main import main
for name in ("small", "large"):
    main(["score", f"{name}.jsonl", "--out", name])
    status = Path("/proc/self/status").read_text().splitlines()
    print(*(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.parametrize("line", READS)
def test_no_verb_waits_for_a_pipe_or_reads_a_device(line: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for given in (pipe, "/dev/zero"):
        said = say(*line.format(input=given, folder=tmp_path).split(), "--json")
        assert said.code == 3, (line, said)
        assert str(given) in said.error["message"]


def test_a_stored_tools_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "tools.json"
    os.mkfifo(pipe)
    say("servers", "add", "city", "--tools-file", pipe)
    checked = say("servers", "check", "city", "--json").document
    assert (checked["status"], "Not a regular file" in checked["reason"]) == ("failed", True)


def test_an_env_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "env")
    with pytest.raises(OSError, match="Not a regular file"):
        read_env_file(tmp_path / "env")


def test_a_line_of_256_megabytes_is_passed_over_without_holding_it(tmp_path: Path) -> None:
    sound = json.dumps({"id": "sound", "query": "", "tools": [], "expected": None, "calls": []})
    (tmp_path / "small.jsonl").write_text(sound, "utf-8")
    with (tmp_path / "large.jsonl").open("wb") as file:
        file.truncate(LINE_BYTES)
        file.seek(0, os.SEEK_END)
        file.write(f"\n{sound}\n".encode())
    small, large = peaks_kb(tmp_path)
    assert large - small < ROOM_KB, (small, large)
    long, after = (json.loads(line) for line in (tmp_path / "large").read_text("utf-8").splitlines())
    assert long == {"id": None, "error": "The line is longer than 16 MB."}
    assert (after["id"], after["classification"]) == ("sound", "TN")


def peaks_kb(folder: Path) -> tuple[int, int]:
    """The most memory that a process had at once when it had scored the small file, and then the large one."""
    done = subprocess.run(
        [sys.executable, "-c", PEAKS],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    small, large = (int(line) for line in done.stdout.splitlines() if line.isdecimal())
    return small, large
