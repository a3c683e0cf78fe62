"""Parameters of a tool, read from its JSON Schema: type, choices and description."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcp_tef import Json, canonical

MOST_REFERENCES: Final = 16


class Kind(StrEnum):
    """Type of a parameter, which decides its field; the value is its text."""

    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole number"
    FLAG = "yes or no"
    LIST = "list"
    OBJECT = "object"
    ANY = "any type"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values that a schema allows, with its label."""

    label: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Property of a tool's schema; `known` is False if only an expectation names it."""

    name: str
    kind: Kind = Kind.ANY
    word: str = ""
    required: bool = False
    description: str = ""
    choices: tuple[Choice, ...] = ()
    items: Kind = Kind.ANY
    known: bool = True

    @property
    def type_word(self) -> str:
        """Type as text."""
        return self.word or self.kind.value


_KINDS: Final[Mapping[str, Kind]] = {
    "string": Kind.TEXT,
    "number": Kind.NUMBER,
    "integer": Kind.WHOLE,
    "boolean": Kind.FLAG,
    "array": Kind.LIST,
    "object": Kind.OBJECT,
}
_FORMATS: Final[Mapping[str, str]] = {
    "date": "date",
    "date-time": "date and time",
    "time": "time",
    "email": "e-mail",
    "uri": "web address",
    "url": "web address",
}


def parameters_of(schema: Mapping[str, Json]) -> tuple[Parameter, ...]:
    """Return the parameters of a schema: required ones first, otherwise in its order."""
    root = _object(schema)
    properties = _object(root.get("properties"))
    listed = root.get("required")
    required = {item for item in listed if isinstance(item, str)} if isinstance(listed, list | tuple) else set()
    found = [_parameter(name, node, root, name in required) for name, node in properties.items()]
    return tuple(sorted(found, key=lambda parameter: not parameter.required))


def unknown_parameter(name: str) -> Parameter:
    """Return a parameter that an expectation names and no schema has."""
    return Parameter(name=name, known=False)


def required_names(parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    """Return the names of the required parameters."""
    return tuple(parameter.name for parameter in parameters if parameter.required)


def _parameter(name: str, node: Json, root: Mapping[str, Json], required: bool) -> Parameter:
    plain = _plain(node, root)
    choices = tuple(_choices(plain))
    kind = _kind(plain, choices)
    items = _kind(_plain(plain.get("items"), root), ()) if kind is Kind.LIST else Kind.ANY
    described = plain.get("description")
    return Parameter(
        name=name,
        kind=kind,
        word=_word(plain, kind, items, choices),
        required=required,
        description=described if isinstance(described, str) else "",
        choices=choices,
        items=items,
    )


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _plain(node: Json, root: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a node with local references followed and "or null" removed; its own keys win."""
    merged: dict[str, Json] = {}
    current = _object(node)
    for _ in range(MOST_REFERENCES):
        merged = {**current, **merged}
        following = _following(current, root)
        if following is None:
            break
        current = following
    return merged


def _following(node: Mapping[str, Json], root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    reference = node.get("$ref")
    if isinstance(reference, str):
        return _resolve(reference, root)
    branches = [branch for branch in _branches(node) if branch.get("type") != "null"]
    return branches[0] if len(branches) == 1 else None


def _branches(node: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for word in ("anyOf", "oneOf", "allOf"):
        several = node.get(word)
        if isinstance(several, list):
            yield from (_object(branch) for branch in several)


def _resolve(reference: str, root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    if not reference.startswith("#/"):
        return None
    current: Json = root
    for part in reference[2:].split("/"):
        current = _object(current).get(part.replace("~1", "/").replace("~0", "~"))
    return current if isinstance(current, Mapping) else None


def _choices(node: Mapping[str, Json]) -> Iterator[Choice]:
    values = node.get("enum")
    if isinstance(values, list):
        for value in values:
            yield Choice(value if isinstance(value, str) else canonical(value), value)


def _kind(node: Mapping[str, Json], choices: tuple[Choice, ...]) -> Kind:
    said = node.get("type")
    if isinstance(said, list):
        real = [item for item in said if item != "null"]
        said = real[0] if len(real) == 1 else None
    if isinstance(said, str):
        return _KINDS.get(said, Kind.ANY)
    if choices and all(isinstance(choice.value, str) for choice in choices):
        return Kind.TEXT
    return Kind.ANY


def _word(node: Mapping[str, Json], kind: Kind, items: Kind, choices: tuple[Choice, ...]) -> str:
    if choices:
        return f"one of {len(choices)}"
    if kind is Kind.TEXT:
        return _FORMATS.get(str(node.get("format")), Kind.TEXT.value)
    if kind is Kind.LIST and items in _PLURALS:
        return f"list of {_PLURALS[items]}"
    return kind.value


_PLURALS: Final[Mapping[Kind, str]] = {
    Kind.TEXT: "texts",
    Kind.NUMBER: "numbers",
    Kind.WHOLE: "numbers",
    Kind.OBJECT: "objects",
}
