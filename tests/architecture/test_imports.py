"""What may be imported and is loaded, beside the contracts in pyproject.toml, which `dev.py check` holds."""

import ast
import json
import re
import subprocess
import sys
import tomllib

import pytest

from tests.support.source_modules import ROOT, Module, modules

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
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


@pytest.mark.parametrize("module", ["mcp_tef", "mcp_tef.cli.main"])
def test_importing_it_loads_no_heavy_library(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert [name for name in json.loads(child.stdout) if name in HEAVY] == []


def test_every_front_end_is_in_the_contract_of_doors() -> None:
    contracts = {contract["id"]: contract for contract in PROJECT["tool"]["importlinter"]["contracts"]}
    layers: list[str] = contracts["core-layers"]["layers"]
    above = layers[layers.index("cli") : layers.index("reports")]
    doors = {f"mcp_tef.{name}" for layer in above for name in layer.split(" | ")}
    assert set(contracts["doors-hold-no-rules"]["source_modules"]) == {"app", *doors}


def test_workers_of_a_cluster_get_functions_of_the_core_only() -> None:
    cluster = [module for module in modules("mcp_tef") if module.path.startswith("mcp_tef/api/cluster")]
    nodes = [node for module in cluster for node in module.nodes]
    ours = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mcp_tef.")
        for alias in node.names
    }
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    sent = {ast.unparse(call.args[0]) for call in calls if ast.unparse(call.func).endswith("client.submit")}
    assert "execute_runs" in sent
    assert sent <= ours


def test_every_library_that_is_imported_is_declared() -> None:
    known_as = {
        "yaml": "pyyaml",
        "PySide6": "pyside6-essentials",
        "mcp_types": "mcp",
        "opentelemetry": "opentelemetry-sdk",
    }
    known_as |= {"shiboken6": "pyside6-essentials", "jwt": "pyjwt"}
    extras = PROJECT["project"]["optional-dependencies"]
    for_users = [one for name in extras if name not in ("dev", "package", "audit") for one in extras[name]]
    requirements = PROJECT["project"]["dependencies"] + for_users
    declared = {re.split(r"[<>=!; ]", requirement)[0] for requirement in requirements}
    declared |= {"pytest"}  # it loads the plugin itself
    ours = {"app", "mcp_tef", "resources"}
    imported = {name for module in modules("app", "mcp_tef") for name in imported_tops(module)}
    unknown = imported - sys.stdlib_module_names - ours
    assert {known_as.get(name, name) for name in unknown} - declared == set()


def imported_tops(module: Module) -> set[str]:
    """The top-level names of everything that a module imports, wherever in the file."""
    plain = {alias.name for node in module.nodes if isinstance(node, ast.Import) for alias in node.names}
    qualified = {node.module or "" for node in module.nodes if isinstance(node, ast.ImportFrom) and not node.level}
    return {name.partition(".")[0] for name in plain | qualified}
