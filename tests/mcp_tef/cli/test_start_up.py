"""Small commands load what they need, and nothing else: their time is that of their imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef import VERSION
from mcp_tef.cli.main import main
from tests.support.command_line import say

ROOT = Path(__file__).parents[3]
NEVER_FOR_CASES = {"numpy", "jsonschema", "regex", "mcp", "litellm", "openai", "httpx", "keyring", "PySide6", "yaml"}
PARTS_NEVER_FOR_CASES = {
    *("mcp_tef.llm", "mcp_tef.scoring.judge", "mcp_tef.servers.client", "mcp_tef.servers.client"),
    *("mcp_tef.statistics", "mcp_tef.reports", "mcp_tef.storage.run_tables"),
    *("mcp_tef.workflows.runs", "mcp_tef.workflows.metrics", "mcp_tef.cli.run", "mcp_tef.model.comparison"),
}
LOADED = """
from mcp_tef.__main__ import main
program, *lines = sys.argv
for line in lines:
    sys.argv = [program, *line.split("|")]
    assert main() == 0
print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*commands: tuple[str, ...], cwd: Path) -> tuple[set[str], str]:
    """The modules that a process has loaded when its commands have ended, and what they said."""
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}){LOADED}"
    lines = ["|".join(arguments) for arguments in commands]
    done = subprocess.run([sys.executable, "-c", start, *lines], cwd=cwd, capture_output=True, text=True, check=True)
    return set(done.stderr.split()), done.stdout


def test_the_version_loads_neither_the_command_line_nor_the_library(tmp_path: Path) -> None:
    loaded, said = loaded_by(("--version",), cwd=tmp_path)
    assert {name for name in loaded if name.startswith("mcp_tef")} == {
        *("mcp_tef", "mcp_tef.__main__", "mcp_tef.model", "mcp_tef.model.installation")
    }
    assert said == f"mcp-tef {VERSION}\n"


def test_the_version_is_told_beside_other_options_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--version"]) == 0
    assert capsys.readouterr().out == f"mcp-tef {VERSION}\n"


def test_listing_cases_loads_no_library_that_it_does_not_use(tmp_path: Path) -> None:
    at = ("--workspace", str(tmp_path / "work.db"))
    assert say("cases", "add", "Find a saddle", "--no-tool", *at).code == 0
    loaded, _ = loaded_by(("cases", "list", *at), ("cases", "show", "Find a saddle", *at), cwd=tmp_path)
    assert "sqlmodel" in loaded
    assert loaded & (NEVER_FOR_CASES | PARTS_NEVER_FOR_CASES) == set()
