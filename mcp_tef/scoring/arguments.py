"""Comparison of a call's arguments with the expected ones and with the tool's schema."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import CallMatch, ParameterFinding
from mcp_tef.scoring.matchers import fits, may_be_absent, shallow
from mcp_tef.scoring.parameter_findings import differences, hallucinated, missing, not_expected, of_fault
from mcp_tef.scoring.schema_validation import SchemaReport
from mcp_tef.scoring.tool_schema import SHELF, ToolSchema


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
    given = GivenCall(tool.name, arguments, SHELF.get(tool.input_schema))
    absent = sorted(name for name in given.required if name not in given.arguments)
    return (
        *(missing((name,), None, "the schema requires it") for name in absent),
        *(of_fault(fault) for fault in given.report.faults),
    )
