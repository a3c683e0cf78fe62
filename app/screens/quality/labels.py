"""Text of findings, scores and token counts on the quality screen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from app.text.formatting import count, percent
from mcp_tef import LintFinding, LintRule, QualityReport, ServerTokenCount, Severity, Tool, ToolQuality

MAX_SCORE: Final = 100
RISKS: Final = {"poisoning-": "tool poisoning", "hidden-": "hidden text", "bidirectional-": "hidden text"}
SEVERITIES: Final = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.NOTE: "Note"}
_ORDER: Final = tuple(SEVERITIES)


class QualityLevel(StrEnum):
    """Level of a tool by its worst finding; RISKS means text that manipulates the model."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    FINE = "fine"
    RISKS = "safety"


def danger(rule: LintRule) -> str:
    """Return the risk that a rule detects, such as tool poisoning; "" if it is about clarity only."""
    return next((words for family, words in RISKS.items() if rule.id.startswith(family)), "")


def warning(quality: ToolQuality) -> str:
    """Return the warning about a tool that may manipulate the model; "" if there is none."""
    kinds = dict.fromkeys(filter(None, (danger(one.rule) for one in ranked(quality.findings))))
    if not kinds:
        return ""
    if all(one.rule.severity is not Severity.ERROR for one in quality.findings if danger(one.rule)):
        return "Parts of this definition give the model instructions. Read them before you offer the tool."
    return f"Signs of {' and '.join(kinds)}. Read the definition before you offer this tool to a model."


def ranked(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """Sort findings by severity, risk and lost points, worst first."""
    return sorted(findings, key=lambda one: (_ORDER.index(one.rule.severity), not danger(one.rule), -one.penalty))


def worst(quality: ToolQuality) -> LintFinding | None:
    """Return the worst finding of a tool."""
    return next(iter(ranked(quality.findings)), None)


def level(quality: ToolQuality) -> QualityLevel:
    """Return the level of a tool by its worst finding."""
    found = worst(quality)
    return QualityLevel(found.rule.severity.value) if found else QualityLevel.FINE


def unsafe(quality: ToolQuality) -> bool:
    """Return True if a tool may manipulate the model."""
    return any(danger(one.rule) for one in quality.findings)


def lost(points: int) -> str:
    """Return lost points such as "−20"; "" if there are none."""
    return f"−{points}" if points else ""


def tokens(number: int) -> str:
    """Return a number of tokens as text, such as "148 tokens"."""
    return count(number, "token")


def share(part: int, whole: int) -> str:
    """Return a part of a whole: "9 %", "under 1 %"."""
    if 0 < part < whole / 200:
        return "under 1 %"
    return percent(part / whole if whole else None)


def score_sentence(quality: ToolQuality) -> str:
    """Explain a score in one sentence."""
    if not quality.findings:
        return "No issues found."
    off = sum(one.penalty for one in quality.findings)
    found = count(len(quality.findings), "finding")
    if not off:
        return f"{found}, none of which costs points."
    floor = ", at least 0" if off > MAX_SCORE else ""
    return f"{MAX_SCORE} minus {off} for {found}{floor}."


HEAVY: Final = 0.5
LEAST_PART: Final = 0.02


@dataclass(frozen=True, slots=True)
class DefinitionPart:
    """A part of a definition with its share of the whole, 0–1."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBreakdown:
    """The weight of a tool in words, and its parts from the heaviest."""

    sentence: str
    heavy: str
    parts: tuple[DefinitionPart, ...]


def weight(quality: ToolQuality, report: QualityReport) -> TokenBreakdown:
    """Return the tokens of a tool, alone and as part of its server."""
    tool = quality.tool.tool
    parts = parts_of(tool)
    server = next((one for one in report.servers if one.server == tool.server), None)
    return TokenBreakdown(sentence=_sentence(quality, server, report), heavy=_heavy(tool, parts), parts=parts)


def _sentence(quality: ToolQuality, server: ServerTokenCount | None, report: QualityReport) -> str:
    own = f"{tokens(quality.tokens)} in each request that offers it"
    if server is None or server.tools < 2:
        return f"{own}."
    mine = share(quality.tokens, server.tokens)
    heavier = sum(one.tokens > quality.tokens for one in report.tools if one.tool.tool.server == server.server)
    rank = ", more than any of its other tools" if not heavier else ""
    return f"{own}: {mine} of the {server.tokens:,} of {server.server}{rank}."


def parts_of(tool: Tool) -> tuple[DefinitionPart, ...]:
    """Return the parts of a definition by length, longest first; tiny ones are left out."""
    sizes = {
        "Description": len(tool.description),
        "Parameters": length(tool.input_schema),
        "Name": len(tool.name),
    }
    whole = sum(sizes.values()) or 1
    parts = (DefinitionPart(name, size / whole) for name, size in sizes.items() if size / whole >= LEAST_PART)
    return tuple(sorted(parts, key=lambda part: -part.share))


def length(value: object) -> int:
    """Estimate the length of a JSON value in characters; a loop, because schemas can nest too deep for recursion."""
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


def _heavy(tool: Tool, parts: Sequence[DefinitionPart]) -> str:
    if not parts or parts[0].name != "Parameters" or parts[0].share < HEAVY:
        return ""
    found = heaviest_parameter(tool.input_schema)
    return f"The parameter {found[0]} takes {percent(found[1])} of all parameters." if found else ""


def heaviest_parameter(schema: Mapping[str, Any]) -> tuple[str, float] | None:
    """Return the longest parameter and its share of the schema; None if no parameter stands out."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or len(properties) < 2:
        return None
    sizes = {str(name): length(one) for name, one in properties.items()}
    name = max(sizes, key=lambda one: sizes[one])
    part = sizes[name] / sum(sizes.values())
    return (name, part) if part >= max(0.3, 1.5 / len(sizes)) else None
