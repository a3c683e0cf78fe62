"""What a definition weighs, and which of its parts is heavy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.screens.quality.words import share, tokens
from app.text.formatting import percent
from mcp_tef import QualityReport, ServerWeight, Tool, ToolQuality

HEAVY: Final = 0.5
LEAST_PART: Final = 0.02


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a definition with its share of the whole, 0–1."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """The weight of a tool in words, and its parts from the heaviest."""

    sentence: str
    heavy: str
    parts: tuple[Part, ...]


def weight(quality: ToolQuality, report: QualityReport) -> Weight:
    """What a tool costs each request, alone and among its server's tools."""
    tool = quality.tool.tool
    parts = parts_of(tool)
    server = next((one for one in report.servers if one.server == tool.server), None)
    return Weight(sentence=_sentence(quality, server, report), heavy=_heavy(tool, parts), parts=parts)


def _sentence(quality: ToolQuality, server: ServerWeight | None, report: QualityReport) -> str:
    own = f"{tokens(quality.tokens)} in every request that offers it"
    if server is None or server.tools < 2:
        return f"{own}."
    mine = share(quality.tokens, server.tokens)
    heavier = sum(one.tokens > quality.tokens for one in report.tools if one.tool.tool.server == server.server)
    rank = ", more than any other of its tools" if not heavier else ""
    return f"{own}: {mine} of the {server.tokens:,} of {server.server}{rank}."


def parts_of(tool: Tool) -> tuple[Part, ...]:
    """The parts of what a request carries, by their length, the heaviest first; tiny ones are left out."""
    sizes = {
        "Description": len(tool.description),
        "Parameters": length(tool.input_schema),
        "Name": len(tool.name),
    }
    whole = sum(sizes.values()) or 1
    parts = (Part(name, size / whole) for name, size in sizes.items() if size / whole >= LEAST_PART)
    return tuple(sorted(parts, key=lambda part: -part.share))


def length(value: object) -> int:
    """About how many characters a JSON value has; foreign schemas nest deeper than recursion goes."""
    size, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Mapping):
            size += sum(len(str(key)) + 4 for key in item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        else:
            size += len(str(item)) + 2
    return size


def _heavy(tool: Tool, parts: Sequence[Part]) -> str:
    if not parts or parts[0].name != "Parameters" or parts[0].share < HEAVY:
        return ""
    found = heaviest_parameter(tool.input_schema)
    return f"The parameter {found[0]} alone takes {percent(found[1])} of its parameters." if found else ""


def heaviest_parameter(schema: Mapping[str, Any]) -> tuple[str, float] | None:
    """The parameter with the longest schema and its share of them all; None where none stands out."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or len(properties) < 2:
        return None
    sizes = {str(name): length(one) for name, one in properties.items()}
    name = max(sizes, key=lambda one: sizes[one])
    part = sizes[name] / sum(sizes.values())
    return (name, part) if part >= max(0.3, 1.5 / len(sizes)) else None
