"""Judging recorded calls, one JSON line each, without a model or a server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.answers import Call
from mcp_tef.model.cases import Expectation, expectation_from_json
from mcp_tef.model.json import Json
from mcp_tef.scoring.codec import verdict_to_json
from mcp_tef.scoring.confidence import usable
from mcp_tef.scoring.expectations import problems
from mcp_tef.scoring.judge import judge
from mcp_tef.workflows.json_lines import Line, decoded, id_of, name_of, parsed, require, server_of, tool_of

_ALL = ("id", "tools", "expected", "calls")
_MOST_KEYS, _LONGEST_KEY = 10, 100


def grade_lines(lines: Iterable[Line]) -> Iterator[dict[str, Json]]:
    """One result a line, in order, as `grade_line` gives it; blank lines are passed over."""
    return (grade_line(line) for line in lines if line is None or line.strip())


def grade_line(line: Line) -> dict[str, Json]:
    """Judge one line (UTF-8): the verdict under the line's id, or `{"id", "error"}` for a bad line. Never raises.

    Where keys are repeated, the last value of each counts, and the explanation says so.
    """
    row: Json = None
    try:
        row, repeated = parsed(line)
        return {"id": id_of(row), **_graded(row, dict.fromkeys(repeated))}
    except InputError as error:
        return {"id": id_of(row), "error": error.message}
    except RecursionError:
        return {"id": id_of(row), "error": "The line nests too deep."}


def _graded(row: Mapping[str, Json], repeated: dict[str, None]) -> dict[str, Json]:
    require(row, _ALL)
    expectation = _expectation(row["expected"])
    tools = [tool_of(tool) for tool in _list_of_objects(row["tools"], "tools")]
    calls = row["calls"]
    if calls is not None:
        calls = [_call(call, repeated) for call in _list_of_objects(calls, "calls")]
    verdict = verdict_to_json(judge(expectation, tools, calls, _confidence(row.get("confidence"))))
    if repeated:
        verdict["explanation"] = f"{verdict['explanation']} {_repeated_sentence(tuple(repeated))}"
    return verdict


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


def _call(raw: dict[str, Any], repeated: dict[str, None]) -> Call:
    tool = name_of(raw.get("tool"), "call")
    arguments = _arguments(raw.get("arguments"), tool, repeated)
    return Call(tool=tool, arguments=arguments, server=server_of(raw.get("server")))


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
