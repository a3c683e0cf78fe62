"""A pull request evaluated by the composite action: neutral without a key, worse and better with a model; the hook."""

import json
import os
import subprocess
import sys
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


def evaluated(folder: Path, **variables: str) -> tuple[int, str, str]:
    """The exit code, the verdict and the summary of the action's script."""
    own = {"SERVER": "tools.json", "CASES": "cases.json", "OUTPUT": "out", "BASE_REF": "HEAD", "PYTHONPATH": str(ROOT)}
    files = {"GITHUB_OUTPUT": str(folder / "outputs"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, str(ACTION / "evaluate.py")], cwd=folder, env=kept | own | files | variables,
        capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert (folder / "outputs").exists(), done.stderr
    return done.returncode, (folder / "outputs").read_text("utf-8").strip(), (folder / "summary.md").read_text("utf-8")


def test_without_a_key_the_check_is_neutral_and_rules_still_run(repository: Path) -> None:
    code, verdict, summary = evaluated(repository, MODEL="openai/gpt-x")
    assert (code, verdict) == (0, "verdict=neutral")
    assert "no key" in summary
    assert {"quality.sarif", "similarity.html", "results.xml", "report.html"} <= {
        file.name for file in (repository / "out").iterdir()
    }


def test_with_a_model_base_and_head_are_asked_in_pairs_and_a_worse_text_fails(repository: Path) -> None:
    (repository / "tools.json").write_text(BAD, "utf-8")
    with ModelStub(WordSensitiveModel(1, noise=0.01)) as stub:
        asked = {"MODEL": "openai/gpt-4o-mini", "BASE_URL": stub.url, "OPENAI_API_KEY": "sk-for-this-test"}
        code, verdict, summary = evaluated(repository, **asked)
    assert (code, verdict) == (1, "verdict=worse"), summary
    assert "**worse**" in summary
    assert say("verify", repository / "out" / "verdict.json").code == 0
    assert "sk-for-this-test" not in (repository / "out" / "verdict.json").read_text("utf-8")


def test_the_action_and_the_hook_are_sound() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    script = (ACTION / "evaluate.py").read_text("utf-8")
    given = next(step["env"] for step in action["runs"]["steps"] if step.get("id") == "evaluate")
    assert all(f'"{name}"' in script for name in given)
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *words = hook["entry"].split()
    assert program == "mcp-tef"
    assert say(*words, ROOT / "resources" / "agents" / "tools.json").code == 0
