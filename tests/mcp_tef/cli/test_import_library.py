"""Tools of the library on their way to another one and back: category path and status come along, changes are said."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import say

TOOL = {"name": "weather", "description": "Tell the weather.", "inputSchema": {"type": "object"}}


def exported(tmp_path: Path, *at: str | Path) -> Any:
    file = tmp_path / "out.json"
    file.unlink(missing_ok=True)
    assert say("library", "export", "--out", file, *at).code == 0
    return json.loads(file.read_text("utf-8"))


def test_a_library_that_is_shared_keeps_all_and_says_each_change(tmp_path: Path) -> None:
    at = ("--workspace", tmp_path / "other.db")
    options = ("--category", "town/buses", "--tag", "rain")
    assert say("library", "add", "-", *options, stdin=json.dumps(TOOL)).code == 0
    assert say("library", "activate", "weather").code == 0
    whole = exported(tmp_path)
    line = ("library", "import", "--tools-file", tmp_path / "out.json", "--json")
    assert say(*line, *at).document["added"] == ["weather"]
    assert exported(tmp_path, *at) == whole, "category path and status come along"
    assert say(*line, *at).document["unchanged"] == ["weather"]

    changed = {"name": "Weather", "description": "Tell it."}
    file = tmp_path / "changed.json"
    file.write_text(json.dumps({"tools": [TOOL | changed]}), "utf-8")
    again = ("library", "import", "--tools-file", file)
    refused = say(*again, *at)
    assert (refused.code, "--replace" in refused.err, "Tell the weather. → Tell it." in refused.err) == (2, True, True)
    assert exported(tmp_path, *at) == whole
    said = say(*again, "--replace", "--json", *at).document
    assert said["changes"][0]["changes"] == [
        {"field": "description", "before": "Tell the weather.", "after": "Tell it."}
    ]
    whole["tools"][0]["description"] = "Tell it."
    assert exported(tmp_path, *at) == whole, "no twin, and what the file does not name stays"
    back = say("library", "import", "--tools-file", tmp_path / "out.json", "--replace", "--json").document
    assert (back["added"], back["changed"]) == ([], ["weather"])
    assert exported(tmp_path) == whole
