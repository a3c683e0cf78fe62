"""From a server's raw tool list to sound tools, with the rest set aside and the reason for each."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mcp_tef.model.json import Json, JsonObject, canonical, deeper_than
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.scoring.schema_soundness import why_unsound
from mcp_tef.servers.mending import MARK
from mcp_tef.servers.observations import quoted

_NO_UNICODE = re.compile(f"[\ud800-\udfff{MARK}]")


@dataclass(frozen=True, slots=True)
class CheckedDefinitions:
    """Sound tools, and what was set aside."""

    tools: tuple[Tool, ...]
    problems: tuple[ToolProblem, ...]


def check_definitions(spec: ServerSpec, definitions: Iterable[Json], limits: Limits = USUAL) -> CheckedDefinitions:
    """Check each definition by itself, in the server's order; only allowed tools are looked at."""
    tools: dict[str, Tool] = {}
    problems: list[ToolProblem] = []
    for number, raw in enumerate(definitions, 1):
        name = name_of(raw, limits)
        if name is not None and not spec.wants(name):
            continue
        reason = why_bad(raw, limits) or ("An earlier tool has the same name." if name in tools else None)
        if reason is None and name is not None:
            tools[name] = _tool(spec.name, name, raw, number - 1)
        else:
            problems.append(ToolProblem(name, f"{reason or ''}" if name else f"Definition {number}: {reason}"))
    return CheckedDefinitions(tuple(tools.values()), tuple(problems))


def name_of(raw: Json, limits: Limits = USUAL) -> str | None:
    """The name of a definition that has one, made fit to be shown."""
    name = raw.get("name") if isinstance(raw, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        return None
    return name if _why_bad_name(name, limits) is None else quoted(name.encode("utf-8", "replace").decode()) or None


def _tool(server: str, name: str, raw: JsonObject, place: int) -> Tool:
    return Tool(
        server=server,
        name=name,
        description=raw.get("description") or "",
        input_schema=raw["inputSchema"],
        output_schema=raw.get("outputSchema"),
        raw=raw,
        place=place,
    )


def why_bad(raw: Json, limits: Limits = USUAL) -> str | None:
    """One sentence on what is wrong with a definition; None where it is sound."""
    return next((reason for check in _CHECKS if (reason := check(raw, limits)) is not None), None)


def why_unwieldy(raw: Json, limits: Limits = USUAL) -> str | None:
    """One sentence on why nothing may walk a definition; None where it can be looked at more closely."""
    if not isinstance(raw, Mapping):
        return f"It is {_kind(raw)}, not an object."
    if _more_values_than(limits.definition_values, raw):
        return f"It holds more than {limits.definition_values} values."
    if deeper_than(raw, limits.depth):
        return f"It nests more than {limits.depth} levels deep."
    return None


def _more_values_than(most: int, value: Json) -> bool:
    rest, seen = [value], 0
    while rest and seen <= most:
        seen += 1
        item = rest.pop()
        rest.extend(item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else ())
    return seen > most


def _why_nameless(raw: JsonObject, limits: Limits) -> str | None:
    name = raw.get("name")
    if name is None:
        return "It has no name."
    return _why_bad_name(name, limits) if isinstance(name, str) else f"Its name is {_kind(name)}, not text."


def _why_bad_name(name: str, limits: Limits) -> str | None:
    if not name.strip():
        return "Its name is empty."
    if len(name) > limits.name_characters:
        return f"Its name has {len(name)} characters, more than {limits.name_characters}."
    return None if _is_unicode(name) else "Its name is not valid Unicode."


def _why_bad_words(raw: JsonObject, _limits: Limits) -> str | None:
    for field in ("description", "title"):
        value = raw.get(field)
        if value is not None and not isinstance(value, str):
            return f"Its {field} is {_kind(value)}, not text."
        if value is not None and not _is_unicode(value):
            return f"Its {field} is not valid Unicode."
    return None


def _why_bad_text(raw: JsonObject, limits: Limits) -> str | None:
    text = canonical(raw)
    if not _is_unicode(text):
        return "It holds text that is not valid Unicode."
    size = len(text.encode())
    return f"It has {size} bytes, more than {limits.definition_bytes}." if size > limits.definition_bytes else None


def _why_bad_input(raw: JsonObject, _limits: Limits) -> str | None:
    if "inputSchema" not in raw:
        return "It has no inputSchema."
    return _why_bad_schema("inputSchema", raw["inputSchema"])


def _why_bad_output(raw: JsonObject, _limits: Limits) -> str | None:
    schema = raw.get("outputSchema")
    return None if schema is None else _why_bad_schema("outputSchema", schema)


def _why_bad_schema(field: str, schema: Json) -> str | None:
    if not isinstance(schema, Mapping):
        return f"Its {field} is {_kind(schema)}, not an object."
    if schema.get("type", "object") != "object":
        return f"Its {field} must have the type “object”, not {quoted(str(schema['type']))}."
    reason = why_unsound(schema)
    return reason and f"Its {field} is not a valid JSON Schema: {reason}"


_CHECKS: tuple[Callable[[JsonObject, Limits], str | None], ...] = (
    why_unwieldy,
    _why_nameless,
    _why_bad_words,
    _why_bad_text,
    _why_bad_input,
    _why_bad_output,
)


def _is_unicode(text: str) -> bool:
    return _NO_UNICODE.search(text) is None


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "text" if isinstance(value, str) else "a list" if isinstance(value, list) else "an object"
