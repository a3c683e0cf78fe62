"""Scores for JSON lines without a model or a server: verdicts on recorded calls, and similarities of tool pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

from mcp_tef.api.serializers.runs import verdict_to_json
from mcp_tef.errors import InputError
from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import Expectation, expectation_from_json
from mcp_tef.model.json import Json, loads_noting_duplicates
from mcp_tef.model.limits import USUAL
from mcp_tef.model.similarity import ToolPair
from mcp_tef.model.tools import Tool
from mcp_tef.model.variables import MB
from mcp_tef.model.verdicts import Verdict
from mcp_tef.scoring.expectations import problems
from mcp_tef.scoring.judge import judge, usable
from mcp_tef.trust.files import LARGEST_LINE_BYTES

Line: TypeAlias = str | bytes | None
"""A line of a file; None stands for one that was too long to be read, as `bounded_lines` yields it."""


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON can hold")


def _number(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text[:20])


def decoded(text: str) -> tuple[Json, tuple[str, ...]]:
    """Parse JSON without NaN and infinities; the value, and the keys that an object repeats. ValueError."""
    return loads_noting_duplicates(text, parse_constant=_refuse, parse_float=_number)


def parsed(line: Line) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the object of a line (UTF-8), and the keys that are repeated in it; InputError where there is none."""
    if line is None:
        raise InputError(f"The line is longer than {LARGEST_LINE_BYTES // MB} MB.")
    try:
        text = line.decode("utf-8-sig") if isinstance(line, bytes) else line.removeprefix("\ufeff")
        if sum(map(text.count, ",[{")) > USUAL.file_values:
            raise InputError(f"The line holds more than {USUAL.file_values:,} values.")
        row, repeated = decoded(text)
    except RecursionError as error:
        raise InputError("The line nests too deep.") from error
    except ValueError as error:
        raise InputError(f"The line is not JSON: {error}.") from error
    if not isinstance(row, dict):
        raise InputError("The line is not a JSON object.")
    return row, repeated


def id_of(row: Json) -> Json:
    """Return the id of a line, None where it has none that is text or a number."""
    return row.get("id") if isinstance(row, dict) and isinstance(row.get("id"), str | int) else None


def require(row: Mapping[str, Json], names: tuple[str, ...]) -> None:
    """Raise InputError where one of the names is absent, or where the id is no id."""
    if absent := next((name for name in names if name not in row), None):
        raise InputError(f"The line has no {absent}.")
    if not isinstance(row["id"], str | int):
        raise InputError("The id of the line is not text.")


def name_of(value: Json) -> str:
    """Return the name of a tool; InputError where it is no text, or none at all."""
    if not isinstance(value, str) or not value:
        raise InputError("A tool of the line has no name.")
    return value


def server_of(value: Json) -> str | None:
    """Return the name of a server, None where there is none; InputError where it is no text."""
    if value is None or isinstance(value, str):
        return value or None
    raise InputError("A server of the line is not named by text.")


def tool_of(raw: Mapping[str, Any], description: str = "") -> Tool:
    """Return a tool as a line has it, with its schema under either spelling."""
    return Tool(
        server=server_of(raw.get("server")) or "",
        name=name_of(raw.get("name")),
        description=description,
        input_schema=raw.get("inputSchema", raw.get("input_schema", True)),
        raw=raw,
    )


_CALL_FIELDS = ("id", "tools", "expected", "calls")
_MOST_KEYS, _LONGEST_KEY = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredLine:
    """One judged line: its result in the shape of `score`, and what it was judged from, None for a bad line."""

    result: dict[str, Json]
    query: str = ""
    tools: Sequence[Tool] = ()
    expectation: Expectation | None = None
    calls: Sequence[ActualCall] | None = None
    verdict: Verdict | None = None
    confidence: float | None = None


def score_lines(lines: Iterable[Line]) -> Iterator[ScoredLine]:
    """One result a line, in order, as `scored_line` gives it; blank lines are passed over."""
    return (scored_line(line) for line in lines if line is None or line.strip())


def scored_line(line: Line) -> ScoredLine:
    """Judge one line (UTF-8): the verdict under the line's id, or `{"id", "error"}` for a bad line. Never raises.

    Where keys are repeated, the last value of each counts, and the explanation says so.
    """
    row: Json = None
    try:
        row, repeated = parsed(line)
        return _graded(row, dict.fromkeys(repeated))
    except InputError as error:
        return ScoredLine(result={"id": id_of(row), "error": error.message})
    except RecursionError:
        return ScoredLine(result={"id": id_of(row), "error": "The line nests too deep."})


def _graded(row: Mapping[str, Json], repeated: dict[str, None]) -> ScoredLine:
    require(row, _CALL_FIELDS)
    expectation = _expectation(row["expected"])
    tools = [tool_of(tool) for tool in _list_of_objects(row["tools"], "tools")]
    calls = row["calls"]
    if calls is not None:
        calls = [_call(call, repeated) for call in _list_of_objects(calls, "calls")]
    confidence = _confidence(row.get("confidence"))
    verdict = judge(expectation, tools, calls, confidence)
    if repeated:
        explanation = f"{verdict.explanation} {_repeated_sentence(tuple(repeated))}"
        verdict = replace(verdict, explanation=explanation)
    query = row.get("query")
    return ScoredLine(
        result={"id": id_of(row), **verdict_to_json(verdict)},
        query=query if isinstance(query, str) else "",
        tools=tools,
        expectation=expectation,
        calls=calls,
        verdict=verdict,
        confidence=confidence,
    )


def _repeated_sentence(keys: Sequence[str]) -> str:
    named = ", ".join(f"`{key[:_LONGEST_KEY]}`" for key in keys[:_MOST_KEYS])
    return f"The JSON repeats {named}{' and others' if len(keys) > _MOST_KEYS else ''}; the last value counts."


def _expectation(value: Json) -> Expectation:
    expectation = expectation_from_json(value)
    if problem := next(problems(expectation), None):
        raise InputError(problem)
    return expectation


def _list_of_objects(value: Json, what: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"The {what} of the line are not a list of objects.")
    return value


def _call(raw: dict[str, Any], repeated: dict[str, None]) -> ActualCall:
    tool = raw.get("tool") or ""
    if not isinstance(tool, str):
        raise InputError("A call of the line has a name that is not text.")
    call = ActualCall(tool=tool, server=server_of(raw.get("server")))
    return replace(call, arguments=_arguments(raw.get("arguments"), call.label, repeated))


def _arguments(value: Json, tool: str, repeated: dict[str, None]) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str):
        value, keys = _decoded(value)
        repeated.update(dict.fromkeys(keys))
    if not isinstance(value, dict):
        raise InputError(f"The arguments of the call of {tool} are not an object.")
    return value


def _decoded(text: str) -> tuple[Json, tuple[str, ...]]:
    """Arguments as chat APIs record them: JSON in text."""
    try:
        return decoded(text)
    except ValueError:
        return None, ()


def _confidence(value: Json) -> float | None:
    confidence = usable(value)
    if value is not None and confidence is None:
        raise InputError("The confidence of the line is not a number from 0 to 1.")
    return confidence


_PAIR_FIELDS = ("id", "tool_a", "tool_b")


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
    """`{"id", "score", "full_score", "lexical", "confusability", "level"}`, or `{"id", "error"}`, a line in order.

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
        "level": pair.level.value,
    }


def _line(line: Line) -> PairLine:
    row: Json = None
    try:
        row, _ = parsed(line)
        require(row, _PAIR_FIELDS)
        return PairLine(id_of(row), (_tool(row, "tool_a"), _tool(row, "tool_b")))
    except InputError as error:
        return PairLine(id_of(row), error=error.message)


def _tool(row: Mapping[str, Json], which: str) -> Tool:
    raw = row[which]
    if not isinstance(raw, dict):
        raise InputError(f"The {which} of the line is not an object.")
    return tool_of({**raw, "inputSchema": _schema(raw, which)}, _description(raw, which))


def _schema(raw: Mapping[str, Any], which: str) -> Mapping[str, Any]:
    """Return the schema under either spelling; a tool may have none."""
    schema = raw.get("inputSchema", raw.get("input_schema")) or {}
    if not isinstance(schema, dict):
        raise InputError(f"The input schema of {which} is not an object.")
    return schema


def _description(raw: Mapping[str, Any], which: str) -> str:
    description = raw.get("description") or ""
    if not isinstance(description, str):
        raise InputError(f"The description of {which} is not text.")
    return description
