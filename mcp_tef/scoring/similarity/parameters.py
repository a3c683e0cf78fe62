"""The parameters of a tool laid flat: nested objects and lists by path, each with its type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import SharedParameter
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.schema_walk import Document, Place
from mcp_tef.scoring.stems import spaced

DEEPEST = 4
MOST = 500
ANY_TYPE = "any"
_SIMPLE = ("string", "integer", "number", "boolean")
_PLAIN = frozenset({"type", "description", "title", "default", "enum", "examples", "format", "minimum", "maximum"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its JSON Schema type ("any" where none is named, "a or b" where several are), and its text."""

    type: str
    description: str = ""


def parameters(tool: Tool) -> Mapping[str, Parameter]:
    """The parameters by path ("filter.name", "items[].id"), in the schema's order.

    Nested to 4 levels, at most 500: a schema may refer to itself, and comes from a stranger.
    """
    found: dict[str, Parameter] = {}
    for path, parameter in _inside(Place(Document(tool.input_schema)), "", DEEPEST):
        found.setdefault(path, parameter)
        if len(found) == MOST:
            break
    return found


def tokens(parameters: Mapping[str, Parameter]) -> frozenset[tuple[str, str]]:
    """What is compared: names, split and written alike, with their types."""
    return frozenset((_alike(name), each.type) for name, each in parameters.items())


def side_by_side(a: Mapping[str, Parameter], b: Mapping[str, Parameter]) -> tuple[SharedParameter, ...]:
    """Every parameter of two tools: those in both, then those of the first, then those of the second."""
    of_b = {_alike(name): each for name, each in b.items()}
    in_both = [
        SharedParameter(name, each.type, of_b[_alike(name)].type) for name, each in a.items() if _alike(name) in of_b
    ]
    known = {_alike(name) for name in a}
    only_a = [SharedParameter(name, each.type, None) for name, each in a.items() if _alike(name) not in of_b]
    only_b = [SharedParameter(name, None, each.type) for name, each in b.items() if _alike(name) not in known]
    return (*in_both, *only_a, *only_b)


@lru_cache(8_192)
def _alike(name: str) -> str:
    return spaced(name).lower()


def _inside(place: Place, prefix: str, levels: int) -> Iterator[tuple[str, Parameter]]:
    for schema in place.schemas():
        properties = schema.get("properties")
        for name, told in properties.items() if isinstance(properties, Mapping) else ():
            if _is_plain(told):
                yield f"{prefix}{name}", Parameter(told["type"], told.get("description") or "")
                continue
            child = place.at(name)
            yield f"{prefix}{name}", Parameter(_type(child), _description(child))
            if levels > 1:
                yield from _inside(child, f"{prefix}{name}.", levels - 1)
                yield from _inside(child.at(0), f"{prefix}{name}[].", levels - 1)


def _is_plain(schema: Json) -> bool:
    """Whether a schema names one simple type and leads nowhere else, as most do: it needs no walk."""
    return (
        isinstance(schema, Mapping)
        and schema.get("type") in _SIMPLE
        and _PLAIN.issuperset(schema)
        and isinstance(schema.get("description", ""), str)
    )


def _type(place: Place) -> str:
    return " or ".join(sorted(place.types() - {"null"})) or ANY_TYPE


def _description(place: Place) -> str:
    told = (schema.get("description") for schema in place.schemas())
    return next((text for text in told if isinstance(text, str) and text.strip()), "")
