"""Bad input for the library at the command line: a clear sentence each, nothing broken kept, no process left."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Said, say, say_allowed
from tests.support.library_designs import CITY
from tests.support.processes import alive
from tests.support.workspace_files import written

TOOL: Mapping[str, Any] = {"name": "weather", "description": "Tell the weather in a city.", "inputSchema": CITY}
ANSWER = {"answer": "Rain in {city}."}


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of its own."""
    monkeypatch.setenv("DATABASE_URL", str(tmp_path / "bad.db"))
    return tmp_path


def added(folder: Path, tool: Mapping[str, Any], config: Mapping[str, Any], *words: str | Path) -> Said:
    """What is said when a tool is added."""
    definition, given = written(folder / "tool.json", tool), written(folder / "config.json", config)
    return say("library", "add", definition, "--config", given, *words)


@pytest.mark.parametrize(
    ("tool", "config", "said"),
    [
        ({"name": "Weather Report"}, ANSWER, "cannot be the name of a tool"),
        ({"name": "w" * 101}, ANSWER, "cannot be the name of a tool"),
        ({"name": "weather\n"}, ANSWER, "cannot be the name of a tool"),
        ({"inputSchema": {"type": "objekt"}}, ANSWER, "schema"),
        ({"inputSchema": {"type": "object", "properties": {"city": {"minLength": "2"}}}}, ANSWER, "schema"),
        ({"inputSchema": {**CITY, "$ref": "#/$defs/town"}}, ANSWER, "#/$defs/town"),
        ({"inputSchema": {"type": "object", "properties": {"city": {"pattern": "[a-z"}}}}, ANSWER, "[a-z"),
        ({"inputSchema": [1]}, ANSWER, "cannot be read"),
        ({"description": " "}, ANSWER, "no description"),
        ({}, {"answer": "Rain in {town}."}, "{town}"),
        ({}, {"answer": "Rain.", "retries": 3}, "retries"),
        ({}, {"answer": "Rain.", "seconds": 31}, "time limit"),
    ],
)
def test_a_design_that_is_not_sound_is_refused_in_a_sentence(
    workspace: Path, tool: Mapping[str, Any], config: Mapping[str, Any], said: str
) -> None:
    refused = added(workspace, {**TOOL, **tool}, config)
    assert refused.code == 2
    assert said in refused.err
    assert len(refused.err.splitlines()) <= 2
    assert say("library", "list").out == "The library holds no tool yet.\n"


def test_categories_that_stand_in_each_other_are_refused(workspace: Path) -> None:
    assert added(workspace, TOOL, ANSWER, "--category", "town/sky").code == 0
    refused = say("library", "edit", "weather", "--category", "sky/town")
    assert (refused.code, "town" in refused.err) == (2, True)
    assert json.loads(say("library", "show", "weather", "--json").out)["category"] == "sky"


SCRIPTS = {
    "never ends": ("while True: pass", "did not end within 2 seconds"),
    "forks": ("[note() for _ in range(3) if os.fork() == 0 and os.setsid() is None]", "did not end within 2 seconds"),
    "prints 2 GB": ("while True: print('x' * 65536)", "more than 1 MB"),
    "takes memory": ("return len(bytearray(2_000_000_000))", "MemoryError"),
    "reads the environment": ("return os.environ['SECRET_OF_MINE']", "SECRET_OF_MINE"),
}
SCRIPT = """import os
def note():
    with open({pids!r}, 'a') as file:
        file.write(f'{{os.getpid()}}\\n')
def run(input):
    note()
    {harm}
    os.read(os.pipe()[0], 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits and process groups of POSIX")
@pytest.mark.parametrize("what", SCRIPTS)
def test_a_script_that_does_harm_ends_in_a_sentence_and_leaves_no_process(
    workspace: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harm, said = SCRIPTS[what]
    monkeypatch.setenv("SECRET_OF_MINE", "of no concern to scripts")
    script, pids = workspace / "script.py", workspace / "pids"
    script.write_text(SCRIPT.format(pids=str(pids), harm=harm), "utf-8")
    assert added(workspace, TOOL, {"seconds": 2}, "--executor", "python", "--script", script).code == 0
    ended = say_allowed("library", "run", "weather", '{"city": "Rome"}', "--quiet")
    assert ended.code == 1
    assert said in ended.err
    assert "of no concern" not in ended.out + ended.err
    started = [int(line) for line in pids.read_text("utf-8").split()]
    assert [pid for pid in started if alive(pid)] == []
    assert len(started) == (8 if what == "forks" else 1)


def test_a_placeholder_gives_a_program_words_and_never_a_command(workspace: Path) -> None:
    assert added(workspace, TOOL, {"argv": ["printf", "%s", "{city}"]}, "--executor", "shell").code == 0
    marked = workspace / "marked"
    ran = say_allowed("library", "run", "weather", json.dumps({"city": f"x; touch {marked} $(touch {marked})"}))
    assert ran.out.startswith("x; touch")
    assert not marked.exists()
    refused = say("library", "edit", "weather", "--config", written(workspace / "free.json", {"argv": ["{city}"]}))
    assert (refused.code, "fixed program" in refused.err) == (2, True)
