"""Small commands load what they need, and nothing else: their time is that of their imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef import VERSION
from tests.support.command_line import run, say

ROOT = Path(__file__).parents[3]
NEVER_FOR_CASES = {"numpy", "jsonschema", "regex", "mcp", "litellm", "openai", "httpx", "keyring", "PySide6", "yaml"}
PARTS_NEVER_FOR_CASES = {
    *("mcp_tef.llm", "mcp_tef.scoring.judge", "mcp_tef.servers.client", "mcp_tef.servers.client"),
    *("mcp_tef.statistics", "mcp_tef.reports", "mcp_tef.storage.run_tables"),
    *("mcp_tef.workflows.runs", "mcp_tef.workflows.metrics", "mcp_tef.cli.run", "mcp_tef.model.comparison"),
}
LOADED = """
from mcp_tef.__main__ import main
code = main()
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""


def loaded_by(*arguments: str, cwd: Path) -> set[str]:
    """The modules that a command has loaded when it ends."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}){LOADED}", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with one case."""
    workspace = tmp_path / "work.db"
    assert say("cases", "add", "Find a saddle", "--no-tool", "--workspace", workspace).code == 0
    return workspace


def test_the_version_loads_neither_the_command_line_nor_the_library(tmp_path: Path) -> None:
    assert {name for name in loaded_by("--version", cwd=tmp_path) if name.startswith("mcp_tef")} == {
        *("mcp_tef", "mcp_tef.__main__", "mcp_tef.model", "mcp_tef.model.installation")
    }


def test_the_version_is_told_alone_and_beside_other_options() -> None:
    assert {run(*given).out for given in (("--version",), ("--json", "--version"))} == {f"mcp-tef {VERSION}\n"}


@pytest.mark.parametrize("verb", ["list", "show"])
def test_listing_cases_loads_no_library_that_it_does_not_use(verb: str, workspace: Path) -> None:
    case = ("Find a saddle",) if verb == "show" else ()
    loaded = loaded_by("cases", verb, *case, "--workspace", str(workspace), cwd=workspace.parent)
    assert "sqlmodel" in loaded
    assert loaded & (NEVER_FOR_CASES | PARTS_NEVER_FOR_CASES) == set()
