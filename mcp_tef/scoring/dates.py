"""Instants from text: when two dates are the same moment, however they are written."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from mcp_tef.model.json import Json

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
    """Whether both are ISO 8601 dates, at least one with a time of day, and name the same moment."""
    if not (_ISO.match(one) and _ISO.match(other)):
        return False
    moment = iso_instant(one)
    return moment is not None and moment == iso_instant(other)


def iso_instant(text: str) -> datetime | None:
    """The moment that an ISO 8601 text names, in UTC; a date is its midnight, no zone means UTC."""
    if len(text) > _LONGEST:
        return None
    try:
        return _in_utc(datetime.fromisoformat(text.strip().upper()))
    except (ValueError, OverflowError):
        return None


def any_instant(value: Json) -> datetime | None:
    """The moment of ISO 8601, RFC 2822 or plainly written text, or of a Unix time in (milli)seconds.

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
