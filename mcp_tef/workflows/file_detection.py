"""Detection of dropped files and pasted texts by content: servers, tools, cases, a patch, or a workspace."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import is_database, parse_yaml, read_text
from mcp_tef.formats.servers.server_formats import parse_snippet, read_config
from mcp_tef.model.json import Json
from mcp_tef.model.transfer import DetectedFile, FileKind

NEITHER = "is neither a config of servers, nor tools, nor test cases, nor a patch, nor a workspace."
_TABLES = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson")
_DOCUMENTS = (".yaml", ".yml")
_SCHEMAS = ("inputSchema", "input_schema", "parameters")


class FileDetection:
    """Looks at what is brought; nothing is changed by it."""

    async def of_files(self, paths: Sequence[Path]) -> tuple[DetectedFile, ...]:
        """Detect the kind of each file."""
        return tuple([await asyncio.to_thread(_of_file, path) for path in paths])

    async def of_text(self, text: str) -> DetectedFile:
        """Detect the kind of a pasted text."""
        return await asyncio.to_thread(_of_text, text)


def detect_files(paths: Sequence[Path]) -> tuple[DetectedFile, ...]:
    """Return the same where no workspace is open."""
    return tuple(map(_of_file, paths))


def _of_file(path: Path) -> DetectedFile:
    try:
        if is_database(path):
            return DetectedFile(kind=FileKind.WORKSPACE, path=path)
        text = read_text(path)
        kind = _kind_of(text, path)
    except InputError as error:
        return DetectedFile(kind=None, path=path, problem=error.message)
    problem = "" if kind else f"{path.name} {NEITHER}"
    return DetectedFile(kind=kind, path=path, text=text if kind is FileKind.PATCH else "", problem=problem)


def _of_text(text: str) -> DetectedFile:
    kind = _kind_of(text, None)
    return DetectedFile(kind=kind, text=text, problem="" if kind else f"The text {NEITHER}")


def _kind_of(text: str, path: Path | None) -> FileKind | None:
    suffix = (path or Path()).suffix.lower()
    if suffix in (*_TABLES, *_LINES):
        return FileKind.CASES
    if suffix in _DOCUMENTS:
        return FileKind.CASES if _are_cases(_yaml(text)) else None
    return _kind_of_json(text, path)


def _kind_of_json(text: str, path: Path | None) -> FileKind | None:
    document = _json(text)
    if _are_cases(document) or (document is None and _is_pasted_yaml(text, path)):
        return FileKind.CASES
    if _are_tools(document):
        return FileKind.TOOLS
    if _is_patch(document):
        return FileKind.PATCH
    with suppress(InputError):
        return FileKind.SERVERS if read_config(text, path)[1] else None
    return None


def _is_pasted_yaml(text: str, path: Path | None) -> bool:
    return path is None and _are_cases(_yaml(text))


def _json(text: str) -> Json:
    with suppress(InputError):
        return parse_snippet(text)
    return None


def _yaml(text: str) -> Json:
    with suppress(InputError):
        return parse_yaml(text, "The text")
    return None


def _are_cases(document: Json) -> bool:
    """Our own, promptfoo's or mcp-eval's; a list is told by its first item."""
    if isinstance(document, Mapping):
        kinds = (str, list) if "prompts" in document else list
        return any(isinstance(document.get(key), kinds) for key in ("cases", "tests"))
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, Mapping) and ("query" in first or {"question", "function"} <= first.keys())


def _is_patch(document: Json) -> bool:
    """Return True for operations of RFC 6902, told by the first one."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, Mapping) and {"op", "path"} <= first.keys()


def _are_tools(document: Json) -> bool:
    """Return an array of tools, bare, in an answer, or in a whole message."""
    answer = document.get("result", document) if isinstance(document, Mapping) else document
    tools = answer.get("tools") if isinstance(answer, Mapping) else answer
    first = tools[0] if isinstance(tools, list) and tools else None
    return isinstance(first, Mapping) and "name" in first and (tools is not answer or any(map(first.get, _SCHEMAS)))
