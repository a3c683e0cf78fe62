"""Golden output of verbs whose result is a file: verdicts of recorded calls, verdict files, and workspaces."""

import json
import re
from pathlib import Path

from tests.support.command_samples import CALLS, TOOLS
from tests.support.golden import Transcript, assert_golden, normalized


def test_score(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    lines = [json.dumps({"query": "Do it", "tools": TOOLS} | call) for call in CALLS]
    (folder / "in.jsonl").write_text("\n".join([*lines, "{half", "{}"]), "utf-8")
    transcript.both("score", "in.jsonl", "--out", "out.jsonl")
    transcript.file(folder / "out.jsonl")
    assert_golden("commands/score.txt", normalized(transcript.text, replacements))


def test_verify(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    transcript.say("run", "--suite", "Sample", "--verdict", "verdict.json", "--quiet")
    transcript.both("verify", "verdict.json")
    transcript.both("verify", "verdict.json", "--ask", "--badge", "badge.json")
    transcript.file(folder / "badge.json")
    assert_golden("commands/verify.txt", normalized(transcript.text, replacements))


def test_workspace(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    for option, backup, own in ([], "backup.db", "own.db"), (["--json"], "backup-2.db", "own-2.db"):
        transcript.say("workspace", "backup", backup, *option)
        transcript.say("workspace", "adopt", backup, "--to", own, *option)
        transcript.say("workspace", "restore", backup, *option)
    text = re.sub(r"\d{8}-\d{6}-\d{6}", "TIME", transcript.text)
    assert_golden("commands/workspace.txt", normalized(text, replacements))
