"""A workspace exported for CI runs elsewhere, with nothing but the folder."""

import asyncio
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from mcp_tef import Engine, InputError
from tests.support.command_line import ROOT, command, say

ACTION = re.compile(r"uses: (\S+@[0-9a-f]{40} # v\S+)|uses: \S+")


async def export_twice(workspace: Path, folder: Path) -> tuple[Path, ...]:
    async with await Engine.open(workspace) as engine:
        written = await engine.case_files.export_for_ci(folder)
        with pytest.raises(InputError):
            await engine.case_files.export_for_ci(folder)
        return written


def test_the_exported_folder_runs_alone_in_an_empty_home_as_the_workspace_did(tmp_path: Path) -> None:
    workspace, folder, home = tmp_path / "work.db", tmp_path / "for ci", tmp_path / "home"
    home.mkdir()
    ran = say("demo", "--workspace", workspace, "--json").document
    written = asyncio.run(export_twice(workspace, folder))
    assert {path.as_posix() for path in written} >= {"cases.yaml", "mcp-tef.toml", ".github/workflows/mcp-tef.yml"}
    assert all((folder / path).is_file() for path in written)
    workflow = (folder / ".github/workflows/mcp-tef.yml").read_text("utf-8")
    assert "- run: pip install mcp-tef-desktop\n" in workflow
    assert yaml.safe_load(workflow)["jobs"]
    pinned = set(ACTION.findall((ROOT / ".github/workflows/check.yml").read_text("utf-8")))
    assert set(ACTION.findall(workflow)) <= pinned
    assert set(tomllib.loads((folder / "mcp-tef.toml").read_text("utf-8"))) == {"cases", "junit", "tools-file"}
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command("run", "--json"),
        cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    marks = {run["case"]: run["mark"] for run in json.loads(done.stdout)["runs"]}
    assert marks.items() >= {run["case"]: run["mark"] for run in ran["runs"]}.items()
    assert (folder / "mcp-tef-results" / "results.xml").is_file()
    assert list(home.rglob("*.db")) == []
