"""Equality of JSON scalars with everyday normalisation, dates included."""

import math
import re
import unicodedata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mcp_tef.model.json import Json
from mcp_tef.scoring.schema_walk import NOWHERE, SchemaPlace

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


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
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
