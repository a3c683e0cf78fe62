"""Descriptions of expected values, and the problems of expectations that are not valid."""

from collections.abc import Callable, Iterator, Mapping

from mcp_tef.model.cases import Expectation
from mcp_tef.model.json import Json
from mcp_tef.scoring.matchers import LITERAL, MATCHERS, any_instant, default_tolerance, is_matcher, is_number
from mcp_tef.scoring.phrases import listed, shown, ticked
from mcp_tef.trust.patterns import why_broken

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
