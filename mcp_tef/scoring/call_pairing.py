"""Pairing of actual calls with expected ones, and the comparison of their arguments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.json import Json, JsonObject, canonical
from mcp_tef.model.search import nearest
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import CallMatch, ParameterFinding
from mcp_tef.scoring.bipartite_matching import Pair, best_pairs
from mcp_tef.scoring.matchers import fits, may_be_absent, shallow
from mcp_tef.scoring.parameter_findings import differences, hallucinated, missing, not_expected, of_fault
from mcp_tef.scoring.tool_schema import NO_SCHEMA, SCHEMAS, SchemaReport, ToolSchema

MOST_PROBLEMS = 3


class GivenCall:
    """Actual call with its arguments checked against the tool's schema, before any expectation."""

    def __init__(self, tool: str, arguments: Mapping[str, Json], schema: ToolSchema) -> None:
        self.tool = tool
        self.schema = schema
        self.arguments = _shallow_object(arguments)

    @cached_property
    def report(self) -> SchemaReport:
        """Result of checking the given arguments against the schema."""
        return self.schema.check(self.arguments)

    @cached_property
    def hallucinated(self) -> tuple[str, ...]:
        """Given names that the schema neither names nor allows."""
        return tuple(sorted(name for name in self.arguments if not self.schema.allows(name)))

    @cached_property
    def required(self) -> frozenset[str]:
        """Names that the schema requires of this call."""
        return self.schema.required | self.report.missing


class CallComparison:
    """An expected call beside an actual one.

    `completeness` is the share of required and expected parameters that are present, 1 where none is needed.
    `correctness` is the share of expected parameters whose value matches, those that may be and are absent
    left out; 1 where none is left, None where the expectation names no parameters at all.
    """

    def __init__(self, expected: ExpectedCall, given: GivenCall) -> None:
        self._given = given
        self._exact = expected.exact
        self._expected = _shallow_object(expected.parameters)
        arguments = given.arguments
        due = [name for name, value in self._expected.items() if name in arguments or not may_be_absent(value)]
        present = [name for name in due if name in arguments]
        self._wrong = [name for name in present if not self._fits(name)]
        self._needed = given.required.union(name for name in due if not may_be_absent(self._expected[name]))
        self._absent = [name for name in self._needed if name not in arguments]
        self.completeness = _share(len(self._needed) - len(self._absent), len(self._needed))
        right = len(present) - len(self._wrong)
        self.correctness = None if expected.parameters is None else _share(right, len(due))

    def _fits(self, name: str) -> bool:
        return fits(self._expected[name], self._given.arguments[name], self._given.schema.place(name))

    @property
    def worth(self) -> tuple[float, float, int]:
        """Return the quality of the pair as a sort key: correctness, completeness, fewest unexpected names."""
        return (
            1.0 if self.correctness is None else self.correctness,
            self.completeness,
            -len(self._given.hallucinated) - len(self._given.report.faults) - len(self._beside()),
        )

    def _beside(self) -> list[str]:
        if not self._exact:
            return []
        known = {*self._expected, *self._given.hallucinated}
        return sorted(name for name in self._given.arguments if name not in known)

    def match(self, expected: int, actual: int) -> CallMatch:
        """Return the comparison as part of a verdict, under the two calls' indices."""
        return CallMatch(
            expected=expected,
            actual=actual,
            completeness=self.completeness,
            correctness=self.correctness,
            type_conformance=self._given.report.conforms,
            hallucinated=self._given.hallucinated,
            findings=_in_order(self._findings()),
        )

    def _findings(self) -> Iterator[ParameterFinding]:
        given = self._given
        for name in self._absent:
            why = "the schema requires it" if name in given.required else "expected"
            yield missing((name,), self._expected.get(name), why)
        for name in self._wrong:
            yield from differences(self._expected[name], given.arguments[name], given.schema.place(name), (name,))
        yield from map(of_fault, given.report.faults)
        yield from (hallucinated(name, given.arguments[name], given.tool) for name in given.hallucinated)
        yield from (not_expected((name,), given.arguments[name]) for name in self._beside())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _shallow_object(value: Json) -> dict[str, Json]:
    """Return a copy that is safe to walk, whatever a model or a file had in it; empty for what is no object."""
    known: dict[str, Json] = shallow(dict(value)) if isinstance(value, Mapping) else {}
    return known


def _in_order(findings: Iterator[ParameterFinding]) -> tuple[ParameterFinding, ...]:
    """By parameter and reason, one each, whatever order the arguments came in."""
    kept: dict[tuple[str, str], ParameterFinding] = {}
    for finding in sorted(findings, key=lambda each: (each.parameter, each.reason, each.sentence)):
        kept.setdefault((finding.parameter, finding.reason), finding)
    return tuple(kept.values())


def argument_problems(tool: Tool, arguments: JsonObject) -> tuple[ParameterFinding, ...]:
    """Return the problems of arguments: missing ones that the schema requires, then those that break it."""
    given = GivenCall(tool.name, arguments, SCHEMAS.get(tool.input_schema))
    absent = sorted(name for name in given.required if name not in given.arguments)
    return (
        *(missing((name,), None, "the schema requires it") for name in absent),
        *(of_fault(fault) for fault in given.report.faults),
    )


def misfit_text(tool: Tool, arguments: JsonObject) -> str:
    """Return why arguments do not fit a tool, also where it forbids further ones; empty where they fit."""
    found = [problem.sentence for problem in argument_problems(tool, arguments)]
    if tool.input_schema.get("additionalProperties") is False:
        known = tool.input_schema.get("properties", {})
        found += [f"{name[:80]} is not among its parameters." for name in arguments if name not in known]
    return " ".join(found[:MOST_PROBLEMS])


def unknown_parameters(tool: Tool, names: Iterable[str]) -> dict[str, str | None]:
    """Return the names that the tool's schema neither names nor allows, each with the nearest parameter."""
    schema = SCHEMAS.get(tool.input_schema)
    properties = tool.input_schema.get("properties")
    known = list(properties) if isinstance(properties, Mapping) else []
    return {name: nearest(name, known) for name in names if not schema.allows(name)}


class OfferedTools:
    """The tools that a selector could choose from, by name."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._named: dict[str, list[Tool]] = {}
        for tool in tools:
            self._named.setdefault(tool.name, []).append(tool)

    def server_of(self, call: ActualCall) -> str | None:
        """Return the server that a call goes to: its own word, or the only server that offers the tool."""
        if call.server:
            return call.server
        servers = {tool.server for tool in self._named.get(call.tool, ()) if tool.server}
        return servers.pop() if len(servers) == 1 else None

    def invented(self, call: ActualCall) -> bool:
        """Return True if nobody offered this tool."""
        return not self._meant(call)

    def schema_of(self, call: ActualCall) -> ToolSchema:
        """Return the schema of the tool that a call means; one that takes anything where it was not offered."""
        meant = self._meant(call)
        if len(meant) > 1:
            meant = [min(meant, key=lambda tool: (tool.server, canonical(tool.input_schema)))]
        return SCHEMAS.get(meant[0].input_schema) if meant else NO_SCHEMA

    def is_expected(self, expected: ExpectedCall, call: ActualCall) -> bool:
        """Return True if a call is of the expected tool, and of its server where the expectation names one.

        Where neither the call nor any offered tool of that name tells a server, there is nothing to tell apart.
        """
        if expected.tool != call.tool:
            return False
        if not expected.server or self.server_of(call) == expected.server:
            return True
        return not call.server and not any(tool.server for tool in self._named.get(call.tool, ()))

    def _meant(self, call: ActualCall) -> list[Tool]:
        tools = self._named.get(call.tool, [])
        if not call.server:
            return tools
        return [tool for tool in tools if tool.server in (call.server, "")]


_FINE = 10**9


@dataclass(frozen=True, slots=True)
class CallPairing:
    """An expected answer beside the actual calls; `unmet` and `extra` have no partner."""

    offer: OfferedTools
    wanted: tuple[ExpectedCall, ...]
    matches: tuple[CallMatch, ...]
    met: tuple[ActualCall, ...]
    unmet: tuple[ExpectedCall, ...]
    extra: tuple[ActualCall, ...]
    ordered: bool = False


def pair_up(
    wanted: tuple[ExpectedCall, ...], calls: Sequence[ActualCall], offer: OfferedTools, ordered: bool
) -> CallPairing:
    """Return the best assignment: most pairs of the same tool, then the best parameters; by position if ordered."""
    table = _Table(wanted, calls, offer)
    pairs = table.pairs(ordered)
    unmet = _without_partner(len(wanted), [row for row, _ in pairs])
    extra = _without_partner(len(calls), [column for _, column in pairs])
    return CallPairing(
        offer=offer,
        wanted=wanted,
        matches=(*starmap(table.match, pairs), *_unmatched(unmet, extra)),
        met=tuple(calls[column] for _, column in pairs),
        unmet=tuple(wanted[row] for row in unmet),
        extra=tuple(calls[column] for column in extra),
        ordered=ordered and len(wanted) > 1,
    )


def _without_partner(count: int, paired: Sequence[int]) -> list[int]:
    return sorted(set(range(count)).difference(paired))


def _unmatched(unmet: list[int], extra: list[int]) -> list[CallMatch]:
    return [CallMatch(expected=row, actual=None) for row in unmet] + [
        CallMatch(expected=None, actual=column) for column in extra
    ]


class _Table:
    """Expected calls as rows, actual ones as columns; what is in a cell is worked out once, when asked for."""

    def __init__(self, wanted: Sequence[ExpectedCall], calls: Sequence[ActualCall], offer: OfferedTools) -> None:
        self._wanted = wanted
        self._calls = calls
        self._offer = offer
        self._given: dict[int, GivenCall] = {}
        self._cells: dict[Pair, CallComparison] = {}

    def comparison(self, row: int, column: int) -> CallComparison:
        """Return an expected call beside an actual one."""
        if (row, column) not in self._cells:
            self._cells[row, column] = CallComparison(self._wanted[row], self._read(column))
        return self._cells[row, column]

    def _read(self, column: int) -> GivenCall:
        if column not in self._given:
            call = self._calls[column]
            self._given[column] = GivenCall(call.tool, call.arguments, self._offer.schema_of(call))
        return self._given[column]

    def match(self, row: int, column: int) -> CallMatch:
        """Return the match of an expected call with an actual one."""
        return self.comparison(row, column).match(row, column)

    def same_tool(self, row: int, column: int) -> bool:
        """Return True if the actual call is of the expected tool."""
        return self._offer.is_expected(self._wanted[row], self._calls[column])

    def pairs(self, ordered: bool) -> list[Pair]:
        """Return the best assignment; if `ordered`, the pairs of the same tool at the same position of both answers."""
        lengths = len(self._wanted), len(self._calls)
        if not ordered and max(lengths) > 1:
            return self.best_pairs()
        return [(place, place) for place in range(min(lengths)) if self.same_tool(place, place)]

    def best_pairs(self) -> list[Pair]:
        """Return the best assignment, the same for every order of rows and columns."""
        rows = sorted(range(len(self._wanted)), key=lambda row: _text_of_expected(self._wanted[row]))
        columns = sorted(range(len(self._calls)), key=lambda column: _text_of_call(self._calls[column]))
        worth = {
            (at, to): self._worth(row, column)
            for at, row in enumerate(rows)
            for to, column in enumerate(columns)
            if self.same_tool(row, column)
        }
        return sorted((rows[at], columns[to]) for at, to in best_pairs(len(rows), len(columns), worth))

    def _worth(self, row: int, column: int) -> int:
        """Return one whole number in which a pair outweighs all correctness, and that all completeness, and so on."""
        correctness, completeness, beside = self.comparison(row, column).worth
        scale = _FINE * (len(self._wanted) + 1)
        worth = scale + round(correctness * _FINE)
        worth = worth * scale + round(completeness * _FINE)
        return worth * scale + max(_FINE + beside, 0)


def _text_of_expected(call: ExpectedCall) -> str:
    return f"{call.tool}\n{call.server}\n{call.exact}\n{_text_of(call.parameters)}"


def _text_of_call(call: ActualCall) -> str:
    return f"{call.tool}\n{call.server}\n{_text_of(call.arguments)}"


def _text_of(value: Json) -> str:
    try:
        return canonical(value)
    except (TypeError, ValueError, RecursionError):
        return ""
