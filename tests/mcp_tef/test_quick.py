"""Quick functions and the pytest plugin: the documented examples, a model, a started program, and failure texts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef import InputError, quick
from tests.support.command_line import ROOT
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import TOOLS, case, case_file, tools_file

PAGE = (ROOT / "resources" / "help" / "python.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
RAIN = case("Rain in Rome?", [{"tool": "weather_report", "parameters": {"city": "Rome"}}])


@pytest.mark.parametrize("number", range(4))
def test_every_example_of_the_page_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[number], f"python.md, example {number}", "exec"), {})


def test_there_is_no_other_example() -> None:
    assert len(EXAMPLES) == 4
    functions = set(re.findall(r"`quick\.(\w+)\(", PAGE))
    assert all(hasattr(quick, name) for name in functions)


def test_a_model_is_asked_and_a_wrong_argument_is_told() -> None:
    with ModelStub(lambda _: tool_calls(("weather_report", {"city": "Oslo"}))) as stub:
        result = quick.check(TOOLS, [RAIN], "openai/gpt-x", base_url=stub.url, key="sk-for-this-test", repeats=2)
    assert (result.passed, result.correct_call, len(result.runs)) == (False, 0.0, 2)
    assert "Rain in Rome?" in result.failures[0]
    assert '"Oslo"' in result.failures[0]
    assert len(stub.requests) == 2


def test_a_named_command_is_started_and_bad_input_is_said() -> None:
    with quick.QuickSession(f'"{sys.executable}" -P -m mcp_tef sample-server') as session:
        assert len(session.tools().tools) > 3
    with pytest.raises(InputError):
        quick.check(TOOLS, [{"name": "no query"}])
    with pytest.raises(InputError):
        quick.judge([{"tool": 5}], [], TOOLS)
    with pytest.raises(InputError):
        quick.QuickSession(TOOLS).tools()


def test_cases_are_tests_on_a_worker_too_with_the_verdict_or_the_mistake_as_their_failure(tmp_path: Path) -> None:
    tools_file(tmp_path)
    case_file(tmp_path, [case("weather report in Rome", [{"tool": "weather_report"}]), RAIN])
    (tmp_path / "broken.json").write_text("{}", "utf-8")
    (tmp_path / "test_own.py").write_text(
        "def test_own(tef):\n    assert tef.check('cases.json').runs\n    assert tef.lint().tools\n", "utf-8"
    )
    plugins = ("-p", "xdist", "-p", "mcp_tef.pytest_plugin", "-p", "no:cacheprovider")
    named = ("--mcp-tef", "cases.json", "--mcp-tef", "broken.json", "--mcp-tef-server", "tools.json")
    options = ("-n", "1", "-v", "--continue-on-collection-errors")
    said = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *named, *options],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # each takes time to load
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert "1 failed, 2 passed, 1 error" in said.stdout, said.stdout + said.stderr
    assert 'expected  weather_report {"city":"Rome"}' in said.stdout
    assert "test_own" in said.stdout
    assert "\nbroken.json holds no" in said.stdout, said.stdout
    assert "Traceback" not in said.stdout
    assert said.returncode == 1
