"""Workspaces for journeys: a tools file as server, and cases whose query says what the model stub shall do."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TOOLS: tuple[Mapping[str, Any], ...] = (
    {
        "name": "weather_report",
        "description": "What the weather is like in a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    {
        "name": "train_times",
        "description": "When trains leave from a station.",
        "inputSchema": {"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]},
    },
)


def tools_file(folder: Path) -> Path:
    """The tools, as a server would list them."""
    return written(folder / "tools.json", {"tools": TOOLS})


def case(query: str, expected: Any, *, server: str = "city", suite: str = "Journey") -> dict[str, Any]:
    """One case in our own form."""
    return {"name": query, "query": query, "servers": [server], "expected": expected, "suites": [suite]}


def case_file(folder: Path, cases: Sequence[Mapping[str, Any]]) -> Path:
    """The cases as a JSON file."""
    return written(folder / "cases.json", {"version": 1, "cases": cases})


def written(file: Path, value: Any) -> Path:
    """The file, with the value as JSON."""
    file.write_text(json.dumps(value), "utf-8")
    return file


def weather(number: int) -> dict[str, Any]:
    """A case whose right answer is the weather tool, whatever its city."""
    return case(f"weather report {number}", [{"tool": "weather_report"}])
