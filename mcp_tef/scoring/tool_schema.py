"""Input schema of a tool, prepared to check many calls: a fast path for everyday schemas, else JSON Schema validation.

`format` names are checked as well.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import cache, cached_property
from ipaddress import IPv4Address, IPv6Address
from itertools import islice
from threading import Lock
from typing import Any

from jsonschema import FormatChecker
from jsonschema.exceptions import UnknownType, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcp_tef.model.json import Json
from mcp_tef.scoring.matchers import iso_instant
from mcp_tef.scoring.schema_soundness import EFFORT, Effort, dialect_of, in_one_dialect
from mcp_tef.scoring.schema_walk import ANYTHING, SchemaDocument, SchemaPlace, names_in, required_in

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


_ANNOTATIONS = ("description", "title", "default", "examples")
_PLAIN = frozenset({"type", "enum", "items", "properties", "required", *_ANNOTATIONS})
_PLAIN_ROOT = _PLAIN | {"additionalProperties", "$schema"}
_EXACTLY: dict[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def surely_fit(schema: Mapping[str, Any], arguments: Mapping[str, Json]) -> bool:
    """Return True if every given argument certainly conforms; False only means that it takes a validator to tell.

    Names that the schema lacks, or lacks among the given ones, are not looked at here.
    """
    if not _PLAIN_ROOT.issuperset(schema) or schema.get("type", "object") != "object" or "enum" in schema:
        return False
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not isinstance(schema.get("additionalProperties", False), bool):
        return False
    return all(surely_fits(properties[name], value) for name, value in arguments.items() if name in properties)


def surely_fits(schema: Json, value: Json) -> bool:
    """Return the same for one value."""
    if not isinstance(schema, dict) or not _PLAIN.issuperset(schema):
        return False
    kind = schema.get("type")
    if not (isinstance(kind, str) and type(value) in _EXACTLY.get(kind, ())):
        return False
    if "enum" in schema:
        return _surely_among(schema["enum"], value)
    if kind == "array":
        return "items" not in schema or _items_surely_fit(schema["items"], value)
    return kind != "object" or _object_surely_fits(schema, value)


def _items_surely_fit(schema: Json, items: Iterable[Json]) -> bool:
    return all(surely_fits(schema, item) for item in items)


def _surely_among(allowed: Json, value: Json) -> bool:
    return type(value) is str and isinstance(allowed, list) and value in allowed


def _object_surely_fits(schema: Mapping[str, Any], value: Mapping[str, Json]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    return all(isinstance(name, str) and name in value for name in required) and all(
        name not in properties or surely_fits(properties[name], item) for name, item in value.items()
    )


MOST_KEPT = 1_024


class ToolSchema:
    """One input schema. Broken parts are passed over; nothing is fetched; nothing here raises."""

    def __init__(self, schema: Json) -> None:
        self.source = schema
        self._known = schema if isinstance(schema, Mapping) else ANYTHING
        self._document = SchemaDocument(self._known)
        self._root = SchemaPlace(self._document)

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that every call needs."""
        certain = self._document.reach((self._known,), certain=True)
        return frozenset(name for schema in certain for name in required_in(schema))

    @cached_property
    def _validator(self) -> Any:
        return validator_for(self._known)

    def allows(self, name: str) -> bool:
        """Return True if a parameter is named anywhere, or the schema says outright that more are allowed."""
        return any(names_in(schema, name) for schema in self._root.schemas())

    def place(self, name: str) -> SchemaPlace:
        """Return the subschemas for one parameter's value."""
        return self._root.at(name)

    def check(self, arguments: Mapping[str, Json]) -> SchemaReport:
        """Return the given arguments that break the schema, and the required ones that are missing."""
        if surely_fit(self._known, arguments):
            return FINE
        return check(self._known, self._validator, arguments)


NO_SCHEMA = ToolSchema(True)


class SchemaCache:
    """The schemas used last, by identity: the same object in memory is read once."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[int, ToolSchema] = OrderedDict()
        self._lock = Lock()

    def get(self, schema: Json) -> ToolSchema:
        """Return the prepared form of a schema object, which must not change afterwards."""
        with self._lock:
            kept = self._kept.get(id(schema))
            if kept is None or kept.source is not schema:
                kept = self._kept[id(schema)] = ToolSchema(schema)
            self._kept.move_to_end(id(schema))
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return kept


SCHEMAS = SchemaCache()
