"""Short ways to write tools, calls and expectations in tests of judging, and tools to lint."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.json import Json
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import FindingReason, ParameterFinding, Verdict
from mcp_tef.scoring.judge import judge
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}


def schema(properties: Mapping[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    """An object schema."""
    return {"type": "object", "properties": dict(properties), "required": list(required), **more}


def tool(name: str, input_schema: Any = None, *, server: str = "docs") -> Tool:
    """A tool; without a schema it takes a text `query`, which it requires, and a whole number `limit`."""
    chosen = schema({"query": TEXT, "limit": WHOLE}, "query") if input_schema is None else input_schema
    return Tool(server=server, name=name, description="", input_schema=chosen, raw={"name": name})


def call(tool_name: str, server: str | None = None, **arguments: Any) -> ActualCall:
    """A call that was made."""
    return ActualCall(tool=tool_name, arguments=arguments, server=server)


def wanted(tool_name: str, server: str | None = None, *, exact: bool = False, **parameters: Any) -> ExpectedCall:
    """A call that should be made; without parameters none are named."""
    return ExpectedCall(tool=tool_name, server=server, parameters=parameters or None, exact=exact)


def expect(*calls: ExpectedCall, ordered: bool = False) -> Expectation:
    """One acceptable answer."""
    return Expectation((calls,), ordered=ordered)


def any_of(*answers: Sequence[ExpectedCall]) -> Expectation:
    """Several acceptable answers."""
    return Expectation(tuple(tuple(answer) for answer in answers))


def judge_parameters(parameters: Any, arguments: Any, input_schema: Any = None, *, exact: bool = False) -> Verdict:
    """The verdict on a call of the right tool."""
    expectation = expect(ExpectedCall(tool="search", parameters=parameters, exact=exact))
    return judge(expectation, [tool("search", input_schema)], [ActualCall(tool="search", arguments=arguments)])


def findings(verdict: Verdict) -> list[ParameterFinding]:
    """All findings of a verdict."""
    return [finding for match in verdict.matches for finding in match.findings]


def told(verdict: Verdict) -> set[tuple[str, FindingReason]]:
    """Which parameters are not right, and why."""
    return {(finding.parameter, finding.reason) for finding in findings(verdict)}


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
