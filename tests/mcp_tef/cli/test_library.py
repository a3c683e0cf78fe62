"""`library …` and `servers health`: a tool designed, run, evaluated, improved and exported from the command line."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.command_line import say, say_allowed
from tests.support.library_designs import CITY
from tests.support.serving_verbs import serving
from tests.support.workspace_files import tools_file

WEATHER = {"name": "weather", "description": "Tell the weather.", "inputSchema": CITY}


def file(folder: Path, name: str, content: Any) -> Path:
    """A file of JSON, or of text."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.fixture
def at(tmp_path: Path) -> tuple[str | Path, ...]:
    """A workspace with one tool in its library."""
    options = ("--workspace", tmp_path / "work.db")
    answer = file(tmp_path, "answer.json", {"answer": "Rain in {city}."})
    words = (
        "--config",
        answer,
        "--executor",
        "answer",
        "--category",
        "town/sky",
        "--tag",
        "rain",
        "--changelog",
        "New",
    )
    assert say("library", "add", file(tmp_path, "weather.json", WEATHER), *words, *options).code == 0
    return options


def done(*arguments: str | Path, code: int = 0) -> Any:
    """The document of a command that ends with a code."""
    said = say("library", *arguments, "--json")
    assert said.code == code, said.err + said.out
    return said.document


def test_a_tool_is_shown_listed_edited_compared_and_restored(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    better = file(tmp_path, "better.json", WEATHER | {"description": "Tell if it rains in a city."})
    edited = done("edit", "weather", "--definition", better, "--changelog", "Clearer", *at)
    assert (edited["version"], edited["category"], edited["tags"]) == (2, "sky", ["rain"])
    compared = done("show", "weather", "--compare", "1", "2", *at)["changes"]
    assert [one["path"] for one in compared] == [["description"]]
    assert done("edit", "weather", "--restore", "1", *at)["description"] == "Tell the weather."
    assert "Clearer" in say("library", "show", "weather", "--versions", *at).out
    for words in (("--category", "town"), ("--tag", "rain")):
        assert [tool["name"] for tool in done("list", *words, *at)["tools"]] == ["weather"]
    assert done("list", "--tag", "snow", *at)["tools"] == []


def test_a_transition_that_is_not_allowed_names_those_that_are(at: tuple[str | Path, ...]) -> None:
    said = say("library", "deprecate", "weather", *at)
    assert said.code == 2
    assert "can become active" in said.err
    assert done("activate", "weather", *at)["tools"][0]["status"] == "active"
    assert done("deactivate", "weather", *at)["tools"][0]["status"] == "disabled"


def test_a_tool_is_run_and_its_history_told_and_repeated(at: tuple[str | Path, ...]) -> None:
    assert done("run", "weather", '{"city": "Rome"}', *at)["output"] == "Rain in Rome."
    assert say("library", "run", "weather", '{"city": "Oslo"}', *at).out == "Rain in Oslo.\n"
    assert say("library", "run", "weather", '{"city": 5}', *at).code == 2
    told = done("history", "weather", "--search", "oslo", "--status", "success", *at)
    assert [one["input"] for one in told["executions"]] == [{"city": "Oslo"}]
    assert told["figures"]["error_rate"] == 0.0
    again = done("history", "--again", told["executions"][0]["id"], *at)
    assert again["output"] == "Rain in Oslo."


def test_a_script_needs_consent(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    script = file(tmp_path, "script.py", "def run(input):\n    return {'city': input['city'].upper()}\n")
    done("edit", "weather", "--executor", "python", "--script", script, *at)
    refused = say("library", "run", "weather", '{"city": "Rome"}', *at)
    assert refused.code == 2
    assert say("library", "run", "weather", '{"city": "Rome"}', "--yes", *at).code == 2, "it was not typed"
    ran = say_allowed("library", "run", "weather", '{"city": "Rome"}', "--json", *at)
    assert ran.document["output"] == {"city": "ROME"}


def test_tools_are_imported_exported_and_deleted(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *at).code == 0
    taken = done("import", "--server", "city", "--tool", "weather_report", *at)
    assert taken["added"] == ["weather_report"]
    assert done("import", "--server", "city", *at)["unchanged"] == ["weather_report"]
    exported = tmp_path / "library.json"
    assert done("export", "weather", "--out", exported, *at)["tools"] == 1
    other = ("--workspace", tmp_path / "other.db")
    assert done("import", "--tools-file", exported, *other)["added"] == ["weather"]
    shown = done("show", "weather", *other)
    assert (shown["category"], shown["executor_config"]) == ("sky", {"answer": "Rain in {city}."})
    assert say("library", "delete", "weather", *at).code == 2
    assert done("delete", "weather", "--yes", *at) == {"deleted": ["weather"]}
    assert say("library", "show", "weather", *at).code == 2


def test_a_library_tool_is_evaluated_and_improved_in_a_draft(at: tuple[str | Path, ...], tmp_path: Path) -> None:
    add = ("cases", "add", "Does it rain in Rome?", "--server", "Library", "--tool", "weather")
    assert say(*add, *at).code == 0
    ran = say("run", "--json", *at)
    assert ran.document["runs"][0]["status"] == "completed", ran.err
    assert say("draft", "new", "Better", "--server", "Library", *at).code == 0
    text = file(tmp_path, "text.md", "Tell if it rains in a city today.")
    assert say("draft", "set", "Better", "weather", "--description", text, *at).code == 0
    assert done("import", "--draft", "Better", "--replace", *at)["changed"] == ["weather"]
    shown = done("show", "weather", *at)
    assert (shown["version"], shown["description"]) == (2, "Tell if it rains in a city today.")
    assert shown["executor_config"] == {"answer": "Rain in {city}."}


def test_the_health_of_servers_follows_their_contacts(at: tuple[str | Path, ...]) -> None:
    gone = ("servers", "add", "gone", "--url", "http://127.0.0.1:9/mcp")
    assert say(*gone, "--yes", *at).code in (0, 3)
    for _ in range(2):
        say("servers", "check", "gone", *at)
    said = say("servers", "health", "--json", *at)
    (one,) = said.document["servers"]
    assert (said.code, one["server"], one["status"]) == (1, "gone", "unavailable")
    assert (one["error_rate"], one["last_success"], said.document["overall"]["status"]) == (1.0, None, "unavailable")


async def test_the_library_is_served_on_a_port_with_the_token_of_a_file(
    at: tuple[str | Path, ...], tmp_path: Path
) -> None:
    token = file(tmp_path, "token", "a-token-of-mine-0123456789\n")
    words = ("library", "serve", "--http", "0", "--token-file", token, *at)
    async with serving(*words) as address, httpx.AsyncClient() as client:
        assert address.startswith("http://127.0.0.1:")
        answers = [
            await client.post(address, headers={"Authorization": f"Bearer {given}"})
            for given in ("a-token-of-others-0123456789", "a-token-of-mine-0123456789")
        ]
    assert answers[0].status_code == 401
    assert answers[1].status_code != 401


def test_the_demo_of_the_reading_room_gives_every_case_a_verdict(tmp_path: Path) -> None:
    said = say("demo", "--sample", "reading-room", "--json", "--workspace", tmp_path / "room.db")
    assert said.code == 0, said.err
    assert len(said.document["runs"]) == 60
    assert {one["status"] for one in said.document["runs"]} == {"completed"}
