"""Edits of a definition by path: values put in or taken out, and where the values of a definition stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.json_patch import MISSING
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.lint_context import InputNode, LintContext, ListedNames

Place: TypeAlias = tuple[str | int, ...]
"""Keys and list places that lead to a value of a definition."""
DefinitionEdit: TypeAlias = tuple[tuple[Place, Json], ...]
"""Values by their place, all put in together; `MISSING` takes a value out."""

DEEPEST = 64
_TEXT_KEYS = frozenset({"description", "title"})
_VALUES = frozenset({"enum", "const", "default", "examples"})
_NAMES_BELOW = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def edited(value: Json, edit: DefinitionEdit) -> Json:
    """Return a value with an edit; it shares what is unchanged. A place that is not there is left alone."""
    for place, new in edit:
        value = _put(value, place, new)
    return value


def _put(value: Json, place: Place, new: Json) -> Json:
    if not place:
        return new
    if isinstance(value, list):
        return [_put(one, place[1:], new) if at == place[0] else one for at, one in enumerate(value)]
    return _with_member(value, str(place[0]), place[1:], new) if isinstance(value, Mapping) else value


def _with_member(value: JsonObject, key: str, rest: Place, new: Json) -> JsonObject:
    if rest and key not in value:
        return value
    if new is MISSING and not rest:
        return {name: one for name, one in value.items() if name != key}
    return {**value, key: _put(value.get(key), rest, new)}


def tool_of(server: str, raw: JsonObject, place: int | None = None) -> Tool:
    """Return a definition as a tool for lint; its parts may be of any type, or missing."""
    description, name = raw.get("description"), raw.get("name")
    return Tool(
        server=server,
        name=name if isinstance(name, str) else "",
        description=description if isinstance(description, str) else "",
        input_schema=raw.get("inputSchema"),  # type: ignore[arg-type]  # lint takes any JSON
        output_schema=raw.get("outputSchema"),
        raw=raw,
        place=place,
    )


@dataclass(frozen=True)
class RepairSubject:
    """A tool with findings, and where the values of its definition stand."""

    tool: Tool
    names: ListedNames

    @cached_property
    def context(self) -> LintContext:
        """The tool under lint."""
        return LintContext(self.tool, 0, self.names)

    @cached_property
    def _walked(self) -> tuple[tuple[Place, Json], ...]:
        return tuple(_walk(self.tool.raw))

    @cached_property
    def _places(self) -> Mapping[int, Place]:
        return {id(value): place for place, value in self._walked if isinstance(value, Mapping)}

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        """Characters of each text and each name of the definition."""
        names = (place[-1] for place, _ in self._walked if place)
        return tuple(len(one) for one in chain(names, (value for _, value in self._walked)) if isinstance(one, str))

    @property
    def longest(self) -> int:
        """Characters of the longest text of the definition."""
        return max(self._lengths, default=0)

    @property
    def size(self) -> int:
        """Characters of all texts of the definition."""
        return sum(self._lengths)

    def place_of(self, schema: Json) -> Place | None:
        """Return where an object of the definition stands; None where it does not."""
        return self._places.get(id(schema))

    def parameters(self) -> Iterator[tuple[Place, InputNode]]:
        """Yield each parameter that has an object schema, with the place of its own."""
        for node in self.context.parameters:
            if (place := self.place_of(node.own)) is not None:
                yield place, node

    def schemas(self) -> Iterator[tuple[Place, Mapping[str, Json]]]:
        """Yield every object of the input and output schemas with its place, outermost first."""
        for place, value in self._walked:
            if isinstance(value, Mapping) and place and place[0] in ("inputSchema", "outputSchema"):
                yield place, value

    def texts(self) -> Iterator[tuple[Place, str]]:
        """Yield the texts for people and models: titles and descriptions of the tool and its parameters."""
        for place, value in self._walked:
            if isinstance(value, str) and place[-1] in _TEXT_KEYS and not _inside_value(place):
                yield place, value


def _inside_value(place: Sequence[str | int]) -> bool:
    """Return True for a place within a value that a caller sends, such as a default."""
    above = ("", *place)
    return any(key in _VALUES and before not in _NAMES_BELOW for before, key in zip(above, place, strict=False))


def _walk(raw: Json) -> Iterator[tuple[Place, Json]]:
    """Yield every value of a definition with its place, as deep as schemas may be, outer ones first."""
    level: list[tuple[Place, Json]] = [((), raw)]
    for _ in range(2 * DEEPEST):
        below: list[tuple[Place, Json]] = []
        for place, value in level:
            yield place, value
            if isinstance(value, Mapping):
                below += [((*place, key), child) for key, child in value.items() if isinstance(key, str)]
            elif isinstance(value, list):
                below += [((*place, at), child) for at, child in enumerate(value)]
        level = below
