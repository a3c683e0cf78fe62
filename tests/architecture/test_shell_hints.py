"""Commands that are shown for copying: a name in one is quoted, so that no name is more than one argument."""

import ast
import re
from collections.abc import Iterator

from tests.support.source_modules import source

SHOWN = re.compile(r"\bmcp-tef [a-z -]+ $")
OURS = {"provider", "variable", "VERSION", "version", "batch.id", "tool.provider", "models", "draft", "place"}
"""Values that are no stranger's text, or are quoted before."""


def unquoted(tree: ast.AST) -> Iterator[str]:
    """Yield what stands unquoted behind a command of ours in an f-string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            told = ""
            for part in node.values:
                if isinstance(part, ast.Constant):
                    told += str(part.value)
                elif isinstance(part, ast.FormattedValue) and SHOWN.search(told):
                    text = ast.unparse(part.value)
                    if not text.startswith("shlex.quote(") and text not in OURS:
                        yield text


def test_names_in_shown_commands_are_quoted() -> None:
    assert {module.path: found for module in source() if (found := [*unquoted(module.tree)])} == {}
