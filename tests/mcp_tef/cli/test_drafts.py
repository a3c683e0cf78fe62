"""`draft …`: from a new draft to its exports, with every manner of the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.model.json_patch import apply_patch
from tests.support.command_line import Said, say
from tests.support.workspace_files import TOOLS, tools_file, written


@pytest.fixture
def at(tmp_path: Path) -> tuple[str | Path, ...]:
    """A workspace with a draft over a server of two tools."""
    options = ("--workspace", tmp_path / "work.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *options).code == 0
    said = say("draft", "new", "Shorter", "--server", "city", *options)
    assert (said.code, said.out) == (0, "The draft Shorter stands over 2 tools.\n")
    return options


def done(*arguments: str | Path, stdin: str = "") -> Any:
    """The document of a command that succeeds."""
    said = say("draft", *arguments, "--json", stdin=stdin)
    assert said.code == 0, said.err
    return said.document


def test_every_field_of_a_tool_is_set_from_options(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("Forecast for a city.\n")
    done("set", "Shorter", "weather_report", "--description", text, "--title", "Weather", "--rename", "forecast", *at)
    done("set", "shorter", "forecast", "--annotation", "readOnlyHint=true", "--description", "-", *at, stdin="Piped.")
    parameter = ("--parameter", "city", "--parameter-description", "Where.", "--rename-parameter", "town")
    values = ("--enum", '["Oslo", "Rome"]', "--default", '"Oslo"', "--optional")
    found = done("set", "Shorter", "forecast", *parameter, *values, *at)
    tool = apply_patch({"tools": list(TOOLS)}, found["patch"])["tools"][0]
    assert tool == {
        "name": "forecast",
        "title": "Weather",
        "description": "Piped.",
        "annotations": {"readOnlyHint": True},
        "inputSchema": {
            "type": "object",
            "properties": {
                "town": {"type": "string", "description": "Where.", "enum": ["Oslo", "Rome"], "default": "Oslo"}
            },
        },
    }
    more = done("set", "Shorter", "forecast", "--parameter", "town", "--no-default", "--required", *at)
    assert apply_patch({"tools": list(TOOLS)}, more["patch"])["tools"][0]["inputSchema"]["required"] == ["town"]
    assert more["changed"] == ["forecast"]


def test_tools_are_added_removed_patched_undone_and_redone(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    tool = json.dumps({"name": "rent", "inputSchema": {"type": "object"}})
    assert done("add", "Shorter", "-", *at, stdin=tool)["changed"] == ["rent"]
    assert done("set", "Shorter", "train_times", "--remove", *at)["changed"] == ["train_times", "rent"]
    operations = [{"op": "replace", "path": "/tools/0/description", "value": "Forecast."}]
    patched = done("patch", "Shorter", written(tmp_path / "fix.json", operations), *at)
    assert (patched["step"], patched["changed"]) == (3, ["weather_report", "train_times", "rent"])
    assert done("undo", "Shorter", *at)["changed"] == ["train_times", "rent"]
    assert done("redo", "Shorter", *at)["changed"] == patched["changed"]
    shown = say("draft", "show", "Shorter", *at)
    assert (shown.code, "Forecast." in shown.out, "rent is added" in shown.out) == (0, True, True)
    (listed,) = done("list", *at)["drafts"]
    assert (listed["name"], listed["server"], listed["steps"]) == ("Shorter", "city", 3)
    assert done("remove", "Shorter", *at) == {"removed": "Shorter"}
    assert say("draft", "list", *at).out == "There is no draft yet.\n"


MISTAKES = (
    (("show", "Shortr"), "There is no draft named “Shortr”. Did you mean Shorter?"),
    (("new", "SHORTER", "--server", "city"), "There is a draft named “SHORTER” already."),
    (("new", "x", "--server", "cty"), "There is no server named cty. Did you mean city?"),
    (("new", "x", "--tools-file", "gone.json"), "gone.json, does not exist."),
    (("set", "Shorter", "train_time", "--title", "x"), "There is no tool “train_time”. Did you mean train_times?"),
    (("set", "Shorter", "train_times"), "Nothing was given to change."),
    (("set", "Shorter", "train_times", "--optional"), "No parameter is named. Add --parameter NAME."),
    (("set", "Shorter", "train_times", "--parameter", "x", "--enum", "5"), "--enum is not a list."),
    (("set", "Shorter", "train_times", "--parameter", "x", "--default", "a"), "--default is not valid JSON."),
    (("set", "Shorter", "train_times", "--annotation", "x"), "--annotation x has no value."),
    (("set", "Shorter", "train_times", "--description", "gone.md"), "gone.md cannot be read: No such file"),
    (("set", "Shorter", "train_times", "--rename", "weather_report"), "2 tools would be named “weather_report”."),
    (("set", "Shorter", "train_times", "--parameter", "staton", "--required"), "Did you mean station?"),
    (("patch", "Shorter", "-"), "standard input is not valid JSON."),
    (("add", "Shorter", "-"), "standard input is not valid JSON."),
    (("undo", "Shorter"), "There is nothing to undo in the draft Shorter. It has no step yet."),
    (("redo", "Shorter"), "There is nothing to redo in the draft Shorter."),
    (("export", "Shorter", "--out", "draft.docx"), "The ending of draft.docx names no format."),
)


def test_bad_input_is_one_sentence_with_exit_code_2_and_changes_nothing(at: tuple[str | Path, ...]) -> None:
    before = done("show", "Shorter", *at)
    for arguments, said in MISTAKES:
        answer = say("draft", *arguments, *at)
        assert (answer.code, answer.out, said in answer.err) == (2, "", True), (arguments, answer.err)
        assert answer.err.count("\n") == 1, answer.err
    assert done("show", "Shorter", *at) == before


def exported(at: tuple[str | Path, ...], *arguments: str | Path) -> Said:
    """What an export says."""
    said = say("draft", "export", "Shorter", *arguments, *at)
    assert said.code == 0, said.err
    return said


def test_a_draft_leaves_in_five_formats(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    done("set", "Shorter", "weather_report", "--description", "-", "--title", "W", *at, stdin="Fore`cast` <b>.")
    done("set", "Shorter", "train_times", "--remove", *at)
    operations = json.loads(exported(at).out)
    tools = json.loads(exported(at, "--format", "tools").out)
    assert apply_patch({"tools": list(TOOLS)}, operations) == tools
    assert [raw["name"] for raw in tools["tools"]] == ["weather_report"]
    override = exported(at, "--format", "override")
    assert json.loads(override.out) == {"toolsOverride": {"weather_report": {"description": "Fore`cast` <b>."}}}
    assert override.err == "An override cannot hold: title of weather_report, train_times is removed.\n"
    files = {"a.patch.json": "patch", "a.override.json": "override", "a.tools.json": "tools", "a.md": "markdown"}
    for name, kind in (files | {"a.html": "html"}).items():
        assert exported(at, "--out", tmp_path / name).out.startswith(f"The {kind} of Shorter was written to ")
    assert json.loads((tmp_path / "a.patch.json").read_text()) == operations
    assert json.loads((tmp_path / "a.tools.json").read_text()) == tools
    markdown, html = ((tmp_path / name).read_text() for name in ("a.md", "a.html"))
    assert "```text\nWhat the weather is like in a city.\n```" in markdown
    assert "```text\nFore`cast` <b>.\n```" in markdown
    assert "train\\_times (removed)" in markdown
    assert "Fore`cast` &lt;b&gt;." in html
    assert exported(at, "--format", "markdown", "--out", "-").out == markdown
    assert json.loads(exported(at, "--json").out)["text"] == (tmp_path / "a.patch.json").read_text()


def test_a_draft_is_moved_to_changed_tools_or_says_which_texts_differ(
    at: tuple[str | Path, ...], tmp_path: Path
) -> None:
    done("set", "Shorter", "weather_report", "--description", "-", *at, stdin="Forecast.")
    now = written(tmp_path / "now.json", {"tools": [TOOLS[1], {**TOOLS[0], "description": "Weather of a city."}]})
    left = say("draft", "rebase", "Shorter", "--tools-file", now, *at)
    assert left.code == 1
    for text in ("What the weather is like in a city.", "Weather of a city.", "Forecast."):
        assert text in left.out
    assert left.err == "Nothing was changed. Keep one side with --keep draft or --keep listing.\n"
    kept = done("rebase", "Shorter", "--tools-file", now, "--keep", "draft", *at)
    assert (kept["rebased"], kept["patch"][0]["path"]) == (True, "/tools/1/name")
    back = done("rebase", "Shorter", "--keep", "listing", *at)
    assert (back["changed"], [one["tool"] for one in back["conflicts"]]) == ([], ["weather_report"])
