"""The arrows between the rooms, as contracts in pyproject.toml, each kept."""

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
import tomllib

import pytest
from importlinter.cli import lint_imports

from tests.support.source_modules import ROOT, Module, modules

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONTRACTS = {contract["id"]: contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]}
HEAVY = (
    "litellm",
    "openai",
    "mcp",
    "sqlmodel",
    "sqlalchemy",
    "fastembed",
    "pyqtgraph",
    "PySide6",
    "keyring",
    "fastapi",
    "uvicorn",
)


@pytest.fixture(scope="module")
def graph_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder in which the graph of imports is kept from one contract to the next."""
    return str(tmp_path_factory.mktemp("imports"))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_contract_is_kept(contract: str, graph_cache: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        status = lint_imports(limit_to_contracts=(contract,), cache_dir=graph_cache, no_logo=True)
    assert status == 0, f"{CONTRACTS[contract]}\n{report.getvalue()}"


@pytest.mark.parametrize("module", ["mcp_tef", "mcp_tef.cli.main"])
def test_importing_it_loads_no_heavy_library(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert [name for name in json.loads(child.stdout) if name in HEAVY] == []


def test_every_library_that_is_imported_is_declared() -> None:
    known_as = {"yaml": "pyyaml", "PySide6": "pyside6-essentials", "mcp_types": "mcp"}
    known_as |= {"shiboken6": "pyside6-essentials", "jwt": "pyjwt"}
    extras = PROJECT["project"]["optional-dependencies"]
    requirements = PROJECT["project"]["dependencies"] + extras["serve"] + extras["cluster"] + extras["otel"]
    declared = {re.split(r"[<>=!; ]", requirement)[0] for requirement in requirements}
    ours = {"app", "mcp_tef", "resources"}
    imported = {name for module in modules("app", "mcp_tef") for name in imported_tops(module)}
    unknown = imported - sys.stdlib_module_names - ours
    assert {known_as.get(name, name) for name in unknown} - declared == set()


def imported_tops(module: Module) -> set[str]:
    """The top-level names of everything that a module imports, wherever in the file."""
    plain = {alias.name for node in module.nodes if isinstance(node, ast.Import) for alias in node.names}
    qualified = {node.module or "" for node in module.nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in plain | qualified}
