"""A pull request evaluated by the composite action: neutral without a key, worse and better with a model; the hook."""

import json
import os
import runpy
import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from tests.support.command_line import ROOT, say
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel

ACTION = ROOT / ".github" / "actions" / "evaluate"
PARTS = ("bell", "brake", "chain", "frame", "lamp", "pedal", "pump", "saddle")
CASES = [
    {"name": part, "query": f"I need a {part} now", "expected": [{"tool": "sell_parts"}], "family": part}
    for part in PARTS
]


def tools(description: str) -> str:
    """A tools file in which one description decides."""
    told = {"sell_parts": description, "say_hours": "Say what hours people need now."}
    listed = [{"name": name, "description": text, "inputSchema": {"type": "object"}} for name, text in told.items()]
    return json.dumps({"tools": listed})


GOOD, BAD = tools("Sell what people need now: bell brake chain frame lamp pedal pump saddle."), tools("Does.")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose last commit has the good text."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "cases.json").write_text(json.dumps({"version": 1, "cases": CASES}), "utf-8")
    (folder / "tools.json").write_text(GOOD, "utf-8")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    for line in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Start")):
        subprocess.run(["git", *line], cwd=folder, check=True)
    return folder


@pytest.fixture
def evaluated(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Does what the action's script does; returns the exit code, the verdict and the summary."""
    monkeypatch.chdir(repository)
    own = {"SERVER": "tools.json", "CASES": "cases.json", "OUTPUT": "out", "BASE_REF": "HEAD"}
    files = {"GITHUB_OUTPUT": str(repository / "outputs"), "GITHUB_STEP_SUMMARY": str(repository / "summary.md")}

    def evaluate(**variables: str) -> tuple[int, str, str]:
        for name, value in (own | files | variables).items():
            monkeypatch.setenv(name, value)
        code = runpy.run_path(str(ACTION / "evaluate.py"))["main"](os.environ)
        return code, Path("outputs").read_text("utf-8").strip(), Path("summary.md").read_text("utf-8")

    return evaluate


def test_without_a_key_the_check_is_neutral_and_rules_still_run(
    repository: Path, evaluated: Callable[..., tuple[int, str, str]]
) -> None:
    code, verdict, summary = evaluated(MODEL="openai/gpt-x")
    assert (code, verdict) == (0, "verdict=neutral")
    assert "no key" in summary
    assert {"quality.sarif", "similarity.html", "results.xml", "report.html"} <= {
        file.name for file in (repository / "out").iterdir()
    }


def test_with_a_model_base_and_head_are_asked_in_pairs_and_a_worse_text_fails(
    repository: Path, evaluated: Callable[..., tuple[int, str, str]]
) -> None:
    (repository / "tools.json").write_text(BAD, "utf-8")
    with ModelStub(WordSensitiveModel(1, noise=0.01)) as stub:
        asked = {"MODEL": "openai/gpt-4o-mini", "BASE_URL": stub.url, "OPENAI_API_KEY": "sk-for-this-test"}
        code, verdict, summary = evaluated(**asked)
    assert (code, verdict) == (1, "verdict=worse"), summary
    assert "**worse**" in summary
    assert say("verify", repository / "out" / "verdict.json").code == 0
    assert "sk-for-this-test" not in (repository / "out" / "verdict.json").read_text("utf-8")


def test_the_base_is_read_without_filters_and_hooks_of_the_repository(repository: Path, tmp_path: Path) -> None:
    marker, script = tmp_path / "marker", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n", "utf-8")
    script.chmod(0o755)
    (repository / ".git" / "hooks" / "post-checkout").symlink_to(script)
    (repository / ".git" / "info" / "attributes").write_text("* filter=x\n", "utf-8")
    for key in ("filter.x.smudge", "filter.x.process"):
        subprocess.run(["git", "config", key, str(script)], cwd=repository, check=True)
    checked_out = runpy.run_path(str(ACTION / "evaluate.py"))["checked_out"]
    with chdir(repository), checked_out("HEAD") as place:
        assert {one.name for one in place.iterdir()} == {"cases.json", "tools.json"}
        assert (place / "tools.json").read_text("utf-8") == GOOD
    assert not marker.exists()


def test_the_action_and_the_hook_are_sound() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    script = (ACTION / "evaluate.py").read_text("utf-8")
    given = next(step["env"] for step in action["runs"]["steps"] if step.get("id") == "evaluate")
    assert all(f'"{name}"' in script for name in given)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *words = hook["entry"].split()
    assert program == "mcp-tef"
    assert say(*words, ROOT / "resources" / "agents" / "tools.json").code == 0


def test_a_file_whose_name_is_an_option_does_not_turn_the_hook_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    words = hook["entry"].split()[1:]
    bad = {"tools": [{"name": "x", "description": "", "inputSchema": {"type": "object"}}]}
    (tmp_path / "tools.json").write_text(json.dumps(bad), "utf-8")
    (tmp_path / "--baseline=b").mkdir()
    monkeypatch.chdir(tmp_path)
    findings = say("quality", "--tools-file", "tools.json", "--json").out
    (tmp_path / "--baseline=b" / "tools.json").write_text(findings, "utf-8")
    assert say(*words, "tools.json").code == 1
    refused = say(*words, "--baseline=b/tools.json", "tools.json")
    assert (refused.code, "begins with a hyphen" in refused.err) == (2, True)
    assert say(*words, "./--baseline=b/tools.json", "tools.json").code != 0
