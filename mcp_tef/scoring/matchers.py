"""Comparison of a given value with the expected one: everyday normalisation, dates, and nested `$` matchers."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.scoring.bipartite_matching import pairs_up
from mcp_tef.scoring.schema_walk import NOWHERE, SchemaPlace
from mcp_tef.trust.patterns import PatternError, found

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:$|[Tt ]\d\d:?\d\d)")
_WRITTEN = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%d %B %Y",
    "%d %b %Y",
)
_LONGEST = 64
_MILLISECONDS_FROM = 1e11


def same_instant(one: str, other: str) -> bool:
    """Return True if both are ISO 8601 dates, at least one with a time of day, and name the same moment."""
    if not (_ISO.match(one) and _ISO.match(other)):
        return False
    moment = iso_instant(one)
    return moment is not None and moment == iso_instant(other)


def iso_instant(text: str) -> datetime | None:
    """Return the moment that an ISO 8601 text names, in UTC; a date is its midnight, no zone means UTC."""
    if len(text) > _LONGEST:
        return None
    try:
        return _in_utc(datetime.fromisoformat(text.strip().upper()))
    except (ValueError, OverflowError):
        return None


def any_instant(value: Json) -> datetime | None:
    """Return the moment of ISO 8601, RFC 2822 or plainly written text, or of a Unix time in (milli)seconds.

    Forms that can be read two ways, such as 05/01/2024, name no moment.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_unix(value)
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    return iso_instant(value) or _from_mail(value) or _from_words(" ".join(value.split()))


def _from_unix(number: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _from_mail(text: str) -> datetime | None:
    try:
        return _in_utc(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _from_words(text: str) -> datetime | None:
    for form in _WRITTEN:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d++)?", re.ASCII | re.IGNORECASE)
DEEPEST = 64
_LONGEST_NUMBER = 400
_NUMBERS = (int, float)
_NESTING = (dict, list)
_NUMERIC = frozenset({"number", "integer"})


def same_scalar(expected: Json, given: Json, place: SchemaPlace = NOWHERE) -> bool:
    """Return True if two texts, numbers, booleans or nulls mean the same at this place of a schema."""
    if isinstance(expected, str) or isinstance(given, str):
        return _same_strings(expected, given) or _as_said(expected, given, place)
    if is_number(expected) and is_number(given):
        return same_number(expected, given)
    return isinstance(expected, bool | None) and expected is given


def _same_strings(one: Json, other: Json) -> bool:
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    return same_text(one, other) or same_instant(one.strip(), other.strip())


def same_text(one: str, other: str) -> bool:
    """Equal once trimmed, in composed Unicode and without case."""
    return one == other or normal_text(one) == normal_text(other)


def normal_text(text: str) -> str:
    """Trimmed, in composed Unicode, without case."""
    text = text.strip()
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def is_number(value: Json) -> bool:
    """Return True if a JSON value is a number; a boolean is none."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def same_number(one: float, other: float) -> bool:
    """Return True if two numbers are equal in value; not-a-number equals itself."""
    # math.isnan would raise OverflowError for whole numbers of more than 308 digits.
    return one == other or (one != one and other != other)  # noqa: PLR0124


def _as_said(expected: Json, given: Json, place: SchemaPlace) -> bool:
    """Compare text as the number or boolean that the schema says it should be."""
    types = place.types()
    if types & _NUMERIC:
        one, other = number_in(expected), number_in(given)
        if one is not None and other is not None and same_number(one, other):
            return True
    if "boolean" in types:
        yes = _boolean_in(expected)
        return yes is not None and yes is _boolean_in(given)
    return False


def number_in(value: Json) -> float | None:
    """Return the number that a value is, or that its text writes out; None where there is none."""
    if is_number(value):
        number: float = value
        return number
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text := value.strip()):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else _finite(float(text))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _boolean_in(value: Json) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else None


def shallow(value: Json, levels: int = DEEPEST) -> Json:
    """Return the same value, with what is nested deeper than that replaced by an ellipsis."""
    return value if _is_shallow(value, levels) else _cut_down(value, levels)


def _is_shallow(value: Json, levels: int) -> bool:
    if not isinstance(value, _NESTING):
        return True
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, _NESTING) and (levels == 1 or not _is_shallow(inner, levels - 1)):
            return False
    return True


def _cut_down(value: Json, levels: int) -> Json:
    if isinstance(value, dict):
        return {name: _cut_down(inner, levels - 1) for name, inner in value.items()} if levels else "…"
    if isinstance(value, list):
        return [_cut_down(inner, levels - 1) for inner in value] if levels else "…"
    return value


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
