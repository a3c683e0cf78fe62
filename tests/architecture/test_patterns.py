"""Patterns of the source are linear in every text, and only `trust/patterns.py` compiles those of strangers."""

import ast
import re
from typing import Final

import pytest

from tests.support.pattern_growth import why_slow
from tests.support.source_modules import modules
from tests.support.source_patterns import BOUNDED, Written, different_patterns, written_patterns

MADE: Final = {
    "text": "app/screens/cases/matchers.py: says why a pattern is none, and runs it on nothing",
    "pattern": "literals of the tables beside them",
    "source": "phrases of ours",
    "entry": "an escaped name within bounds",
    "flags": "a table of ours",
    "text_flags(name)": "a table of ours",
}
"""Patterns that are made while the program runs, from our own parts; all others escape what they are made of."""


def test_no_pattern_of_a_stranger_is_compiled_beside_its_owner() -> None:
    made = [written for written in written_patterns() if written.pattern is None and written.source not in MADE]
    assert [one.place for one in made if "re.escape" not in one.source and "{" not in one.source] == []
    importers = [module.path for module in modules("app", "mcp_tef") if "regex" in imported(module.nodes)]
    assert importers == ["mcp_tef/trust/patterns.py"]


def imported(nodes: list[ast.AST]) -> set[str]:
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


PATTERNS: Final = different_patterns()
PARTS: Final = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_every_pattern_takes_time_in_step_with_every_bad_text(part: int) -> None:
    assert [said for written in PATTERNS[part::PARTS] for said in why_slow(written)] == []


def test_patterns_that_are_left_out_are_there() -> None:
    assert BOUNDED.keys() <= {written.pattern.pattern for written in written_patterns() if written.pattern}


def test_a_pattern_that_is_not_linear_is_found() -> None:
    for pattern in (r"\w*\d", r"<a.*?>", r"\s+#", r"(?:a+)+$"):
        written = Written("here", frozenset({"finditer"}), pattern, re.compile(pattern))
        assert list(why_slow(written)), pattern
