"""The table of all lint rules, in the order in which findings of one severity are told."""

from mcp_tef.model.quality import LintRule
from mcp_tef.scoring.lint import annotations, description, hidden, names, parameters, poisoning, schemas, weight
from mcp_tef.scoring.lint.check import Check

_FAMILIES = (hidden, poisoning, description, names, schemas, parameters, annotations, weight)

CHECKS: tuple[Check, ...] = tuple(check for family in _FAMILIES for check in family.CHECKS)
RULES: tuple[LintRule, ...] = tuple(check.rule for check in CHECKS)
