"""Compared texts of a tool: its name, its description, and its parameters flattened by path."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import SharedParameter
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.text_terms import common_sentences, without
from mcp_tef.scoring.schema_walk import SchemaDocument, SchemaPlace
from mcp_tef.scoring.tfidf_weights import spaced, spaced_name, stem, stems

DEEPEST = 4
MOST = 500
ANY_TYPE = "any"
_SIMPLE = ("string", "integer", "number", "boolean")
_PLAIN = frozenset({"type", "description", "title", "default", "enum", "examples", "format", "minimum", "maximum"})


@dataclass(frozen=True, slots=True)
class FlatParameter:
    """One parameter: its JSON Schema type ("any" where none is named, "a or b" where several are), and its text."""

    type: str
    description: str = ""


def parameters(tool: Tool) -> Mapping[str, FlatParameter]:
    """Return the parameters by path ("filter.name", "items[].id"), in the schema's order.

    Nested to 4 levels, at most 500: a schema may refer to itself, and comes from a stranger.
    """
    found: dict[str, FlatParameter] = {}
    for path, parameter in _inside(SchemaPlace(SchemaDocument(tool.input_schema)), "", DEEPEST):
        found.setdefault(path, parameter)
        if len(found) == MOST:
            break
    return found


def tokens(parameters: Mapping[str, FlatParameter]) -> frozenset[tuple[str, str]]:
    """Return the tokens that are compared: names, split and in one spelling, with their types."""
    return frozenset((_alike(name), each.type) for name, each in parameters.items())


def side_by_side(a: Mapping[str, FlatParameter], b: Mapping[str, FlatParameter]) -> tuple[SharedParameter, ...]:
    """Return every parameter of two tools: those in both, then those of the first, then those of the second."""
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


def _inside(place: SchemaPlace, prefix: str, levels: int) -> Iterator[tuple[str, FlatParameter]]:
    for schema in place.schemas():
        properties = schema.get("properties")
        for name, told in properties.items() if isinstance(properties, Mapping) else ():
            if _is_plain(told):
                yield f"{prefix}{name}", FlatParameter(told["type"], told.get("description") or "")
                continue
            child = place.at(name)
            yield f"{prefix}{name}", FlatParameter(_type(child), _description(child))
            if levels > 1:
                yield from _inside(child, f"{prefix}{name}.", levels - 1)
                yield from _inside(child.at(0), f"{prefix}{name}[].", levels - 1)


def _is_plain(schema: Json) -> bool:
    """Return True if a schema names one simple type and leads nowhere else, as most do: it needs no walk."""
    return (
        isinstance(schema, Mapping)
        and schema.get("type") in _SIMPLE
        and _PLAIN.issuperset(schema)
        and isinstance(schema.get("description", ""), str)
    )


def _type(place: SchemaPlace) -> str:
    return " or ".join(sorted(place.types() - {"null"})) or ANY_TYPE


def _description(place: SchemaPlace) -> str:
    told = (schema.get("description") for schema in place.schemas())
    return next((text for text in told if isinstance(text, str) and text.strip()), "")


def without_boilerplate(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools without sentences that three or more tools of their server have: these tell nothing apart.

    A description of nothing else stays, since tools that say the same are alike.
    """
    texts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for tool in tools:
        texts[tool.server][tool.name] = tool.description
    common = {server: common_sentences(told.values()) for server, told in texts.items()}
    telling = (without(tool.description, common[tool.server]) for tool in tools)
    pairs = zip(tools, telling, strict=True)
    return [replace(tool, description=text) if text and text != tool.description else tool for tool, text in pairs]


SHORTEST = 3


def description_text(tool: Tool) -> str:
    """Return the name, split into words, and the description."""
    return f"{spaced_name(tool.name)}. {tool.description}".strip()


def full_text(tool: Tool) -> str:
    """Return the same, and the parameters' names, types and descriptions; equal to it where there are no parameters."""
    told = [f"{spaced(name)} ({each.type}) {each.description}".strip() for name, each in parameters(tool).items()]
    return "\n".join((description_text(tool), *told))


def says_something(text: str) -> bool:
    """Return True if a text has any word beside stop words."""
    return bool(stems(text))


def stems_of(text: str) -> list[str]:
    """Return the content words of a text without endings."""
    return [_shortened(found) for found in stems(text)]


def content_stem(word: str) -> str:
    """Return a word without its ending, a mute e among them: "file", "files" and "filed" are one word."""
    return _shortened(stem(word))


def _shortened(found: str) -> str:
    return found.removesuffix("e") if len(found) > SHORTEST else found


def name_words(name: str) -> frozenset[str]:
    """Return the words of a name without endings; words that say nothing elsewhere ("get", "make") count in a name."""
    return frozenset(chain.from_iterable(map(_said, spaced(name).lower().split())))


@lru_cache(8_192)
def _said(word: str) -> tuple[str, ...]:
    return tuple(stems_of(word)) or (word,)


UNRELATED = (
    "get weather forecast. Get the weather forecast for a city for the next days.",
    "merge pull request. Merge an open pull request into its base branch.",
    "transcribe audio. Turn speech in an audio file into written text.",
    "transfer money. Send an amount from one bank account to another.",
    "find recipes. Suggest dishes that can be cooked with the ingredients at hand.",
    "resize image. Change the width and height of a picture.",
    "run sql query. Execute a statement against a relational database.",
    "book flight. Reserve seats on an airline for given dates.",
    "unlock door. Open the electronic lock of a house.",
    "solve equation. Find the roots of a mathematical expression.",
    "translate text. Render a passage in another language.",
    "restart pod. Delete a container so that the cluster schedules it anew.",
)
"""Texts of tools that have nothing to do with one another: what an embedder makes of them is its level of nothing."""
