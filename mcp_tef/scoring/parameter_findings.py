"""Findings about single parameters, each with one sentence."""

from collections.abc import Callable, Iterator
from itertools import islice

from mcp_tef.model.json import Json
from mcp_tef.model.verdicts import FindingReason, ParameterFinding
from mcp_tef.scoring.expectations import described
from mcp_tef.scoring.matchers import fits, is_matcher, may_be_absent, normal_text
from mcp_tef.scoring.phrases import kind_of, kinds, listed, shown, ticked
from mcp_tef.scoring.schema_walk import SchemaPlace
from mcp_tef.scoring.tool_schema import SchemaViolation

MOST_A_PARAMETER = 10

Path = tuple[str | int, ...]


def dotted(path: Path) -> str:
    """Return `filters.0.name`."""
    return ".".join(map(str, path))


def missing(path: Path, expected: Json, why: str) -> ParameterFinding:
    """Return something that should have been given; `why` completes “is missing, though …”."""
    return _finding(path, FindingReason.MISSING, f"is missing, though {why}.", expected)


def hallucinated(name: str, given: Json, tool: str) -> ParameterFinding:
    """Return a parameter that the tool does not have."""
    return _finding((name,), FindingReason.HALLUCINATED, f"is not in the schema of {ticked(tool)}.", None, given)


def not_expected(path: Path, given: Json) -> ParameterFinding:
    """Return something given beside all that was expected."""
    return _finding(path, FindingReason.NOT_EXPECTED, "was given, though nothing else was expected.", None, given)


def differences(expected: Json, given: Json, place: SchemaPlace, path: Path) -> Iterator[ParameterFinding]:
    """Yield the exact places at which a given value differs from the expected one; at most ten findings."""
    return islice(_differences(expected, given, place, path), MOST_A_PARAMETER)


def _differences(expected: Json, given: Json, place: SchemaPlace, path: Path) -> Iterator[ParameterFinding]:
    expected = _only_choice(expected)
    if is_matcher(expected):
        yield _wrong(expected, given, path)
    elif isinstance(expected, dict) and isinstance(given, dict):
        yield from _in_object(expected, given, place, path)
    elif isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        for index, (one, other) in enumerate(zip(expected, given, strict=True)):
            yield from _unless_fitting(one, other, place.at(index), (*path, index))
    else:
        yield _wrong(expected, given, path)


def _unless_fitting(expected: Json, given: Json, place: SchemaPlace, path: Path) -> Iterator[ParameterFinding]:
    if not fits(expected, given, place):
        yield from _differences(expected, given, place, path)


def _only_choice(expected: Json) -> Json:
    """Return the value inside matchers that leave no choice: `$optional`, or `$any_of` with one value."""
    while isinstance(expected, dict) and len(expected) == 1:
        [(name, inner)] = expected.items()
        if name == "$optional":
            expected = inner
        elif name == "$any_of" and isinstance(inner, list) and len(inner) == 1:
            expected = inner[0]
        else:
            break
    return expected


def _in_object(
    expected: dict[str, Json], given: dict[str, Json], place: SchemaPlace, path: Path
) -> Iterator[ParameterFinding]:
    for name in sorted(expected.keys() | given.keys()):
        inner = (*path, name)
        if name not in expected:
            yield not_expected(inner, given[name])
        elif name in given:
            yield from _unless_fitting(expected[name], given[name], place.at(name), inner)
        elif not may_be_absent(expected[name]):
            yield missing(inner, expected[name], "expected")


def _wrong(expected: Json, given: Json, path: Path) -> ParameterFinding:
    sentence = f"is {shown(given)}, expected {described(expected)}{_nearly(expected, given)}."
    return _finding(path, FindingReason.WRONG_VALUE, sentence, expected, given)


def _nearly(expected: Json, given: Json) -> str:
    if isinstance(expected, str) and isinstance(given, str) and normal_text(expected) in normal_text(given):
        return "; “contains” would accept it" if expected.strip() else ""
    if isinstance(expected, list) and isinstance(given, list) and fits({"$unordered": expected}, given):
        return "; “same list, any order” would accept it"
    return ""


def of_fault(fault: SchemaViolation) -> ParameterFinding:
    """Return a value that breaks the tool's schema."""
    tell = _FAULTS.get(fault.keyword, _told_by_rule)
    if not fault.path:
        sentence = f"The arguments together do not satisfy `{fault.keyword}` of the schema."
        return ParameterFinding(parameter="", reason=FindingReason.WRONG_TYPE, sentence=sentence)
    reason = FindingReason.MISSING if fault.keyword == "required" else FindingReason.WRONG_TYPE
    return _finding(fault.path, reason, f"{tell(fault)}.", _asked(fault), fault.given)


def _asked(fault: SchemaViolation) -> Json:
    if fault.keyword in ("type", "enum", "const"):
        return fault.wanted
    return None if isinstance(fault.wanted, dict | list | None) else {fault.keyword: fault.wanted}


def _told_of_type(fault: SchemaViolation) -> str:
    names = fault.wanted if isinstance(fault.wanted, list) else [fault.wanted]
    return f"is {kind_of(fault.given)}, but the schema wants {kinds(map(str, names))}"


def _told_of_enum(fault: SchemaViolation) -> str:
    allowed = fault.wanted if isinstance(fault.wanted, list) else [fault.wanted]
    return f"is {shown(fault.given)}, but the schema allows only {listed([shown(value) for value in allowed], 'or')}"


def _told_of_format(fault: SchemaViolation) -> str:
    return f"is {shown(fault.given)}, which is not of the form {fault.wanted} that the schema wants"


def _told_by_rule(fault: SchemaViolation) -> str:
    rule = fault.keyword if isinstance(fault.wanted, dict | list) else f"{fault.keyword}: {shown(fault.wanted)}"
    return f"is {shown(fault.given)}, which does not satisfy `{rule}` of the schema"


_FAULTS: dict[str, Callable[[SchemaViolation], str]] = {
    "type": _told_of_type,
    "enum": _told_of_enum,
    "const": _told_of_enum,
    "format": _told_of_format,
    "anyOf": lambda fault: f"is {shown(fault.given)}, which fits none of the forms that the schema allows",
    "oneOf": lambda fault: f"is {shown(fault.given)}, which does not fit exactly one of the forms in the schema",
    "required": lambda _fault: "is missing, though the schema requires it",
    "additionalProperties": lambda _fault: "is not allowed there by the schema",
    "propertyNames": lambda _fault: "has a name that the schema does not allow",
    "false": lambda _fault: "must not be given, says the schema",
}


def _finding(path: Path, reason: FindingReason, end: str, expected: Json, given: Json = None) -> ParameterFinding:
    name = dotted(path)
    return ParameterFinding(
        parameter=name,
        reason=reason,
        sentence=f"{ticked(name)} {end}",
        expected=expected,
        actual=given,
    )
