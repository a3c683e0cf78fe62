"""Finds the names of icons in the window's source."""

import ast
from collections.abc import Iterator
from pathlib import Path

APP = Path(__file__).parents[2] / "app"
TAKERS = {"IconButton", "IconPicture", "EmptyState", "ChoiceCard", "pixmap", "icon", "NavItem"}


def names_in_source() -> list[str]:
    """Every icon name given as a literal: `icon="…"`, or first to a widget that draws one."""
    found = {name for file in APP.rglob("*.py") for name in _names(ast.parse(file.read_text("utf-8")))}
    return sorted(found)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
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
