"""Convert expected parameters between JSON and a form field of matcher and text.

Values that a field cannot show stay JSON: `read_field` returns only fields that `value_of` converts back to the
same JSON.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from app.arguments.parameters import Kind, Parameter
from app.arguments.values import (
    UnreadableError,
    dumps,
    loads,
    needed,
    number,
    parse,
    parse_kind,
    parse_list,
    show,
    show_kind,
    show_list,
)
from mcp_tef import Json, canonical


class Matcher(StrEnum):
    """Comparison of a given value with the expected one, as the menu names it."""

    EQUALS = "equals"
    ANY_OF = "any of"
    CONTAINS = "contains"
    PATTERN = "matches pattern"
    WITHIN = "is within"
    DATE = "same date and time"
    UNORDERED = "same list, any order"
    ANYTHING = "anything"
    OPTIONAL = "may be missing"
    NOT_JUDGED = "not judged"
    JSON = "as JSON"


WITHOUT_TEXT: Final = frozenset({Matcher.ANYTHING, Matcher.NOT_JUDGED})
EVERY_KIND: Final = (Matcher.ANYTHING, Matcher.OPTIONAL, Matcher.NOT_JUDGED, Matcher.JSON)


@dataclass(frozen=True, slots=True)
class ParameterField:
    """One row of the form: a parameter, how it is compared, and what was typed."""

    parameter: Parameter
    matcher: Matcher = Matcher.NOT_JUDGED
    text: str = ""

    @property
    def judged(self) -> bool:
        """True if the expectation names this parameter."""
        return self.matcher is not Matcher.NOT_JUDGED


def matchers_for(parameter: Parameter) -> tuple[Matcher, ...]:
    """Return the matchers for a kind of parameter, in the menu's order."""
    fitting = _FITTING[parameter.kind]
    return tuple(matcher for matcher in Matcher if matcher in fitting or matcher in EVERY_KIND)


_TEXTUAL: Final = frozenset({Matcher.EQUALS, Matcher.ANY_OF, Matcher.CONTAINS, Matcher.PATTERN, Matcher.DATE})
_NUMERIC: Final = frozenset({Matcher.EQUALS, Matcher.ANY_OF, Matcher.WITHIN})
_FITTING: Final[Mapping[Kind, frozenset[Matcher]]] = {
    Kind.TEXT: _TEXTUAL,
    Kind.NUMBER: _NUMERIC,
    Kind.WHOLE: _NUMERIC,
    Kind.FLAG: frozenset({Matcher.EQUALS}),
    Kind.LIST: frozenset({Matcher.EQUALS, Matcher.CONTAINS, Matcher.UNORDERED}),
    Kind.OBJECT: frozenset({Matcher.EQUALS, Matcher.ANY_OF}),
    Kind.ANY: _TEXTUAL | _NUMERIC | {Matcher.UNORDERED},
}


# ---------------------------------------------------------------- edits


def with_text(field: ParameterField, text: str) -> ParameterField:
    """Return the field after typing: a value makes it judged, clearing it makes it unjudged."""
    if not text and field.matcher is Matcher.EQUALS:
        return replace(field, matcher=Matcher.NOT_JUDGED, text="")
    if text and field.matcher in WITHOUT_TEXT:
        return replace(field, matcher=Matcher.EQUALS, text=text)
    return replace(field, text=text)


def with_matcher(field: ParameterField, matcher: Matcher) -> ParameterField:
    """Return the field with another matcher; the typed text stays, converted if possible."""
    if matcher is Matcher.JSON and field.matcher is not Matcher.JSON:
        return replace(field, matcher=matcher, text=_typed_as_json(field))
    if field.matcher is Matcher.JSON and matcher is not Matcher.JSON:
        return replace(field, matcher=matcher, text=_typed_out_of_json(field))
    return replace(field, matcher=matcher)


def _typed_as_json(field: ParameterField) -> str:
    if not field.judged:
        return field.text and dumps(field.text)
    try:
        return dumps(value_of(field))
    except UnreadableError:
        return field.text


def _typed_out_of_json(field: ParameterField) -> str:
    try:
        found = read_field(field.parameter, value_of(field))
    except UnreadableError:
        return field.text
    return field.text if found.matcher is Matcher.JSON else found.text


def refit(field: ParameterField, parameter: Parameter) -> ParameterField:
    """Return the same expectation for a parameter of another schema."""
    try:
        return read_field(parameter, value_of(field)) if field.judged else replace(field, parameter=parameter)
    except UnreadableError:
        return replace(field, parameter=parameter)


# ---------------------------------------------------------------- JSON → field


def read_field(parameter: Parameter, value: Json) -> ParameterField:
    """Return the field of an expected value; as JSON if no simpler form gives the same value back."""
    for matcher, text in _candidates(parameter, value):
        field = ParameterField(parameter, matcher, text)
        if _gives(field, value):
            return field
    return ParameterField(parameter, Matcher.JSON, dumps(value))


def _gives(field: ParameterField, value: Json) -> bool:
    try:
        return canonical(value_of(field)) == canonical(value)
    except UnreadableError:
        return False


def _candidates(parameter: Parameter, value: Json) -> Iterator[tuple[Matcher, str]]:
    if not looks_like_matcher(value):
        yield Matcher.EQUALS, show(parameter, value)
        return
    key = next(iter(value))
    inner = value[key]
    if key in _KEYS:
        yield _KEYS[key], _show_inner(parameter, _KEYS[key], inner)
    if "$approx" in value:
        yield Matcher.WITHIN, f"{_number_text(value['$approx'])} ± {_number_text(value.get('$tolerance'))}"


_KEYS: Final[Mapping[str, Matcher]] = {
    "$literal": Matcher.EQUALS,
    "$any_of": Matcher.ANY_OF,
    "$contains": Matcher.CONTAINS,
    "$regex": Matcher.PATTERN,
    "$datetime": Matcher.DATE,
    "$unordered": Matcher.UNORDERED,
    "$optional": Matcher.OPTIONAL,
    "$any": Matcher.ANYTHING,
}


def _show_inner(parameter: Parameter, matcher: Matcher, inner: Json) -> str:
    if matcher is Matcher.ANYTHING:
        return ""
    if matcher in (Matcher.ANY_OF, Matcher.UNORDERED):
        return show_list(_items(parameter, matcher), inner)
    if matcher is Matcher.CONTAINS:
        return show_kind(_part(parameter), inner)
    return show(parameter, _without_literal(inner))


def _without_literal(value: Json) -> Json:
    if isinstance(value, Mapping) and set(value) == {"$literal"}:
        return value["$literal"]
    return value


def _number_text(value: Json) -> str:
    return dumps(value)


# ---------------------------------------------------------------- field → JSON


def value_of(field: ParameterField) -> Json:
    """Return the expected value of a judged field; raise UnreadableError with a sentence if it is invalid."""
    parameter, text = field.parameter, field.text
    match field.matcher:
        case Matcher.EQUALS:
            return _literal(parse(parameter, text))
        case Matcher.OPTIONAL:
            return {"$optional": _literal(parse(parameter, text))}
        case Matcher.ANY_OF | Matcher.UNORDERED as matcher:
            values = parse_list(_items(parameter, matcher), text)
            return {_KEY_OF[matcher]: [_literal(value) for value in values]}
        case Matcher.CONTAINS:
            return {"$contains": _literal(parse_kind(_part(parameter), needed(text, "Type what it contains.")))}
        case Matcher.PATTERN:
            return {"$regex": _pattern(text)}
        case Matcher.WITHIN:
            return _within(text)
        case Matcher.DATE:
            return {"$datetime": _date(text)}
        case Matcher.ANYTHING:
            return {"$any": True}
        case _:
            return loads(text)


_KEY_OF: Final[Mapping[Matcher, str]] = {matcher: key for key, matcher in _KEYS.items()}


def looks_like_matcher(value: Json) -> bool:
    """Return True if judging would read the value as a matcher: all its keys start with `$`."""
    return isinstance(value, Mapping) and bool(value) and all(str(key).startswith("$") for key in value)


def _literal(value: Json) -> Json:
    return {"$literal": value} if _holds_matcher(value) else value


def _holds_matcher(value: Json) -> bool:
    if isinstance(value, Mapping):
        return looks_like_matcher(value) or any(_holds_matcher(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_holds_matcher(item) for item in value)


def _items(parameter: Parameter, matcher: Matcher) -> Kind:
    """Return the kind of the values in a typed list."""
    if matcher is Matcher.UNORDERED or parameter.kind is Kind.LIST:
        return parameter.items
    return parameter.kind


def _part(parameter: Parameter) -> Kind:
    return parameter.items if parameter.kind is Kind.LIST else parameter.kind


def _within(text: str) -> Json:
    middle, sign, tolerance = re.sub(r"\+\s?/?\s?-", "±", text).partition("±")
    try:
        value, room = number(middle.strip()), number(tolerance.strip())
    except UnreadableError:
        sign = ""
    if not sign or room < 0:
        raise UnreadableError("Write a number and how far off it may be, such as 50 ± 10 (or 50 +- 10).")
    return {"$approx": value, "$tolerance": room}


def _pattern(text: str) -> str:
    needed(text, "Type a pattern, such as ^src/.")
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnreadableError(f"This is not a pattern that can be read: {error}.") from error
    return text


def _date(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise UnreadableError("Write a date such as 2026-03-01, or 2026-03-01T10:30 with the time.") from None
    return text
