"""Values for parameters: as people type them, and as they read them."""

from collections.abc import Mapping
from typing import Final

from app.arguments.parameters import Kind, Parameter
from app.arguments.typed_json import UnreadableError, dumps, is_json, loads, needed
from mcp_tef import Json, canonical


def show(parameter: Parameter, value: Json) -> str:
    """A value as the field of its parameter shows it; `parse` reads it back."""
    for choice in parameter.choices:
        if canonical(choice.value) == canonical(value):
            return choice.label
    if parameter.kind is Kind.LIST:
        return show_list(parameter.items, value)
    return show_kind(parameter.kind, value)


def show_kind(kind: Kind, value: Json) -> str:
    """A value of a kind, as text."""
    if isinstance(value, str) and (kind is Kind.TEXT or (kind is Kind.ANY and not is_json(value))):
        return value
    if kind is Kind.FLAG and isinstance(value, bool):
        return "yes" if value else "no"
    return dumps(value)


def show_list(kind: Kind, values: Json) -> str:
    """Values with commas between them; as JSON where that would not be read back."""
    if not isinstance(values, list | tuple) or not values:
        return dumps(values)
    texts = [show_kind(kind, value) for value in values]
    plain = all(text and text == text.strip() and "," not in text and "\n" not in text for text in texts)
    return ", ".join(texts) if plain and not texts[0].startswith("[") else dumps(values)


def parse(parameter: Parameter, text: str) -> Json:
    """The value that a text means for a parameter; raises UnreadableError with a sentence."""
    for choice in parameter.choices:
        if choice.label == text:
            return choice.value
    if parameter.kind is Kind.LIST:
        return parse_list(parameter.items, text)
    return parse_kind(parameter.kind, text)


def parse_kind(kind: Kind, text: str) -> Json:
    """The value of a kind that a text means; raises UnreadableError with a sentence."""
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
    """The number that a text means; raises UnreadableError with a sentence."""
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
        raise UnreadableError("Choose yes or no.") from None


def _object(text: str) -> Json:
    value = loads(needed(text, 'Write a JSON object such as {"name": "value"}.'))
    if not isinstance(value, dict):
        raise UnreadableError('Write a JSON object such as {"name": "value"}.')
    return value


def parse_list(kind: Kind, text: str) -> list[Json]:
    """The values that a text means, with commas between them or as JSON; raises UnreadableError."""
    if text.lstrip().startswith("["):
        value = loads(text)
        if isinstance(value, list):
            return value
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UnreadableError('Write the values with commas between them, or as a JSON list such as ["a", "b"].')
    return [parse_kind(kind, part) for part in parts]
