"""What a project file has started, contacted, sent and spent: one question, which --yes does not answer."""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from mcp_tef.cli.main import _outcome
from mcp_tef.cli.terminal import Terminal
from tests.support.command_line import say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

RIGHT = tool_calls(("weather_report", {"city": "Rome"}))
SAMPLE = f"{sys.executable} -P -m mcp_tef sample-server"


class Screen(StringIO):
    """A stream at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with tools and a case."""
    place = tmp_path / "clone"
    place.mkdir()
    tools_file(place)
    case_file(place, [case("Rain in Rome?", [{"tool": "weather_report"}])])
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def stub() -> Iterator[ModelStub]:
    """A server of models that counts its callers."""
    with ModelStub(lambda _: RIGHT) as server:
        yield server


def project(*lines: str) -> None:
    Path("mcp-tef.toml").write_text("\n".join(('cases = "cases.json"', *lines)) + "\n", "utf-8")


def program(marker: Path, name: str = "server-command") -> str:
    return f"{name} = {json.dumps(f'touch {marker}')}"


def at_a_terminal(answers: str, *arguments: str) -> tuple[int, str]:
    """Run a command with answers typed at a terminal; the exit code, and what was asked."""
    errors = Screen()
    terminal = Terminal(input=Screen(answers), output=Screen(), errors=errors)
    with terminal.interruption.handled():
        return _outcome([*arguments], terminal, ()), errors.getvalue()


@pytest.mark.parametrize("options", [("--yes",), ("--yes", "--no-key"), ("--allow-program", "/bin/true"), ()])
def test_no_program_of_a_project_file_starts_unasked(tmp_path: Path, options: tuple[str, ...]) -> None:
    project(program(tmp_path / "marker"))
    said = say("run", *options)
    assert (said.code, "--allow-program" in said.err, "Add --yes" in said.err) == (2, True, False)
    assert not (tmp_path / "marker").exists()


def test_a_typed_program_starts_with_yes(tmp_path: Path) -> None:
    project(program(tmp_path / "other"))
    said = say("run", "--server-command", f"touch {tmp_path / 'marker'}", "--cases", "cases.json", "--yes")
    assert (said.code, (tmp_path / "marker").exists(), (tmp_path / "other").exists()) == (3, True, False)


def test_the_programs_of_the_project_are_allowed_as_they_stand_and_told(tmp_path: Path) -> None:
    project(program(tmp_path / "marker"))
    said = say("run", "--allow-program", "project")
    assert (tmp_path / "marker").exists()
    assert "Allowed by --allow-program project: " in said.err
    assert str(tmp_path / "marker") in said.err
    Path("mcp-tef.toml").unlink()
    missing = say("run", "--allow-program", "project", "--tools-file", "tools.json", "--cases", "cases.json")
    assert (missing.code, "No project file" in missing.err) == (2, True)


@pytest.mark.parametrize("model", ["openai/gpt-x", "ollama_chat/x", "lm_studio/x"])
def test_an_address_of_models_asks_with_a_key_or_without(
    stub: ModelStub, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-sent")
    project('tools-file = "tools.json"', f'model = ["{model}"]', f'base-url = "{stub.url}"')
    for options in ((), ("--yes",), ("--no-key",), ("--yes", "--no-key", "--max-cost", "1")):
        assert say("run", *options).code == 2
    assert stub.requests == []


def test_an_origin_is_allowed_alone_or_with_its_key(stub: ModelStub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-sent")
    origin = stub.url.removesuffix("/v1")
    project('tools-file = "tools.json"', 'model = ["openai/gpt-x"]', f'base-url = "{stub.url}"')
    assert say("run", "--allow-origin", origin).code == 0
    sent = [request.headers.get("authorization", "") for request in stub.requests]
    assert sent
    assert not any("sk-not-to-be-sent" in one for one in sent), "a stored key does not go to this machine"
    assert say("run", "--allow-origin", f"OPENAI_API_KEY={origin}").code == 0
    assert say("run", "--allow-origin", "http://127.0.0.1:1").code == 2


def test_one_question_covers_all_and_is_remembered(stub: ModelStub, folder: Path) -> None:
    case_file(folder, [case("A flat tyre", [{"tool": "book_repair"}])])
    project(f"server-command = {json.dumps(SAMPLE)}", 'model = ["openai/gpt-x"]', f'base-url = "{stub.url}"')
    for answer in ("n\n", "\n", ""):
        code, asked = at_a_terminal(answer, "run")
        assert (code, asked.count("[y/N]"), stub.requests) == (2, 1, [])
    code, asked = at_a_terminal("y\n", "run")
    assert (code in (0, 1), asked.count("[y/N]")) == (True, 1), asked
    assert "Start server?" in asked
    assert stub.url.removesuffix("/v1") in asked
    assert str(Path("mcp-tef.toml").absolute()) in asked
    assert stub.requests
    code, asked = at_a_terminal("", "run")
    assert (code in (0, 1), asked.count("[y/N]")) == (True, 0), asked


def test_all_targets_are_asked_about_once(tmp_path: Path) -> None:
    targets = [f'[[targets]]\nname = "{name}"\n{program(tmp_path / name)}' for name in ("a", "b")]
    project(*targets)
    code, asked = at_a_terminal("n\n", "run", "--all")
    assert (code, asked.count("[y/N]"), asked.count("Start server?")) == (2, 1, 2)
    code, asked = at_a_terminal("y\n", "run", "--all")
    assert asked.count("[y/N]") == 1
    assert {"a", "b"} <= {one.name for one in tmp_path.iterdir()}
    for options in (("--yes",), ()):
        (tmp_path / "a").unlink(missing_ok=True)
        project(targets[0], program(tmp_path / "a", "url").replace("touch", "http://127.0.0.1:1/"))
        assert say("run", "--all", *options).code == 2
        assert not (tmp_path / "a").exists()


def test_a_dear_run_asks_unless_a_cap_is_typed(stub: ModelStub) -> None:
    dear = ("run", "--base-url", stub.url, "--price", "1000,1000")
    project('tools-file = "tools.json"', 'model = ["openai/gpt-x"]', "repeats = 5")
    said = say(*dear)
    assert (said.code, "Add --max-cost" in said.err, stub.requests) == (2, True, [])
    assert say(*dear, "--yes").code == 2
    code, asked = at_a_terminal("n\n", *dear)
    assert (code, asked.count("[y/N]"), stub.requests) == (2, 1, [])
    assert "no cap was typed" in asked
    assert at_a_terminal("y\n", *dear)[0] == 0
    count = len(stub.requests)
    assert say(*dear, "--max-cost", "100").code == 0
    assert len(stub.requests) == count + 5
    project('tools-file = "tools.json"', 'model = ["openai/gpt-x"]', "repeats = 5", "max-cost = 0.5")
    said = say(*dear, "--max-tokens", "10")
    assert said.code != 2 or "--max-cost" not in said.err, "a cap of the file that is low enough needs no yes"
    project('tools-file = "tools.json"', 'model = ["openai/gpt-x"]', "repeats = 5", "max-cost = 100")
    assert say(*dear).code == 2


def test_an_unknown_price_of_a_model_that_the_file_names_asks() -> None:
    project('tools-file = "tools.json"', 'model = ["openai/gpt-unknown"]')
    said = say("run")
    assert said.code in (2, 3)
    assert "no cap was typed" in said.err or "key" in said.err
