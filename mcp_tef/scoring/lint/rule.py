"""Building blocks of a lint rule: identity, cost, and the function that finds violations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mcp_tef.model.quality import LintRule, Severity
from mcp_tef.scoring.lint.lint_context import LintContext


@dataclass(frozen=True, slots=True)
class LintHit:
    """One place that breaks a rule: where, in one sentence, what to do about it, and the text that is there."""

    place: str
    sentence: str
    fix: str
    excerpt: str = ""


Look = Callable[[LintContext], Iterable[LintHit]]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule with the points (of 100) that its first finding costs, and how its findings are found."""

    rule: LintRule
    points: int
    look: Look


def error(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings keep a tool from working, or endanger who uses it."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.ERROR, title=title, why=why), points, look)


def warning(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings make wrong picks or wrong arguments likely."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.WARNING, title=title, why=why), points, look)


def note(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings are worth a thought."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.NOTE, title=title, why=why), points, look)
