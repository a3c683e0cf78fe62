"""Regular expressions in the source, each with its value, so that a test can measure every one of them."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from tests.support.source_modules import Module, modules

FUNCTIONS: Final = {"compile", "match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}
ANCHORED: Final = {"match", "fullmatch"}

BOUNDED: Final = {
    r"<svg\b.*?</svg>": "a page of ours, in which each chart ends",
    r"(live_\w+?)_\d+-(\d+)-\d+$": "at most 200 characters of an id",
    r"(?<!`)<!--(?s:.{0,2000}?)-->|^[ \t]{0,3}\[(?://|_|comment|hidden)\]:[^\n]*$": "2,000 characters of each start",
    "<system-reminder>.*?</system-reminder>": "only up to the last end of one",
    r"^CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+).*?(?=;\s*(?:^--|^CREATE |\Z))": "our own schema",
    rb'"(?:[^"\\]|\\.)*"(\s*:)?': "JSON that was read before, in which each text ends",
}
"""Patterns that are not linear in every text, and why the text that they get is not every text."""


@dataclass(frozen=True)
class Written:
    """One call of `re` with its place and how it is used; the pattern is None where the running program makes it."""

    place: str
    functions: frozenset[str]
    source: str
    pattern: "re.Pattern[Any] | None"


@cache
def written_patterns() -> tuple[Written, ...]:
    """Return each call of a function of `re` in the product."""
    return tuple(_all_written())


def _all_written() -> Iterator[Written]:
    for module in modules("app", "mcp_tef"):
        calls = [call for call in module.nodes if isinstance(call, ast.Call) and _function(call) in FUNCTIONS]
        names = vars(importlib.import_module(module.path[:-3].replace("/", "."))) if calls else {}
        named = {id(node.value): ast.unparse(_target(node)) for node in module.nodes if isinstance(node, _ASSIGNED)}
        for call in calls:
            yield _written(module, call, names, named.get(id(call), ""))


def different_patterns() -> list[Written]:
    """Return each pattern that has to be linear once, with every way in which it is used."""
    found: dict[Any, Written] = {}
    for written in written_patterns():
        if written.pattern is not None and written.pattern.pattern not in BOUNDED:
            found.setdefault((written.pattern, written.functions), written)
    return list(found.values())


def _function(call: ast.Call) -> str:
    func = call.func
    is_ours = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "re"
    return func.attr if isinstance(func, ast.Attribute) and is_ours else ""


_ASSIGNED = (ast.Assign, ast.AnnAssign)


def _target(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.target if isinstance(node, ast.AnnAssign) else node.targets[0]


def _used(module: Module, name: str) -> frozenset[str]:
    """Return the methods by which a pattern is used; a name without `_` may be used in other modules."""
    if not name:
        return frozenset({"finditer"})
    places = [module] if name.startswith("_") else modules("app", "mcp_tef")
    word = rf"(?<!\w){re.escape(name)}\b(?!\s*:)(?:\.(\w+))?(?! *(?::[^=]*)?= )"
    used = [found for place in places for found in re.findall(word, place.text)]
    return frozenset(used) if used and set(used) <= FUNCTIONS | {"pattern"} else frozenset({"finditer"})


def _written(module: Module, call: ast.Call, names: dict[str, Any], name: str) -> Written:
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    flags += call.args[1:2] if _function(call) == "compile" else []
    try:
        pattern = re.compile(_value(call.args[0], names), _value(flags[0], names) if flags else 0)
    except (NameError, TypeError, AttributeError):
        pattern = None
    function = _function(call)
    used = _used(module, name) if function == "compile" else frozenset({function})
    return Written(f"{module.path}:{call.lineno}", used, ast.unparse(call.args[0]), pattern)


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))
