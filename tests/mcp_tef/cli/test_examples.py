"""The examples in the help of all verbs, each pasted in order; and a test for every option of every verb."""

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef import default_workspace
from mcp_tef.cli.examples import EXAMPLES
from mcp_tef.cli.main import parser
from tests.support import routers
from tests.support.command_line import ROOT, say
from tests.support.forgetful_keychain import NONE, keychain
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import TOOLS, case, tools_file

OPENS_OR_SERVES = {"gui", "sample-server", "library serve", "mcp", "serve"}
NOTHING_LEFT = "no run left to do"
NO_KEY = "There is no key for brave"
CASES = [
    {**case("weather report", [{"tool": "weather_report"}], server="shop"), "suites": ["Smoke"]},
    {**case("train times", [{"tool": "train_times"}], server="shop"), "suites": ["Smoke"]},
]


def verbs(above: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb by its whole name."""
    groups = [one for one in above._actions if isinstance(one, argparse._SubParsersAction)]
    for group in groups:
        for key, below in group.choices.items():
            yield from verbs(below, f"{name} {key}".strip())
    if not groups:
        yield name, above


def test_the_help_of_every_verb_has_its_example() -> None:
    shown = {name: verb.format_help() for name, verb in verbs(parser())}
    assert set(EXAMPLES) == set(shown) - {"sample-server", "manual"}
    assert [name for name, example in EXAMPLES.items() if f"  {example}\n" not in shown[name] + "\n"] == []


def test_every_example_works_when_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert say("demo", "--workspace", default_workspace()).code == 0
    tools_file(tmp_path)
    (tmp_path / "cases.yaml").write_text(json.dumps({"cases": CASES}), "utf-8")
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"clock": {"command": "uvx"}}}), "utf-8")
    (tmp_path / "fix.patch.json").write_text('[{"op": "remove", "path": "/tools/1/title"}]', "utf-8")
    (tmp_path / "client.yaml").write_text("name: ours\ntitle: Ours\nversion: 1\nchecked: '2026-11-26'\n", "utf-8")
    (tmp_path / "router.yaml").write_text(json.dumps(routers.WORDS_ONLY), "utf-8")
    tool = {"name": "rent", "description": "Rent a bike.", "inputSchema": {"type": "object"}}
    (tmp_path / "tool.json").write_text(json.dumps(tool), "utf-8")
    (tmp_path / "prompt.txt").write_text("Choose a tool. Be {{tone}}.", "utf-8")
    call: dict[str, object] = {"id": "1", "query": "rain?", "tools": TOOLS, "expected": None, "calls": []}
    (tmp_path / "recorded.jsonl").write_text(json.dumps(call) + "\n", "utf-8")
    said = say("run", "--tools-file", "tools.json", "--cases", "cases.yaml", "--verdict", "verdict.json")
    assert said.code in (0, 1)
    for number in (1, 2):
        at = ("--workspace", f"part-{number}.db")
        assert say("servers", "add", "shop", "--tools-file", "tools.json", *at).code == 0
        assert say("cases", "import", "cases.yaml", *at).code == 0
        assert say("run", "--shard", f"{number}/2", *at).code in (0, 1)
    with ModelStub() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-kept")
        for name, example in EXAMPLES.items():
            program, *words = shlex.split(example)
            assert program == "mcp-tef"
            if name.startswith("keys"):
                with keychain(NONE):
                    assert say(*words, stdin="sk-not-to-be-kept\n").code in (0, 3), example
            elif name not in OPENS_OR_SERVES:
                said = say(*words)
                done = (0, 1) if name == "runs merge" else (0,)  # like `run`, it fails where runs are wrong
                assert said.code in done or NOTHING_LEFT in said.err or NO_KEY in said.err, (example, said)


def options_with_tests() -> dict[str, list[str]]:
    """Each option of each verb, with the test files that use it."""
    folder = ROOT / "tests"
    files = {
        file.relative_to(folder).as_posix(): set(re.findall(r"(?<![\w-])--?[\w-]+", file.read_text("utf-8")))
        for file in folder.rglob("test_*.py")
    }
    options = {name for _, verb in verbs(parser()) for action in verb._actions for name in action.option_strings}
    return {
        name: [file for file, words in files.items() if name in words] for name in sorted(options - {"-h", "--help"})
    }


def test_every_option_is_used_by_a_test() -> None:
    assert [name for name, files in options_with_tests().items() if not files] == []
