"""Tools as the quality screen meets them: findings of every kind, made by hand."""

from collections.abc import Sequence

from mcp_tef import ComparedTool, LintFinding, LintRule, Severity, ToolQuality
from tests.support.fake_engine import made_tool

WHY = "A model guesses."


def finding(
    rule: str,
    severity: Severity = Severity.WARNING,
    *,
    penalty: int = 10,
    place: str = "description",
    sentence: str = "The description says too little.",
    fix: str = "Say more.",
    excerpt: str = "",
) -> LintFinding:
    """One finding of a rule whose title is its id in words."""
    title = rule.replace("-", " ").capitalize()
    made = LintRule(id=rule, severity=severity, title=title, why=WHY)
    return LintFinding(rule=made, place=place, sentence=sentence, fix=fix, excerpt=excerpt, penalty=penalty)


def judged(
    name: str, *findings: LintFinding, server: str = "docs", description: str = "Find a page.", tokens: int = 40
) -> ToolQuality:
    """A tool with these findings."""
    tool = made_tool(name, description, server)
    score = max(0, 100 - sum(one.penalty for one in findings))
    return ToolQuality(tool=ComparedTool(f"{server}/{name}", tool), score=score, findings=findings, tokens=tokens)


def names(tools: Sequence[ToolQuality]) -> list[str]:
    """What they are called."""
    return [one.tool.tool.name for one in tools]
