"""Expected values in plain text, problems of expectations that are not valid, and findings about single parameters."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from mcp_tef.model.cases import Expectation
from mcp_tef.model.json import Json
from mcp_tef.model.verdicts import FindingReason, ParameterFinding
from mcp_tef.scoring.matchers import (
    LITERAL,
    MATCHERS,
    any_instant,
    default_tolerance,
    fits,
    is_matcher,
    is_number,
    may_be_absent,
    normal_text,
)
from mcp_tef.scoring.patterns import why_broken
from mcp_tef.scoring.phrases import kind_of, kinds, listed, shown, ticked
from mcp_tef.scoring.schema_walk import SchemaPlace
from mcp_tef.scoring.tool_schema import SchemaViolation

DEEPEST = 100
_NESTING = (dict, list)


def described(expected: Json) -> str:
    """Return the text that completes “expected …” for an expected value."""
    if not is_matcher(expected):
        return shown(expected)
    names = frozenset(expected)
    tell = _WORDS.get(next(iter(expected))) if names in MATCHERS or names == LITERAL else None
    try:
        return tell(expected) if tell else f"{shown(expected)}, which is not a matcher"
    except (KeyError, TypeError, RecursionError):
        return f"{shown(expected)}, which is not a matcher"


def _any_of(matcher: Mapping[str, Json]) -> str:
    return listed([described(choice) for choice in matcher["$any_of"]], "or") or "nothing at all"


def _approx(matcher: Mapping[str, Json]) -> str:
    wanted = matcher["$approx"]
    return f"{shown(wanted)} ± {shown(matcher.get('$tolerance', default_tolerance(wanted)))}"


_WORDS: dict[str, Callable[[Mapping[str, Json]], str]] = {
    "$any_of": _any_of,
    "$any": lambda _matcher: "anything",
    "$optional": lambda matcher: f"{described(matcher['$optional'])} or nothing",
    "$regex": lambda matcher: f"a match of the pattern {shown(matcher['$regex'])}",
    "$approx": _approx,
    "$tolerance": _approx,
    "$contains": lambda matcher: f"something that contains {described(matcher['$contains'])}",
    "$unordered": lambda matcher: f"{shown(matcher['$unordered'])} in any order",
    "$datetime": lambda matcher: f"the moment {shown(matcher['$datetime'])}",
    "$literal": lambda matcher: shown(matcher["$literal"]),
}


def problems(expectation: Expectation) -> Iterator[str]:
    """Yield one sentence for each matcher in an expectation that cannot be understood."""
    for calls in expectation.alternatives:
        for call in calls:
            parameters = call.parameters or {}
            for name, value in parameters.items():
                if not _is_plainly_sound(value):
                    yield from problems_of(value, f"{ticked(name)} of {ticked(call.tool)}")


def _is_plainly_sound(expected: Json) -> bool:
    """Return a quick yes for the most common: a scalar, or one of several scalars that may be left out."""
    while isinstance(expected, dict) and len(expected) == 1:
        [(name, inner)] = expected.items()
        if name == "$any_of":
            return isinstance(inner, list) and not any(isinstance(item, _NESTING) for item in inner)
        if name != "$optional":
            return False
        expected = inner
    return not isinstance(expected, _NESTING)


def problems_of(expected: Json, where: str, level: int = 0) -> Iterator[str]:
    """Yield the same for one expected value; `where` names it."""
    if level > DEEPEST:
        yield f"What is expected of {where} is nested too deeply."
    elif is_matcher(expected):
        yield from _problems_of_matcher(expected, where, level)
    elif isinstance(expected, dict | list):
        for inner in expected.values() if isinstance(expected, dict) else expected:
            yield from problems_of(inner, where, level + 1)


def _problems_of_matcher(matcher: Mapping[str, Json], where: str, level: int) -> Iterator[str]:
    names = frozenset(matcher)
    if names == LITERAL:
        return
    if names not in MATCHERS:
        written = listed([ticked(name) for name in sorted(names)])
        yield f"{written} is not a matcher, in {where}; to expect it as it stands, wrap it in `$literal`."
        return
    name = "$approx" if "$tolerance" in names else next(iter(names))
    if why := _NEEDS[name](matcher):
        yield f"`{name}` needs {why}, in {where}."
    yield from (problem for inner in _inner(matcher) for problem in problems_of(inner, where, level + 1))


def _inner(matcher: Mapping[str, Json]) -> list[Json]:
    values = [matcher[name] for name in ("$any_of", "$unordered") if isinstance(matcher.get(name), list)]
    nested = [item for items in values for item in items]
    nested += [matcher[name] for name in ("$optional", "$contains") if name in matcher]
    return [item for item in nested if isinstance(item, dict | list)]


def _needs_list(name: str) -> Callable[[Mapping[str, Json]], str]:
    return lambda matcher: "" if isinstance(matcher[name], list) else "a list"


def _needs_pattern(matcher: Mapping[str, Json]) -> str:
    pattern = matcher["$regex"]
    why = why_broken(pattern) if isinstance(pattern, str) else "is not text"
    return f"a pattern that works, and {shown(pattern)} {why}" if why else ""


def _needs_numbers(matcher: Mapping[str, Json]) -> str:
    tolerance = matcher.get("$tolerance", 0)
    if is_number(matcher.get("$approx")) and is_number(tolerance) and tolerance >= 0:
        return ""
    return "a number, and a `$tolerance` that is a number from 0 up"


_NEEDS: dict[str, Callable[[Mapping[str, Json]], str]] = {
    "$any_of": _needs_list("$any_of"),
    "$any": lambda matcher: "" if matcher["$any"] is True else "the value true",
    "$optional": lambda _matcher: "",
    "$regex": _needs_pattern,
    "$approx": _needs_numbers,
    "$contains": lambda _matcher: "",
    "$unordered": _needs_list("$unordered"),
    "$datetime": lambda matcher: (
        "" if any_instant(matcher["$datetime"]) else "a date or time such as 2024-05-01T10:00Z"
    ),
}

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
