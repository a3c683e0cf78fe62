"""The `format` names of JSON Schema that are checked, and how."""

import re
from collections.abc import Callable
from datetime import date, time
from ipaddress import IPv4Address, IPv6Address

from jsonschema import FormatChecker

from mcp_tef.scoring.dates import iso_instant

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _is_date(text: str) -> bool:
    return len(text) == 10 and date.fromisoformat(text) is not None


def _is_moment(text: str) -> bool:
    return len(text) > 10 and iso_instant(text) is not None


def _is_time(text: str) -> bool:
    return ":" in text and time.fromisoformat(text.upper()) is not None


_CHECKS: dict[str, Callable[[str], object]] = {
    "date": _is_date,
    "date-time": _is_moment,
    "time": _is_time,
    "email": _EMAIL.fullmatch,
    "uri": _URI.fullmatch,
    "uuid": _UUID.fullmatch,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
}


def _for_text(check: Callable[[str], object]) -> Callable[[object], bool]:
    def checked(value: object) -> bool:
        return not isinstance(value, str) or bool(check(value))

    return checked


def format_checker() -> FormatChecker:
    """A checker of the formats above; others, and values that are not text, always pass.

    A date-time needs no zone here (RFC 3339 asks for one), because servers take such texts and models write them.
    """
    checker = FormatChecker(formats=())
    for name, check in _CHECKS.items():
        checker.checks(name, raises=ValueError)(_for_text(check))
    return checker
