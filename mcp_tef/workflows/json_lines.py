"""Lines of JSON from strangers: one object a line, with an id, and tools in it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, loads_noting_duplicates
from mcp_tef.model.limits import USUAL
from mcp_tef.model.regular_files import LARGEST_LINE_BYTES
from mcp_tef.model.tools import Tool
from mcp_tef.model.variables import MB

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
    """The object of a line (UTF-8), and the keys that are repeated in it; InputError where there is none."""
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
    """The id of a line, None where it has none that is text or a number."""
    return row.get("id") if isinstance(row, dict) and isinstance(row.get("id"), str | int) else None


def require(row: Mapping[str, Json], names: tuple[str, ...]) -> None:
    """Raise InputError where one of the names is absent, or where the id is no id."""
    if absent := next((name for name in names if name not in row), None):
        raise InputError(f"The line has no {absent}.")
    if not isinstance(row["id"], str | int):
        raise InputError("The id of the line is not text.")


def name_of(value: Json, what: str) -> str:
    """A name; InputError where it is no text, or none at all."""
    if not isinstance(value, str) or not value:
        raise InputError(f"A {what} of the line has no name.")
    return value


def server_of(value: Json) -> str | None:
    """The name of a server, None where there is none; InputError where it is no text."""
    if value is None or isinstance(value, str):
        return value or None
    raise InputError("A server of the line is not named by text.")


def tool_of(raw: Mapping[str, Any], description: str = "") -> Tool:
    """A tool as a line has it, with its schema under either spelling."""
    return Tool(
        server=server_of(raw.get("server")) or "",
        name=name_of(raw.get("name"), "tool"),
        description=description,
        input_schema=raw.get("inputSchema", raw.get("input_schema", True)),
        raw=raw,
    )
