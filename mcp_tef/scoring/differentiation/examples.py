"""The examples that a definition gives: samples in its texts, and samples, defaults and choices in its schema."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.tools import Tool

LONGEST_EXAMPLE = 60

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)|‘([^’\n]+)’|`([^`\n]+)`")
_INTRODUCED = re.compile(r"(?i)\b(?:e\.g\.|for example|for instance|such as|examples?:)[,:\s]*([^()\n.;“”\"'`]{2,80})")
_TELLING = re.compile(r"[^\W\d_]{2}")


def examples(tool: Tool) -> dict[str, str]:
    """The examples of a tool in reading order, each with where it stands:

    "description", or the name of a parameter. Numbers and switches are no examples of anything.
    """
    found: dict[str, str] = {}
    properties = own_properties(tool)
    named = {tool.name, *properties}
    for text, place in _samples(tool, properties):
        sample = " ".join(text.split()).strip(" ,:")
        if sample not in named and len(sample) <= LONGEST_EXAMPLE and _TELLING.search(sample):
            found.setdefault(sample, place)
    return found


def own_properties(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    """The parameters as the schema itself names them, each with its schema; `true` is an empty one."""
    properties = tool.input_schema.get("properties")
    items = properties.items() if isinstance(properties, Mapping) else ()
    return {name: schema if isinstance(schema, Mapping) else {} for name, schema in items}


def _samples(tool: Tool, properties: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    yield from ((text, "description") for text in _in_text(tool.description))
    for name, schema in properties.items():
        yield from ((text, name) for text in _in_schema(schema))


def _in_text(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        yield next(filter(None, match.groups()))
    for match in _INTRODUCED.finditer(text):
        yield from match[1].split(",")


def _in_schema(schema: Mapping[str, Json]) -> Iterator[str]:
    description = schema.get("description")
    yield from _in_text(description if isinstance(description, str) else "")
    lists = (schema.get("examples"), schema.get("enum"), [schema.get("default"), schema.get("const")])
    values = [value for each in lists if isinstance(each, list) for value in each]
    yield from (_written(value) for value in values if not isinstance(value, bool | None))


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
