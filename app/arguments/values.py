"""Values of parameters as text: formatting and parsing."""

from collections.abc import Mapping
from typing import Final

from app.arguments.parameters import Kind, Parameter
from app.arguments.typed_json import UnreadableError, dumps, is_json, loads, needed
from mcp_tef import Json, canonical


def show(parameter: Parameter, value: Json) -> str:
    """Return a value as the field of its parameter shows it; `parse` reads it back."""
    for choice in parameter.choices:
        if canonical(choice.value) == canonical(value):
            return choice.label
    if parameter.kind is Kind.LIST:
        return show_list(parameter.items, value)
    return show_kind(parameter.kind, value)


def show_kind(kind: Kind, value: Json) -> str:
    """Return a value of a kind as text."""
    if isinstance(value, str) and (kind is Kind.TEXT or (kind is Kind.ANY and not is_json(value))):
        return value
    if kind is Kind.FLAG and isinstance(value, bool):
        return "yes" if value else "no"
    return dumps(value)


def show_list(kind: Kind, values: Json) -> str:
    """Return values separated by commas; as JSON if that could not be read back."""
    if not isinstance(values, list | tuple) or not values:
        return dumps(values)
    texts = [show_kind(kind, value) for value in values]
    is_readable = all(map(_fits_between_commas, texts)) and not texts[0].startswith("[")
    return ", ".join(texts) if is_readable else dumps(values)


def _fits_between_commas(text: str) -> bool:
    return bool(text) and text == text.strip() and not set(text) & set(",\n")


def parse(parameter: Parameter, text: str) -> Json:
    """Parse the value of a parameter; raise UnreadableError with a sentence."""
    for choice in parameter.choices:
        if choice.label == text:
            return choice.value
    if parameter.kind is Kind.LIST:
        return parse_list(parameter.items, text)
    return parse_kind(parameter.kind, text)


def parse_kind(kind: Kind, text: str) -> Json:
    """Parse a value of a kind; raise UnreadableError with a sentence."""
    match kind:
        case Kind.TEXT:
            return text
        case Kind.NUMBER | Kind.WHOLE:
            return number(text, kind)
        case Kind.FLAG:
            return _flag(text)
        case Kind.OBJECT:
            return _object(text)
        case Kind.LIST:
            return parse_list(Kind.ANY, text)
        case Kind.ANY:
            return loads(text) if is_json(text) else text


def number(text: str, kind: Kind = Kind.NUMBER) -> int | float:
    """Parse a number; raise UnreadableError with a sentence."""
    example = "20" if kind is Kind.WHOLE else "20 or 0.5"
    value = loads(text) if is_json(text) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"Write a number such as {example}.")
    return value


_FLAGS: Final[Mapping[str, bool]] = {"yes": True, "true": True, "no": False, "false": False}


def _flag(text: str) -> bool:
    try:
        return _FLAGS[text.strip().lower()]
    except KeyError:
        raise UnreadableError("Select yes or no.") from None


def _object(text: str) -> Json:
    value = loads(needed(text, 'Write a JSON object such as {"name": "value"}.'))
    if not isinstance(value, dict):
        raise UnreadableError('Write a JSON object such as {"name": "value"}.')
    return value


def parse_list(kind: Kind, text: str) -> list[Json]:
    """Parse values separated by commas, or a JSON list; raise UnreadableError with a sentence."""
    if text.lstrip().startswith("["):
        value = loads(text)
        if isinstance(value, list):
            return value
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UnreadableError('Separate values with commas, or write a JSON list such as ["a", "b"].')
    return [parse_kind(kind, part) for part in parts]
