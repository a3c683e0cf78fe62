"""Validation of a call's arguments against JSON Schema, `format` names included."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import cache
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from typing import Any

from jsonschema import FormatChecker
from jsonschema.exceptions import UnknownType, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcp_tef.model.json import Json
from mcp_tef.scoring.matchers import iso_instant
from mcp_tef.scoring.schema_soundness import EFFORT, Effort, dialect_of, in_one_dialect
from mcp_tef.scoring.schema_walk import names_in

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
    """Return a checker of the formats above; others, and values that are not text, always pass.

    A date-time needs no zone here (RFC 3339 asks for one), because servers take such texts and models write them.
    """
    checker = FormatChecker(formats=())
    for name, check in _CHECKS.items():
        checker.checks(name, raises=ValueError)(_for_text(check))
    return checker


MOST_FAULTS = 50
_NO_REGISTRY: Registry[Any] = Registry()
_BROKEN_SCHEMA = (
    UnknownType,
    Unresolvable,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """A value that breaks a rule of the schema; `path` starts with the parameter, and is empty for all of them."""

    path: tuple[str | int, ...]
    keyword: str
    wanted: Json
    given: Json


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """Result of a check; `complete` is False if the schema itself is broken and not all could be checked."""

    faults: tuple[SchemaViolation, ...] = ()
    missing: frozenset[str] = frozenset()
    complete: bool = True

    @property
    def conforms(self) -> bool | None:
        """True if every given argument fits; None where nothing wrong was found but not all could be checked."""
        return False if self.faults else True if self.complete else None


FINE = SchemaReport()


def validator_for(schema: Json) -> Any:
    """Return a validator that never fetches anything; None where the schema is too broken to make one."""
    try:
        return dialect_of(schema)(in_one_dialect(schema), registry=_NO_REGISTRY, format_checker=_formats())
    except _BROKEN_SCHEMA:
        return None


@cache
def _formats() -> FormatChecker:
    return format_checker()


def check(schema: Json, validator: Any, arguments: Mapping[str, Json]) -> SchemaReport:
    """Judge the arguments as a whole; where the schema is broken, each as far as it can be."""
    if validator is None:
        return SchemaReport(complete=False)
    token = EFFORT.set(Effort(schema))
    try:
        return _report(islice(validator.iter_errors(arguments), MOST_FAULTS))
    except _BROKEN_SCHEMA:
        return _piecewise(validator, arguments)
    finally:
        EFFORT.reset(token)


def _piecewise(validator: Any, arguments: Mapping[str, Json]) -> SchemaReport:
    schema: Json = validator.schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    faults: list[SchemaViolation] = []
    for name, value in arguments.items():
        if isinstance(properties, Mapping) and name in properties:
            EFFORT.set(Effort(schema))
            faults += _faults_of_one(validator, properties[name], name, value)
    return SchemaReport(tuple(faults), complete=False)


def _faults_of_one(validator: Any, schema: Json, name: str, value: Json) -> list[SchemaViolation]:
    try:
        errors = list(islice(validator.evolve(schema=schema).iter_errors(value), MOST_FAULTS))
        return [fault for error in errors for fault in _faults(error, (name,))]
    except _BROKEN_SCHEMA:
        return []


def _report(errors: Iterable[ValidationError]) -> SchemaReport:
    faults: list[SchemaViolation] = []
    missing: set[str] = set()
    for error in errors:
        absent = None if error.absolute_path else _absent(error)
        if absent is None:
            faults += _faults(error, ())
        else:
            missing |= absent
    return SchemaReport(tuple(faults), frozenset(missing))


def _absent(error: ValidationError) -> set[str] | None:
    """Return the arguments whose absence alone is the error; None where something given is wrong."""
    if error.validator == "required" and isinstance(error.validator_value, list):
        return set(_not_given(error))
    if error.validator in ("dependentRequired", "dependencies"):
        return _dependents(error)
    if error.validator in ("anyOf", "oneOf") and error.context:
        return min(filter(None, map(_all_absent, _branches(error))), key=len, default=None)
    return None


def _not_given(error: ValidationError) -> list[str]:
    wanted: Json = error.validator_value
    given: Json = error.instance
    return [name for name in wanted if name not in given]


def _dependents(error: ValidationError) -> set[str] | None:
    wanted: Json = error.validator_value
    given: Json = error.instance
    needs = [needed for name, needed in wanted.items() if name in given and isinstance(needed, list)]
    return {name for needed in needs for name in needed if name not in given} or None


def _all_absent(errors: list[ValidationError]) -> set[str] | None:
    absences = [None if error.relative_path else _absent(error) for error in errors]
    return None if None in absences else {name for names in absences for name in names or ()}


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    return list(branches.values())


def _faults(error: ValidationError, start: tuple[str | int, ...]) -> Iterator[SchemaViolation]:
    path = (*start, *error.absolute_path)
    given: Json = error.instance
    if not path:
        yield from _faults_of_all(error)
        return
    match error.validator, error.validator_value:
        case "required", list():
            yield from (SchemaViolation((*path, name), "required", None, None) for name in _not_given(error))
        case "additionalProperties", False:
            extras = _extras(error)
            yield from (SchemaViolation((*path, name), "additionalProperties", None, given[name]) for name in extras)
        case keyword, wanted:
            yield SchemaViolation(path, str(keyword or "false"), wanted, given)


def _extras(error: ValidationError) -> list[str]:
    schema: Json = error.schema
    given: Json = error.instance
    return [name for name in given if not names_in(schema, name)]


def _faults_of_all(error: ValidationError) -> Iterator[SchemaViolation]:
    """Yield faults of a rule about the arguments together, told of single arguments where that is possible."""
    if error.validator in ("additionalProperties", "unevaluatedProperties"):
        return
    if "propertyNames" in error.absolute_schema_path:
        yield SchemaViolation((str(error.instance),), "propertyNames", None, None)
    elif error.validator in ("anyOf", "oneOf") and error.context:
        best = min(_branches(error), key=len)
        yield from (fault for inner in best if _absent(inner) is None for fault in _faults(inner, ()))
    else:
        yield SchemaViolation((), str(error.validator or "false"), error.validator_value, None)
