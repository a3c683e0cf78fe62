"""Compares texts with the golden files in tests/golden; `UPDATE_GOLDEN=1` in the environment writes them anew."""

import difflib
import itertools
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.command_line import Said, say

FOLDER = Path(__file__).parents[1] / "golden"
UPDATING = os.environ.get("UPDATE_GOLDEN") == "1"
MAX_LINES, MAX_LINE = 80, 300
IDENTIFIER = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
VARYING = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00"), "2026-01-01T00:00:00+00:00"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b"), "2026-01-01 00:00"),
    (re.compile(r'("(?:\w+_ms|p50|p95|p99)": )[\d.]+'), r"\g<1>0"),
    (re.compile(r"(--allow-program )[0-9a-f]{32}"), r"\g<1>HASH"),
    (re.compile(r"(\b\w+_ms +)[\d.]+"), r"\g<1>0"),
    (re.compile(r"\b[\d.,]+ ms\b"), "0 ms"),
    (re.compile(r"^\d+/\d+\b.* left\n", re.MULTILINE), ""),  # how far a slow machine is each second
    # where the tree itself lies in a folder for temporary files
    (re.compile(r"(?:“|\\u201c)/bin/python(?:”|\\u201d) is in a folder for temporary files, [\w ]+\. "), ""),
)


def assert_golden(name: str, text: str) -> None:
    """Fail where the text differs from the golden file of this name; with UPDATE_GOLDEN=1, write the file instead."""
    file = FOLDER / name
    if UPDATING:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert file.exists(), f"{file} is missing: run the test with UPDATE_GOLDEN=1 and review the new file"
    # A golden file may hold half of a surrogate pair, as models answer with them.
    golden = file.read_bytes().decode("utf-8", "surrogatepass")
    if text != golden:
        pytest.fail(
            f"{name} changed; where that is intended, run with UPDATE_GOLDEN=1 and review it:\n{_diff(golden, text)}"
        )


def _diff(golden: str, text: str) -> str:
    """Return a unified diff of the two texts, split at tags of markup and commas of JSON, in ASCII."""
    before, after = (each.replace("><", ">\n<").replace(', "', ',\n"').splitlines() for each in (golden, text))
    lines = difflib.unified_diff(before, after, "golden", "now", n=1, lineterm="")
    shown = [ascii(line)[1:-1][:MAX_LINE] for line in itertools.islice(lines, MAX_LINES)]
    return "\n".join(shown) or "Only the ends of lines differ."


def normalized(text: str, replacements: Mapping[str, str]) -> str:
    """Return the text with literal replacements (paths, ports), numbered ids, one timestamp, and zero durations."""
    for varying, fixed in replacements.items():
        text = text.replace(varying, fixed)
    for pattern, fixed in VARYING:
        text = pattern.sub(fixed, text)
    numbers: dict[str, int] = {}
    return IDENTIFIER.sub(lambda found: _numbered(found.group(), numbers), text)


def _numbered(identifier: str, numbers: dict[str, int]) -> str:
    number = numbers.setdefault(identifier, len(numbers) + 1)
    return f"00000000-0000-0000-0000-{number:012}"


class Transcript:
    """A record of commands with their exit codes, standard output and standard error."""

    def __init__(self, *options: str | Path) -> None:
        self._options = options
        self._parts: list[str] = []

    def say(self, *arguments: str | Path) -> str:
        """Run a command with the shared options, record it, and return its standard output."""
        said = say(*arguments, *self._options)
        self.record(said, *arguments)
        return said.out

    def record(self, said: Said, *arguments: str | Path) -> None:
        """Record a command that was run elsewhere."""
        command = " ".join(["$ mcp-tef", *(_quoted(str(argument)) for argument in arguments)])
        self._parts += [f"{command}  [exit {said.code}]\n", said.out]
        if said.err:
            self._parts += ["--- stderr\n", said.err]

    def both(self, *arguments: str | Path) -> None:
        """Run a command for people and then with --json."""
        self.say(*arguments)
        self.say(*arguments, "--json")

    def file(self, path: Path) -> None:
        """Record what a command wrote into a file."""
        text = path.read_bytes().decode("utf-8", "surrogatepass")
        self._parts.append(f"--- file {path.name}\n{text}")

    @property
    def text(self) -> str:
        """The whole record."""
        return "".join(part if part.endswith("\n") else part + "\n" for part in self._parts if part)


def _quoted(argument: str) -> str:
    return f"'{argument}'" if " " in argument or not argument else argument
