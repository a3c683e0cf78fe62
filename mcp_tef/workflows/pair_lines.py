"""Pairs of tools, one JSON line each, and their scores as lines of the same order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ToolPair
from mcp_tef.model.tools import Tool
from mcp_tef.workflows.json_lines import Line, id_of, parsed, require, tool_of

_ALL = ("id", "tool_a", "tool_b")


@dataclass(frozen=True, slots=True)
class PairLine:
    """A line under its id: two tools, or the sentence that says what is wrong with it."""

    id: Json
    tools: tuple[Tool, Tool] | None = None
    error: str = ""


def read_pair_lines(lines: Iterable[Line]) -> Iterator[PairLine]:
    """One pair a line (UTF-8), in order; blank lines are passed over. Never raises for what a line holds."""
    return (_line(line) for line in lines if line is None or line.strip())


def pair_results(lines: Sequence[PairLine], scores: Iterable[ToolPair]) -> Iterator[dict[str, Json]]:
    """`{"id", "score", "full_score", "lexical", "confusability"}`, or `{"id", "error"}`, for each line in order.

    `scores` are those of the sound lines, in their order; they come rounded to 4 decimals.
    """
    found = iter(scores)
    return ({"id": line.id, **(_scored(next(found)) if line.tools else {"error": line.error})} for line in lines)


def _scored(pair: ToolPair) -> dict[str, Json]:
    return {
        "score": round(pair.similarity, 4),
        "full_score": None if pair.full is None else round(pair.full, 4),
        "lexical": round(pair.lexical, 4),
        "confusability": round(pair.confusability, 4),
    }


def _line(line: Line) -> PairLine:
    row: Json = None
    try:
        row, _ = parsed(line)
        require(row, _ALL)
        return PairLine(id_of(row), (_tool(row, "tool_a"), _tool(row, "tool_b")))
    except InputError as error:
        return PairLine(id_of(row), error=error.message)


def _tool(row: Mapping[str, Json], which: str) -> Tool:
    raw = row[which]
    if not isinstance(raw, dict):
        raise InputError(f"The {which} of the line is not an object.")
    return tool_of({**raw, "inputSchema": _schema(raw, which)}, _description(raw, which))


def _schema(raw: Mapping[str, Any], which: str) -> Mapping[str, Any]:
    """The schema under either spelling; a tool may have none."""
    schema = raw.get("inputSchema", raw.get("input_schema")) or {}
    if not isinstance(schema, dict):
        raise InputError(f"The input schema of {which} is not an object.")
    return schema


def _description(raw: Mapping[str, Any], which: str) -> str:
    description = raw.get("description") or ""
    if not isinstance(description, str):
        raise InputError(f"The description of {which} is not text.")
    return description
