"""Linter of tools: the table of all rules, the findings in order, and the remaining score."""

from collections.abc import Iterable, Iterator

from mcp_tef.model.quality import LintFinding, LintRule, Severity
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint import definition_size, description, names, poisoning, schema_values, schemas
from mcp_tef.scoring.lint.definition_texts import visible
from mcp_tef.scoring.lint.lint_context import NOBODY, LintContext, LintHit, ListedNames, RuleCheck

CHECKS: tuple[RuleCheck, ...] = (
    *schemas.REJECTION_CHECKS,
    *poisoning.CHECKS,
    *description.CHECKS,
    *names.NAME_CHECKS,
    *schemas.SCHEMA_CHECKS,
    *schema_values.CHECKS,
    *schemas.PARAMETER_CHECKS,
    *names.ANNOTATION_CHECKS,
    *definition_size.CHECKS,
    *definition_size.CLIENT_CHECKS,
)
RULES: tuple[LintRule, ...] = tuple(check.rule for check in CHECKS)


BEST = 100
_ORDER = tuple(Severity)


def lint(
    tool: Tool, tokens: int = 0, catalogue: ListedNames = NOBODY, why_rejected: str = ""
) -> tuple[LintFinding, ...]:
    """Return the findings of all rules in a tool: errors first, then in the order of the rules and of the places.

    The same definition gives the same findings whatever the order of its keys. Nothing raises. `why_rejected` is why
    no model is offered the tool; where its definition is too unwieldy to be kept, nothing else is judged.
    """
    subject = LintContext(tool, tokens, catalogue, why_rejected)
    checks = CHECKS if tool.raw or not why_rejected else schemas.REJECTION_CHECKS
    found = (finding for check in checks for finding in _findings(check, subject))
    return tuple(sorted(found, key=lambda finding: _ORDER.index(finding.rule.severity)))


def lint_instructions(text: str) -> tuple[LintFinding, ...]:
    """Return the findings in a server's instructions: places that read as orders of a stranger to the model."""
    subject = LintContext(Tool(server="", name="", description=text, input_schema={}, raw={}))
    return tuple(finding for check in poisoning.CHECKS for finding in _findings(check, subject))


def score(findings: Iterable[LintFinding]) -> int:
    """0–100: 100 less the penalties of all findings, never below 0.

    Every rule has points, which its first finding costs. Each further finding of the same rule costs half as much
    as the one before, rounded down (10, 5, 2, 1, 0 …): ten parameters without descriptions are worse than one, but
    no rule costs twice its points.
    """
    return max(0, BEST - sum(finding.penalty for finding in findings))


def _findings(check: RuleCheck, subject: LintContext) -> Iterator[LintFinding]:
    hits = sorted(check.look(subject), key=lambda hit: (hit.place, hit.sentence, hit.excerpt))
    for number, hit in enumerate(hits):
        yield _finding(check, hit, check.points >> number)


def _finding(check: RuleCheck, hit: LintHit, penalty: int) -> LintFinding:
    return LintFinding(
        rule=check.rule,
        place=visible(hit.place),
        sentence=visible(hit.sentence),
        fix=visible(hit.fix),
        excerpt=hit.excerpt,
        penalty=penalty,
    )
