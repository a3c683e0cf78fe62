"""Checks of a raw tool list, from a server or a tools file: sound tools, and the reasons for the rest.

A tools file is a saved `tools/list` answer, bare or as a whole JSON-RPC message, or a plain array of tools.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.json import Json, JsonObject, KeyTwiceError, canonical, deeper_than, loads_unique
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import LONGEST_INSTRUCTIONS, Listing, Tool, ToolProblem
from mcp_tef.scoring.schema_soundness import why_unsound
from mcp_tef.servers.observations import quoted
from mcp_tef.servers.sanitizing import MARK
from mcp_tef.trust.files import open_regular_file

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
            told = f"{reason or ''}" if name else f"Definition {number}: {reason}"
            problems.append(ToolProblem(name, told, number - 1, _kept(raw, limits)))
    return CheckedDefinitions(tuple(tools.values()), tuple(problems))


def _kept(raw: Json, limits: Limits) -> JsonObject | None:
    """Return a bad definition where it can be stored and looked at, else None."""
    return None if why_unwieldy(raw, limits) or _why_bad_text(raw, limits) else raw


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
        if isinstance(item, list):
            rest.extend(item)
        elif not isinstance(item, str) and isinstance(item, Mapping):
            rest.extend(item.values())
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


_SPLIT_HINT = "Split it into several tools files."
_SHAPE_HINT = 'Save a tools/list answer there: {"tools": [...]}, or just the array.'


@dataclass(frozen=True, slots=True)
class _Saved:
    definitions: list[Json]
    problems: tuple[ToolProblem, ...] = ()
    instructions: str = ""


def read_tools_file(spec: ServerSpec, limits: Limits = USUAL) -> Listing:
    """The tools that the file of `spec` holds. Blocks; ServerError (TOOLS_FILE) says what is wrong with the file."""
    saved = _saved(spec, limits)
    sorted_out = check_definitions(spec, saved.definitions, limits)
    problems = sorted_out.problems + saved.problems
    return Listing(server=spec.name, tools=sorted_out.tools, problems=problems, instructions=saved.instructions)


def read_catalogue(path: str, limits: Limits = USUAL) -> tuple[Listing, ...]:
    """The tools that a file holds, by server: the one that a definition names as `server`, else the file's own name.

    Blocks; ServerError (TOOLS_FILE) says what is wrong with the file.
    """
    spec = ServerSpec(name=Path(path).stem or path, transport=Transport.FILE, path=path)
    return _by_server(spec.name, _saved(spec, limits), limits)


def sort_catalogue(name: str, definitions: Sequence[Json], limits: Limits = USUAL) -> tuple[Listing, ...]:
    """Given definitions as if they had been read from a file of that name."""
    return _by_server(name, _capped(list(definitions), limits), limits)


def _by_server(name: str, saved: _Saved, limits: Limits) -> tuple[Listing, ...]:
    servers: dict[str, list[Json]] = {}
    for definition in saved.definitions:
        told = definition.get("server") if isinstance(definition, dict) else None
        servers.setdefault(told if isinstance(told, str) and told.strip() else name, []).append(definition)
    found = [_listed(server, definitions, limits) for server, definitions in servers.items()]
    if len(found) == 1:
        found = [replace(found[0], instructions=saved.instructions)]
    return (*found, Listing(server=name, tools=(), problems=saved.problems)) if saved.problems else tuple(found)


def _listed(server: str, definitions: Sequence[Json], limits: Limits) -> Listing:
    sorted_out = check_definitions(ServerSpec(name=server, transport=Transport.FILE), definitions, limits)
    return Listing(server=server, tools=sorted_out.tools, problems=sorted_out.problems)


def _saved(spec: ServerSpec, limits: Limits) -> _Saved:
    text = _text(spec, limits)
    if sum(map(text.count, ",[{")) > limits.file_values:
        raise _fault(spec, f"holds more than {limits.file_values} values", _SPLIT_HINT)
    return _definitions(spec, _parse(spec, text), limits)


def _text(spec: ServerSpec, limits: Limits) -> str:
    try:
        with open_regular_file(Path(os.path.expanduser(spec.path or ""))) as file:
            data = file.read(limits.file_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise _fault(spec, "does not exist", "Correct the path.") from None
    except IsADirectoryError:
        raise _fault(spec, "is not a file", "Correct the path.") from None
    except OSError as error:
        raise _fault(spec, f"cannot be read ({error.strerror})", "Check the path, and who may read it.") from error
    if len(data) > limits.file_bytes:
        raise _fault(spec, f"is larger than {limits.file_bytes / 2**20:g} MB", _SPLIT_HINT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _fault(spec, "is not UTF-8 text", _SHAPE_HINT) from None


def _parse(spec: ServerSpec, text: str) -> Json:
    try:
        return loads_unique(text)
    except KeyTwiceError as error:
        raise _fault(spec, f"has the key “{error}” twice in one object", "Keep one of the two.") from None
    except json.JSONDecodeError as error:
        where = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise _fault(spec, where, _SHAPE_HINT) from None
    except RecursionError:
        raise _fault(spec, "nests too deep", _SHAPE_HINT) from None
    except ValueError as error:
        raise _fault(spec, f"is not JSON: {error}", _SHAPE_HINT) from None


def _definitions(spec: ServerSpec, content: Json, limits: Limits) -> _Saved:
    answer = content.get("result", content) if isinstance(content, dict) else content
    if isinstance(answer, list):
        return _capped(answer, limits)
    tools = answer.get("tools") if isinstance(answer, dict) else None
    if not isinstance(tools, list):
        raise _fault(spec, "holds no list of tools", _SHAPE_HINT)
    saved = _capped(tools, limits, more=bool(answer.get("nextCursor")))
    text = answer.get("instructions")
    return replace(saved, instructions=text[:LONGEST_INSTRUCTIONS]) if isinstance(text, str) else saved


def _capped(tools: list[Json], limits: Limits, *, more: bool = False) -> _Saved:
    problems = [ToolProblem(None, "The saved answer is one page of several; the tools after it are missing.")] * more
    if len(tools) > limits.tools:
        problems.append(ToolProblem(None, f"Only the first {limits.tools} of {len(tools)} tools were read."))
    return _Saved(tools[: limits.tools], tuple(problems))


def _fault(spec: ServerSpec, what: str, hint: str) -> ServerError:
    return ServerError(ServerFault.TOOLS_FILE, f"The tools file of {spec.name}, {spec.path}, {what}.", hint=hint)
