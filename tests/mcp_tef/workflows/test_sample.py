"""How the bundled server is started, from the source and from a built app."""

import sys
from pathlib import Path

from mcp_tef.workflows.sample import sample_spec


def test_from_the_source_python_starts_it() -> None:
    assert sample_spec().command == sys.executable
    assert sample_spec().args == ("-P", "-m", "mcp_tef", "sample-server")


def test_a_built_app_starts_its_own_command_line_even_from_the_window() -> None:
    spec = sample_spec(Path("/opt/mcp-tef/mcp-tef-desktop"), built=True)
    assert Path(spec.command or "") == Path("/opt/mcp-tef/mcp-tef")
    assert spec.args == ("sample-server",)
    assert Path(sample_spec(Path("mcp-tef-desktop.exe"), built=True).command or "").name == "mcp-tef.exe"
