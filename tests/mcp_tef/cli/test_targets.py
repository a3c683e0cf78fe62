"""`run --all`: targets of a project file, one row each, only those that changed, under one cost cap."""

import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

RIGHT = tool_calls(("weather_report", {"city": "Rome"}))
FILE = """
repeats = 2
[[targets]]
name = "first"
owner = "team a"
tools-file = "first/tools.json"
cases = "first/cases.json"
[[targets]]
name = "second"
tools-file = "second/tools.json"
cases = "second/cases.json"
fail-under = ["correct_tool=0.5"]
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two targets, of which the second has a wrong expectation; it is the current folder."""
    for name, tool in (("first", "weather_report"), ("second", "train_times")):
        (tmp_path / name).mkdir()
        tools_file(tmp_path / name)
        case_file(tmp_path / name, [case("Rain in Rome?", [{"tool": tool}])])
    (tmp_path / "mcp-tef.toml").write_text(FILE, "utf-8")
    monkeypatch.chdir(tmp_path)
    who = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    for line in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Start")):
        subprocess.run(["git", *line], cwd=tmp_path, check=True)
    return tmp_path


def states(*options: str) -> dict[str, tuple[str, str, int]]:
    """State, reason and number of runs of each target."""
    said = say("run", "--all", *options, "--json")
    return {one["target"]: (one["state"], one["reason"], one["runs"]) for one in said.document["targets"]}


def test_every_target_is_a_row_and_the_worst_decides() -> None:
    with ModelStub(lambda _: RIGHT) as stub:
        asked = ("--model", "openai/gpt-x", "--base-url", stub.url)
        said = say("run", "--all", *asked)
        assert said.code == 1
        assert [line.split()[0] for line in said.out.splitlines()] == ["TARGET", "first", "second"]
        assert states(*asked) == {"first": ("passed", "", 2), "second": ("failed", "", 2)}


def test_only_targets_whose_tools_cases_or_settings_changed_are_run(repository: Path) -> None:
    at = ("--changed-from", "HEAD")
    assert states(*at) == {"first": ("unchanged", "", 0), "second": ("unchanged", "", 0)}
    case_file(repository / "first", [case("Rain in Oslo?", [{"tool": "weather_report"}])])
    found = states(*at)
    assert found["first"][1:] == ("cases changed", 2)
    assert found["second"][0] == "unchanged"
    tools = repository / "second" / "tools.json"
    tools.write_text(tools.read_text("utf-8").replace("}", "} ", 1), "utf-8")
    assert states(*at)["second"][1] == "tools changed"
    (repository / "mcp-tef.toml").write_text(FILE.replace("0.5", "0.6") + FILE[FILE.index("[[") :].replace(
        '"first"', '"third"').replace('"second"', '"fourth"'), "utf-8")  # fmt: skip
    found = states(*at)
    assert [found[name][1] for name in ("second", "third")] == ["settings changed", "new target"]


def test_one_cap_holds_for_all_targets_and_an_error_stops_no_other() -> None:
    with ModelStub(lambda _: RIGHT) as stub:
        asked = ("--model", "openai/gpt-x", "--base-url", stub.url, "--price", "1,1", "--max-tokens", "100")
        dear = say("run", "--all", *asked, "--max-cost", "1", "--json").document["targets"]
        spent = dear[0]["cost_usd"]
        assert spent > 0
        count = len(stub.requests)
        poor = say("run", "--all", *asked, "--max-cost", f"{spent * 1.5 + 0.0001:.6f}", "--json")
        assert 0 < len(stub.requests) - count < 4
        assert poor.document["targets"][1]["state"] != "passed"
    Path("first", "tools.json").unlink()
    found = states()
    assert found["first"][0] in ("not run", "not reached")
    assert found["second"][2] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no mcp-tef.toml"),
        ("repeats = 2", "has no [[targets]]"),
        ("targets = [1]", "malformed"),
        ('[[targets]]\nname = "a"\n[[targets]]\nname = "a"', "one name"),
        ('[[targets]]\nname = "a"\nyes = true', "never allows anything for itself"),
    ],
)
def test_a_wrong_project_file_is_said(repository: Path, text: str, message: str) -> None:
    file = repository / "mcp-tef.toml"
    file.write_text(text, "utf-8") if text else file.unlink()
    said = say("run", "--all")
    assert message in said.err + said.out
    assert said.code in (1, 2)


def test_sources_on_the_command_line_and_odd_commits_are_refused() -> None:
    assert say("run", "--all", "--tools-file", "first/tools.json").code == 2
    for ref in ("--upload-pack=x", "nowhere"):
        assert say("run", "--all", f"--changed-from={ref}").code == 2
