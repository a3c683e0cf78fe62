"""Reads a tools file: a saved `tools/list` answer, bare or as a whole JSON-RPC message, or a plain array of tools."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.files import open_regular_file
from mcp_tef.model.json import Json
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing, ToolProblem
from mcp_tef.servers.definitions import check_definitions

_SPLIT_HINT = "Split it into several tools files."
_SHAPE_HINT = 'Save a tools/list answer there: {"tools": [...]}, or just the array.'


@dataclass(frozen=True, slots=True)
class _Saved:
    definitions: list[Json]
    problems: tuple[ToolProblem, ...] = ()


def read_tools_file(spec: ServerSpec, limits: Limits = USUAL) -> Listing:
    """The tools that the file of `spec` holds. Blocks; ServerError (TOOLS_FILE) says what is wrong with the file."""
    saved = _saved(spec, limits)
    sorted_out = check_definitions(spec, saved.definitions, limits)
    return Listing(server=spec.name, tools=sorted_out.tools, problems=sorted_out.problems + saved.problems)


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
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise _fault(spec, where, _SHAPE_HINT) from None
    except RecursionError:
        raise _fault(spec, "nests too deep", _SHAPE_HINT) from None


def _definitions(spec: ServerSpec, content: Json, limits: Limits) -> _Saved:
    answer = content.get("result", content) if isinstance(content, dict) else content
    if isinstance(answer, list):
        return _capped(answer, limits)
    tools = answer.get("tools") if isinstance(answer, dict) else None
    if not isinstance(tools, list):
        raise _fault(spec, "holds no list of tools", _SHAPE_HINT)
    return _capped(tools, limits, more=bool(answer.get("nextCursor")))


def _capped(tools: list[Json], limits: Limits, *, more: bool = False) -> _Saved:
    problems = [ToolProblem(None, "The saved answer is one page of several; the tools after it are missing.")] * more
    if len(tools) > limits.tools:
        problems.append(ToolProblem(None, f"Only the first {limits.tools} of {len(tools)} tools were read."))
    return _Saved(tools[: limits.tools], tuple(problems))


def _fault(spec: ServerSpec, what: str, hint: str) -> ServerError:
    return ServerError(ServerFault.TOOLS_FILE, f"The tools file of {spec.name}, {spec.path}, {what}.", hint=hint)
