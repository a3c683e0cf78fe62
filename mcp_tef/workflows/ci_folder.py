"""Folder with everything that runs the cases of a workspace in continuous integration."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.model.installation import PACKAGE
from mcp_tef.model.tools import Tool
from mcp_tef.trust.files import make_folder, write_failed, write_inside

CASES, OPTIONS, WORKFLOW = Path("cases.yaml"), Path("mcp-tef.toml"), Path(".github/workflows/mcp-tef.yml")
_UNFIT = re.compile(r"[^\w.-]+")
_NO_NAME = set("/\\:?\"'=")
_OPTIONS = """\
# Options of `mcp-tef run` in this folder: `mcp-tef run` alone runs these cases against these tools.
# The tools are those that the servers listed last; export again after a change of them.
# Without a model the offline baseline selects: model = ["openai/gpt-4.1-mini"]
# A threshold decides instead of single cases: fail-under = ["correct_call=0.8"]
# Results go into the folder mcp-tef-results.
cases = "cases.yaml"
junit = "results.xml"

[tools-file]
"""
_WORKFLOW = f"""\
name: mcp-tef
on: [push, pull_request]
permissions:
  contents: read
jobs:
  tools:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
      - uses: actions/setup-python@a309ff8b426b58ec0e2a45f0f869d46889d02405 # v6.2.0
        with:
          python-version: "3.12"
      - run: pip install {PACKAGE}
      # With a model, pass its key: env: {{OPENAI_API_KEY: "${{{{ secrets.OPENAI_API_KEY }}}}"}}
      - run: mcp-tef run --markdown "$GITHUB_STEP_SUMMARY"
"""


def write_ci_folder(folder: Path, tools: Mapping[str, tuple[Tool, ...] | None]) -> tuple[Path, ...]:
    """Write the tools of each server, the options of `run` and a workflow file; return their paths in the folder.

    InputError if one of them is there already, or if a server's name cannot stand in the options.
    """
    lists = {name: listed for name, listed in tools.items() if listed}
    files = {name: Path("tools") / f"{_UNFIT.sub('-', name)}-{number}.json" for number, name in enumerate(lists, 1)}
    texts = {files[name]: json.dumps({"tools": [dict(tool.raw) for tool in lists[name]]}, indent=2) for name in lists}
    texts |= {OPTIONS: _OPTIONS + "".join(map(_option, files.items())), WORKFLOW: _WORKFLOW}
    if there := next((path for path in (*texts, CASES) if os.path.lexists(folder / path)), None):
        raise InputError(f"{folder / there} is there already.", hint="Select an empty folder, or remove that file.")
    for path, text in texts.items():
        _write(folder, path, text)
    return tuple(texts)


def _write(folder: Path, path: Path, text: str) -> None:
    try:
        make_folder(folder)
        write_inside(folder, path.as_posix(), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise write_failed(folder / path, error) from error


def _option(tools: tuple[str, Path]) -> str:
    name, file = tools
    if set(name) & _NO_NAME:
        raise InputError(f"The name of the server {name} cannot stand in mcp-tef.toml.", hint="Rename the server.")
    return f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(file.as_posix())}\n"
