"""Comparison of a given value with the expected one: everyday normalisation, and nested `$` matchers."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.scoring.bipartite_matching import pairs_up
from mcp_tef.scoring.patterns import PatternError, found
from mcp_tef.scoring.scalars import any_instant, is_number, normal_text, number_in, same_scalar
from mcp_tef.scoring.schema_walk import NOWHERE, SchemaPlace

Fits: TypeAlias = Callable[[Json, Json, SchemaPlace], bool]
Matcher: TypeAlias = Mapping[str, Json]
Rule: TypeAlias = Callable[[Matcher, Json, SchemaPlace, Fits], bool]


def is_matcher(value: Json) -> bool:
    """Return True if an expected value is a matcher: a non-empty object, all of whose names start with `$`."""
    if not isinstance(value, dict) or not value or not _is_marked(next(iter(value))):
        return False
    return len(value) == 1 or all(map(_is_marked, value))


def _is_marked(name: Json) -> bool:
    return isinstance(name, str) and name[:1] == "$"


def may_be_absent(expected: Json) -> bool:
    """Return True if a value need not be given at all: `$optional`, `$any`, or `$any_of` with one of these."""
    if not is_matcher(expected):
        return False
    if "$any_of" in expected:
        return isinstance(expected["$any_of"], list) and any(map(may_be_absent, expected["$any_of"]))
    return "$optional" in expected or expected.get("$any") is True


def _any_of(matcher: Matcher, given: Json, place: SchemaPlace, fits: Fits) -> bool:
    choices = matcher["$any_of"]
    return isinstance(choices, list) and any(fits(choice, given, place) for choice in choices)


def _any(matcher: Matcher, _given: Json, _place: SchemaPlace, _fits: Fits) -> bool:
    return matcher["$any"] is True


def _optional(matcher: Matcher, given: Json, place: SchemaPlace, fits: Fits) -> bool:
    return fits(matcher["$optional"], given, place)


def _regex(matcher: Matcher, given: Json, _place: SchemaPlace, _fits: Fits) -> bool:
    pattern = matcher["$regex"]
    text = str(given) if is_number(given) else given
    try:
        return isinstance(pattern, str) and isinstance(text, str) and found(pattern, text)
    except PatternError:
        return False


def _approx(matcher: Matcher, given: Json, place: SchemaPlace, _fits: Fits) -> bool:
    wanted = matcher["$approx"]
    tolerance = matcher["$tolerance"] if "$tolerance" in matcher else default_tolerance(wanted)
    number = given if is_number(given) else number_in(given) if place.types() & {"number", "integer"} else None
    if not (is_number(wanted) and is_number(tolerance)) or number is None:
        return False
    try:
        return abs(_exact(number) - _exact(wanted)) <= _exact(tolerance)
    except ArithmeticError:
        return False


def default_tolerance(wanted: Json) -> float:
    """Return a millionth of the number, where `$approx` comes without `$tolerance`."""
    return abs(wanted) / 1e6 if is_number(wanted) else 0


def _exact(number: float) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _contains(matcher: Matcher, given: Json, place: SchemaPlace, fits: Fits) -> bool:
    wanted = matcher["$contains"]
    if isinstance(given, str):
        return isinstance(wanted, str) and normal_text(wanted) in normal_text(given)
    if isinstance(given, list):
        return _has_item(wanted, given, place, fits) or _has_items(wanted, given, place, fits)
    if isinstance(given, dict) and isinstance(wanted, dict):
        return _has_fields(wanted, given, place, fits)
    return False


def _has_fields(wanted: Matcher, given: Mapping[str, Json], place: SchemaPlace, fits: Fits) -> bool:
    return all(name in given and fits(value, given[name], place.at(name)) for name, value in wanted.items())


def _has_items(wanted: Json, given: list[Json], place: SchemaPlace, fits: Fits) -> bool:
    return isinstance(wanted, list) and all(_has_item(one, given, place, fits) for one in wanted)


def _has_item(wanted: Json, given: list[Json], place: SchemaPlace, fits: Fits) -> bool:
    return any(fits(wanted, item, place.at(index)) for index, item in enumerate(given))


def _unordered(matcher: Matcher, given: Json, place: SchemaPlace, fits: Fits) -> bool:
    wanted = matcher["$unordered"]
    if not (isinstance(wanted, list) and isinstance(given, list)) or len(wanted) != len(given):
        return False
    places = [place.at(index) for index in range(len(given))]
    return pairs_up(
        len(wanted), lambda row: [at for at, item in enumerate(given) if fits(wanted[row], item, places[at])]
    )


def _datetime(matcher: Matcher, given: Json, _place: SchemaPlace, _fits: Fits) -> bool:
    wanted = any_instant(matcher["$datetime"])
    return wanted is not None and wanted == any_instant(given)


MATCHERS: dict[frozenset[str], Rule] = {
    frozenset({"$any_of"}): _any_of,
    frozenset({"$any"}): _any,
    frozenset({"$optional"}): _optional,
    frozenset({"$regex"}): _regex,
    frozenset({"$approx"}): _approx,
    frozenset({"$approx", "$tolerance"}): _approx,
    frozenset({"$contains"}): _contains,
    frozenset({"$unordered"}): _unordered,
    frozenset({"$datetime"}): _datetime,
}


LITERAL = frozenset({"$literal"})


def fits(expected: Json, given: Json, place: SchemaPlace = NOWHERE) -> bool:
    """Return True if a given value is what was expected: a JSON value, or a matcher, which may nest.

    Text is trimmed and its case ignored; 1 equals 1.0; text with a number or a boolean in it equals that
    number or boolean where the schema says so; the order of an object's names never matters, that of a
    list's items does; ISO 8601 texts are the same where they name the same instant.
    """
    if not isinstance(expected, dict):
        return _same_plain(expected, given, place, fits)
    if is_matcher(expected):
        return _by_matcher(expected, given, place)
    return isinstance(given, dict) and _same_object(expected, given, place)


def equals(expected: Json, given: Json, place: SchemaPlace = NOWHERE) -> bool:
    """Return the same without matchers: every object means itself."""
    if isinstance(expected, dict):
        return (
            isinstance(given, dict)
            and expected.keys() == given.keys()
            and all(equals(value, given[name], place.at(name)) for name, value in expected.items())
        )
    return _same_plain(expected, given, place, equals)


def _by_matcher(matcher: Mapping[str, Json], given: Json, place: SchemaPlace) -> bool:
    names = frozenset(matcher)
    if names == LITERAL:
        return equals(matcher["$literal"], given, place)
    rule = MATCHERS.get(names)
    return rule is not None and rule(matcher, given, place, fits)


def _same_plain(expected: Json, given: Json, place: SchemaPlace, same: Fits) -> bool:
    if not isinstance(expected, list):
        return same_scalar(expected, given, place)
    return (
        isinstance(given, list)
        and len(expected) == len(given)
        and all(same(expected[index], given[index], place.at(index)) for index in range(len(given)))
    )


def _same_object(expected: Mapping[str, Json], given: Mapping[str, Json], place: SchemaPlace) -> bool:
    return all(name in expected for name in given) and all(
        fits(value, given[name], place.at(name)) if name in given else may_be_absent(value)
        for name, value in expected.items()
    )
