"""The matchers that an expected value may be: objects whose names all start with `$`."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.scoring.assignment import pairs_up
from mcp_tef.scoring.dates import any_instant
from mcp_tef.scoring.patterns import PatternError, found
from mcp_tef.scoring.schema_walk import Place
from mcp_tef.scoring.values import is_number, normal_text, number_in

Fits: TypeAlias = Callable[[Json, Json, Place], bool]
Matcher: TypeAlias = Mapping[str, Json]
Rule: TypeAlias = Callable[[Matcher, Json, Place, Fits], bool]


def is_matcher(value: Json) -> bool:
    """Whether an expected value is a matcher: a non-empty object, all of whose names start with `$`."""
    if not isinstance(value, dict) or not value or not _is_marked(next(iter(value))):
        return False
    return len(value) == 1 or all(map(_is_marked, value))


def _is_marked(name: Json) -> bool:
    return isinstance(name, str) and name[:1] == "$"


def may_be_absent(expected: Json) -> bool:
    """Whether a value need not be given at all: `$optional`, `$any`, or `$any_of` with one of these."""
    if not is_matcher(expected):
        return False
    if "$any_of" in expected:
        return isinstance(expected["$any_of"], list) and any(map(may_be_absent, expected["$any_of"]))
    return "$optional" in expected or expected.get("$any") is True


def _any_of(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    choices = matcher["$any_of"]
    return isinstance(choices, list) and any(fits(choice, given, place) for choice in choices)


def _any(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    return matcher["$any"] is True


def _optional(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    return fits(matcher["$optional"], given, place)


def _regex(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    pattern = matcher["$regex"]
    text = str(given) if is_number(given) else given
    try:
        return isinstance(pattern, str) and isinstance(text, str) and found(pattern, text)
    except PatternError:
        return False


def _approx(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
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
    """A millionth of the number, where `$approx` comes without `$tolerance`."""
    return abs(wanted) / 1e6 if is_number(wanted) else 0


def _exact(number: float) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


def _contains(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    wanted = matcher["$contains"]
    if isinstance(given, str):
        return isinstance(wanted, str) and normal_text(wanted) in normal_text(given)
    if isinstance(given, list):
        return _has_item(wanted, given, place, fits) or (
            isinstance(wanted, list) and all(_has_item(one, given, place, fits) for one in wanted)
        )
    if isinstance(given, dict) and isinstance(wanted, dict):
        return all(name in given and fits(value, given[name], place.at(name)) for name, value in wanted.items())
    return False


def _has_item(wanted: Json, given: list[Json], place: Place, fits: Fits) -> bool:
    return any(fits(wanted, item, place.at(index)) for index, item in enumerate(given))


def _unordered(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
    wanted = matcher["$unordered"]
    if not (isinstance(wanted, list) and isinstance(given, list)) or len(wanted) != len(given):
        return False
    places = [place.at(index) for index in range(len(given))]
    return pairs_up(
        len(wanted), lambda row: [at for at, item in enumerate(given) if fits(wanted[row], item, places[at])]
    )


def _datetime(matcher: Matcher, given: Json, place: Place, fits: Fits) -> bool:
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
