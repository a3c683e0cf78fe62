"""Standard streams that are closed or full: the work is done, and one sentence says what could not be written."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import Said, fresh_command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")

VERBS = ("--version", "cases list", "cases list --json", "run --wrong")
REFUSED = {"run --wrong": 2}
CLOSED = "Standard output is closed. Leave it open, or send it to a file or /dev/null."
FULL = "Standard output cannot be written: No space left on device. Make room where it goes to, or send it elsewhere."


def with_streams(folder: Path, verb: str, streams: str) -> Said:
    """Run a command whose streams a shell has redirected; stdin is empty unless that closes it."""
    program = shlex.join(fresh_command())
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {program} {verb} {streams}"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a case, so that the list of cases is not empty."""
    said = with_streams(tmp_path, "cases add 'Find a saddle' --no-tool", "")
    assert said.code == 0, said
    return tmp_path


@pytest.mark.parametrize(
    ("streams", "code", "sentence"),
    [
        ("<&-", 0, ""),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        (">&-", 3, CLOSED),
        (">/dev/full", 3, FULL),
        ("<&- >&- 2>&-", 3, ""),
    ],
)
def test_a_closed_or_full_stream_is_one_sentence_and_never_a_crash(
    streams: str, code: int, sentence: str, folder: Path
) -> None:
    for verb in VERBS:
        said = with_streams(folder, verb, streams)
        assert said.code == REFUSED.get(verb, code), (verb, said)
        if "2>" in streams:
            assert said.err == ""
        elif verb not in REFUSED:
            assert said.err == (f"mcp-tef: {sentence}\n" if sentence else ""), verb
        else:
            assert said.err.count("\n") == 1, said


def test_a_batch_whose_output_is_lost_is_stored(tmp_path: Path) -> None:
    tools = workspace_files.tools_file(tmp_path)
    cases = workspace_files.case_file(tmp_path, [workspace_files.weather(1)])
    for verb in (f"servers add city --tools-file {tools}", f"cases import {cases}"):
        assert with_streams(tmp_path, verb, "").code == 0
    for number, streams in enumerate((">/dev/full", ">&-"), 1):
        said = with_streams(tmp_path, "run", streams)
        assert (said.code, said.err.count("mcp-tef: Standard output")) == (3, 1), said
        assert len(with_streams(tmp_path, "runs list --quiet --json", "").document["runs"]) == number
