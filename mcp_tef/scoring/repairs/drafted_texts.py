"""Descriptions drafted from what a definition says besides: names, types, limits, choices and results."""

from collections.abc import Iterator, Mapping

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.candidate_texts import listed_whole, takes_text
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.scoring.lint.lint_context import InputNode
from mcp_tef.scoring.lint.vocabulary import BASE_VERBS, says_an_action, word_set
from mcp_tef.scoring.phrases import shown
from mcp_tef.scoring.tfidf_weights import spaced

MOST_CHOICES = 12
MOST_RESULTS = 8
LEAST_LETTERS = 3
LONGEST_VALUE = 60
_SHORT_NAMES = word_set("id ip os to by")
_WITHOUT_PARAMETERS = frozenset({"$schema", "type", "title", "properties", "required", "additionalProperties"})
_EXAMPLES = {
    "date": "a date such as 2026-01-31",
    "date-time": "a time such as 2026-01-31T09:00:00Z",
    "time": "a time of day such as 09:00:00Z",
    "email": "an address such as name@example.com",
    "uri": "an address such as https://example.com",
    "uuid": "a UUID",
    "ipv4": "an address such as 192.0.2.1",
}
_TYPES = {"string": "as text", "integer": "a whole number", "number": "a number", "object": "as an object"}
_ITEMS = {"string": "texts", "integer": "whole numbers", "number": "numbers", "object": "objects"}


def tool_texts(tool: Tool) -> Iterator[str]:
    """Yield descriptions of a tool made from its title or name, its parameters and its results, the best first."""
    title = tool.raw.get("title")
    said = [spaced(tool.name), *([title] if isinstance(title, str) else [])]
    openings = [opening for text in said if (opening := _sentence(text)) and says_an_action(opening)]
    if not openings and _hints_reading(tool):
        openings = [_sentence(f"get {_lower(said[0])}")]
    for opening in openings:
        yield completed(tool, opening)


def completed(tool: Tool, text: str) -> str:
    """Return a description with what the tool takes and returns, as far as the text does not say it."""
    given = text.strip()
    start = given if not given or given[-1] in ".!?。" else f"{given}."
    takes, returns = takes_text(PairedTool(ComparedTool(tool.name, _described(tool, start)))), _returns(tool)
    takes = takes if _tells(takes.removeprefix("Takes ").replace(",", " ").rstrip(".")) else ""
    added = [takes, returns] if takes or returns else ["Takes no parameters."] if _takes_nothing(tool) else []
    return " ".join(filter(None, (start, *added)))


def begun_with_action(tool: Tool) -> Iterator[str]:
    """Yield the description behind the action that the name says."""
    opening = _sentence(spaced(tool.name))
    if says_an_action(opening):
        yield f"{opening} {tool.description.strip()}"


def _described(tool: Tool, text: str) -> Tool:
    schema = tool.input_schema if isinstance(tool.input_schema, Mapping) else {}
    return Tool(server=tool.server, name=tool.name, description=text, input_schema=schema, raw=tool.raw)


def _takes_nothing(tool: Tool) -> bool:
    """Return True if the schema has room for no parameter: nothing in it could name one."""
    schema = tool.input_schema
    return (
        isinstance(schema, Mapping)
        and schema.keys() <= _WITHOUT_PARAMETERS
        and not schema.get("properties")
        and not schema.get("required")
        and not schema.get("additionalProperties")
    )


def _returns(tool: Tool) -> str:
    output = tool.output_schema
    named = output.get("properties") if isinstance(output, Mapping) else None
    names = [_lower(name) for name in named] if isinstance(named, Mapping) else []
    return f"Returns {listed_whole(names[:MOST_RESULTS])}." if names else ""


def _hints_reading(tool: Tool) -> bool:
    hints = tool.raw.get("annotations")
    return isinstance(hints, Mapping) and hints.get("readOnlyHint") is True


def _lower(name: str) -> str:
    return " ".join(spaced(name).lower().split())


def _sentence(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    lower = line if line[1:] != line[1:].lower() and " " in line else line.lower()
    return f"{lower[:1].upper()}{lower[1:]}." if lower else ""


def parameter_text(node: InputNode) -> str:
    """Return a description of a parameter made from its name and its schema; "" where the name says nothing."""
    words = _lower(node.name)
    if not _tells(words):
        return ""
    return _switch(words) if "boolean" in node.types else with_kind(f"The {words}", node)


def with_kind(text: str, node: InputNode) -> str:
    """Return a text on a parameter with the kind, limits, choices and default of its schema; "" where it has none."""
    what = "; ".join(filter(None, (_kind(node), _default(node))))
    return f"{text.rstrip(' .')}, {what}." if what else ""


def _tells(words: str) -> bool:
    """Return True if one of the words is more than a letter or two."""
    return any(len(one) >= LEAST_LETTERS or one in _SHORT_NAMES for one in words.split() if one.isalpha())


def _switch(words: str) -> str:
    verb = words.split(maxsplit=1)[0] in BASE_VERBS
    return f"True to {words}." if verb else f"True if {words.removeprefix('is ').removeprefix('has ')}."


def _kind(node: InputNode) -> str:
    format_named = _first(node, "format")
    if choices := _choices(node):
        return choices
    if "array" in node.types:
        return _list_kind(_first(node, "items"))
    if isinstance(format_named, str) and format_named in _EXAMPLES:
        return _EXAMPLES[format_named]
    return f"{next((text for name, text in _TYPES.items() if name in node.types), '')}{_range(node)}"


def _choices(node: InputNode) -> str:
    choices = _first(node, "enum")
    named = [_written(one) for one in choices[: MOST_CHOICES + 1]] if isinstance(choices, list) else []
    return f"one of {', '.join(named)}" if 0 < len(named) <= MOST_CHOICES and all(named) else ""


def _list_kind(items: Json) -> str:
    of = _ITEMS.get(str(items.get("type")), "") if isinstance(items, Mapping) else ""
    return f"a list of {of}" if of else "a list"


def _written(value: Json) -> str:
    """Return a value as a sentence names it; "" for one that is too long to be told whole."""
    text = "empty" if value == "" else value if isinstance(value, str) else shown(value)
    return text if len(text) <= LONGEST_VALUE and text.strip() and text.isprintable() and "…" not in text else ""


def _range(node: InputNode) -> str:
    low, high = (_first(node, keyword) for keyword in ("minimum", "maximum"))
    if low is not None and high is not None:
        return f" from {shown(low)} to {shown(high)}"
    return f" of at least {shown(low)}" if low is not None else f" of at most {shown(high)}" if high is not None else ""


def _default(node: InputNode) -> str:
    default = _first(node, "default")
    written = "" if default is None else _written(default)
    return f"{written} if left out" if written else ""


def _first(node: InputNode, keyword: str) -> Json:
    return next((schema[keyword] for schema in node.schemas if keyword in schema), None)
