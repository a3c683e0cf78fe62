"""Tools to lint, and what lint says of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint

GOOD = "Find flights between two airports on a day and return their prices."
CITY = {"type": "string", "description": "Where the flight leaves, as an IATA code such as ZRH"}


def make(
    name: str = "find_flights",
    description: str = GOOD,
    *,
    server: str = "travel",
    schema: Json = None,
    output: Json = None,
    **raw: Json,
) -> Tool:
    """A tool without a fault but for what the test puts in."""
    inputs = {"type": "object", "properties": {"origin": CITY}, "required": ["origin"]} if schema is None else schema
    whole = {"name": name, "description": description, "inputSchema": inputs, **raw}
    return Tool(server=server, name=name, description=description, input_schema=inputs, output_schema=output, raw=whole)


def taking(parameters: Mapping[str, Any], **rest: Json) -> Tool:
    """The same with these parameters."""
    return make(schema={"type": "object", "properties": dict(parameters), **rest})


def found(tool: Tool, rule: str, *, tokens: int = 0, beside: Sequence[Tool] = ()) -> list[LintFinding]:
    """The findings of one rule."""
    catalogue = ListedNames([tool, *beside])
    return [finding for finding in lint(tool, tokens, catalogue) if finding.rule.id == rule]


def rules_broken(tool: Tool, tokens: int = 0) -> list[str]:
    """The ids of all rules that a tool breaks, each once, in order."""
    return list(dict.fromkeys(finding.rule.id for finding in lint(tool, tokens)))
