"""What is found in words: severities, the worst of a tool, and the sentence of a score."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from app.text.formatting import count, percent
from mcp_tef import LintFinding, LintRule, Severity, ToolQuality

WHOLE: Final = 100
SAFETY: Final = {"poisoning-": "tool poisoning", "hidden-": "hidden text", "bidirectional-": "hidden text"}
SEVERITIES: Final = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.NOTE: "Note"}
_ORDER: Final = tuple(SEVERITIES)


class Level(StrEnum):
    """How a tool stands by its worst finding; `safety` is any finding that aims at the model behind the user's back."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    FINE = "fine"
    SAFETY = "safety"


def danger(rule: LintRule) -> str:
    """What a rule warns of where it is about text that works on the model unseen; empty where it is about clarity."""
    return next((words for family, words in SAFETY.items() if rule.id.startswith(family)), "")


def warning(quality: ToolQuality) -> str:
    """What to know first of a tool that works on the model unseen; empty where none of it does."""
    kinds = dict.fromkeys(filter(None, (danger(one.rule) for one in ranked(quality.findings))))
    if not kinds:
        return ""
    if all(one.rule.severity is not Severity.ERROR for one in quality.findings if danger(one.rule)):
        return "Parts of this definition steer the model. Read them before you offer the tool."
    return f"Signs of {' and '.join(kinds)}. Offer this tool to no model before somebody has read its definition."


def ranked(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """The gravest first: by severity, then what is unsafe, then what cost most."""
    return sorted(findings, key=lambda one: (_ORDER.index(one.rule.severity), not danger(one.rule), -one.penalty))


def worst(quality: ToolQuality) -> LintFinding | None:
    """The gravest finding of a tool."""
    return next(iter(ranked(quality.findings)), None)


def level(quality: ToolQuality) -> Level:
    """How a tool stands by its worst finding."""
    found = worst(quality)
    return Level(found.rule.severity.value) if found else Level.FINE


def unsafe(quality: ToolQuality) -> bool:
    """Whether something in the tool works on the model unseen."""
    return any(danger(one.rule) for one in quality.findings)


def lost(points: int) -> str:
    """Points taken off: "−20"; nothing where none were."""
    return f"−{points}" if points else ""


def tokens(number: int) -> str:
    """ "148 tokens"."""
    return count(number, "token")


def share(part: int, whole: int) -> str:
    """A part of a whole: "9 %", "under 1 %"."""
    if 0 < part < whole / 200:
        return "under 1 %"
    return percent(part / whole if whole else None)


def score_sentence(quality: ToolQuality) -> str:
    """How the score came about."""
    if not quality.findings:
        return "Nothing to mend: no rule found anything."
    off = sum(one.penalty for one in quality.findings)
    found = count(len(quality.findings), "finding")
    if not off:
        return f"{found}, none of which costs points."
    floor = ", and never below 0" if off > WHOLE else ""
    return f"{WHOLE} less {off} for {found}{floor}."
