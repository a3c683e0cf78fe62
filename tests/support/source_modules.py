"""Modules of the project, each read, parsed and walked once for all rules about the source, and icon names in it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One source file with its text, its path below the project's folder, and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        """All functions and methods, nested ones included."""
        return [node for node in self.nodes if isinstance(node, Function)]


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Return the modules below these folders, in the order of their paths."""
    return tuple(_module(file) for folder in folders for file in sorted((ROOT / folder).rglob("*.py")))


@cache
def _module(file: Path) -> Module:
    text = file.read_text("utf-8")
    return Module(file.relative_to(ROOT).as_posix(), text, ast.parse(text))


def source() -> tuple[Module, ...]:
    """Return the modules of the product and `dev.py`."""
    return (*modules("app", "mcp_tef"), _module(ROOT / "dev.py"))


def everything() -> tuple[Module, ...]:
    """Return the modules of the product, of its tests, and `dev.py`."""
    return (*source(), *modules("tests"))


TAKERS = {"IconButton", "IconPicture", "EmptyState", "ChoiceCard", "pixmap", "icon", "NavItem"}


def names_in_source() -> list[str]:
    """Every icon name given as a literal: `icon="…"`, or first to a widget that draws one."""
    found = {name for module in modules("app") for name in _names(module)}
    return sorted(found)


def _names(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if not isinstance(node, ast.Call):
            continue
        given = [word.value for word in node.keywords if word.arg == "icon"]
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in TAKERS and node.args:
            given.append(node.args[0])
        yield from (
            part.value
            for part in given
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value
        )
