"""The repair of a rule's findings in a definition: an edit that lint proves, or none where the tool must be known."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice

from mcp_tef.model.quality import DefinitionRepair, LintFinding
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.lint_context import NOBODY, ListedNames
from mcp_tef.scoring.lint.linter import CHECKS, lint
from mcp_tef.scoring.repairs import schema_repairs, text_repairs
from mcp_tef.scoring.repairs.definition_edits import RepairSubject, edited, tool_of
from mcp_tef.scoring.repairs.text_repairs import Repairer, TextRepair, in_texts

MOST_EDITS = 200
LONGEST_TEXT = 20_000
"""Characters of a text that is repaired: a longer one is no description, and would keep the window waiting."""
MOST_LINTED = 4_000_000
"""Characters that lint reads for all edits together: some seconds."""


@dataclass(frozen=True, slots=True)
class RuleRepair:
    """Edits that repair the findings of a rule; `put_in` names what they put in, as a phrase."""

    put_in: str
    edits: Repairer


def _of_texts(repairs: Mapping[str, tuple[str, TextRepair]]) -> dict[str, RuleRepair]:
    looks = {check.rule.id: check.look for check in CHECKS}
    return {rule: RuleRepair(put_in, in_texts(looks[rule], repair)) for rule, (put_in, repair) in repairs.items()}


_WITHOUT_ORDER = ("the text without the sentence at fault", text_repairs.without_sentences)
_FROM_SCHEMA = "a text from the parameter’s name and schema"
_PLAIN_LETTERS = "the same words in letters of one script"
REPAIRS: Mapping[str, RuleRepair] = {
    **_of_texts(
        {
            "hidden-characters": ("the text without hidden characters", text_repairs.SEEN_LETTERS),
            "bidirectional-characters": ("the text without characters that turn it around", text_repairs.ONE_DIRECTION),
            "hidden-mixed-script": (_PLAIN_LETTERS, text_repairs.ONE_SCRIPT),
            "hidden-markup": ("the text without its hidden part", text_repairs.UNSEEN_PARTS),
            "poisoning-image": ("the text without the picture", text_repairs.PICTURES),
            "hidden-spaced-letters": ("words without gaps", text_repairs.WHOLE_WORDS),
            "poisoning-encoded": ("the text without its encoded part", text_repairs.without_sentences),
            "poisoning-markup": ("the text without the part marked as instructions", text_repairs.MARKED_PARTS),
            "poisoning-override": _WITHOUT_ORDER,
            "poisoning-secrecy": _WITHOUT_ORDER,
            "poisoning-secrets": _WITHOUT_ORDER,
            "poisoning-extraction": _WITHOUT_ORDER,
            "poisoning-sending": _WITHOUT_ORDER,
            "poisoning-download": _WITHOUT_ORDER,
            "poisoning-order": _WITHOUT_ORDER,
            "poisoning-promotion": _WITHOUT_ORDER,
            "poisoning-forbidden-tool": _WITHOUT_ORDER,
            "poisoning-pressure": _WITHOUT_ORDER,
            "poisoning-step": _WITHOUT_ORDER,
            "poisoning-other-tool": _WITHOUT_ORDER,
        }
    ),
    "description-missing": RuleRepair("a text from the tool’s name and schema", text_repairs.drafted_description),
    "description-placeholder": RuleRepair("a text from the tool’s name and schema", text_repairs.placeholders),
    "description-over-limit": RuleRepair("the text without repeated sentences", text_repairs.repeated_sentences),
    "description-too-long": RuleRepair("the text without repeated sentences", text_repairs.repeated_sentences),
    "client-cuts-description": RuleRepair("the text without repeated sentences", text_repairs.repeated_sentences),
    "description-repeats-name": RuleRepair("what the tool takes and returns", text_repairs.completed_description),
    "description-too-short": RuleRepair("what the tool takes and returns", text_repairs.completed_description),
    "description-no-verb": RuleRepair("the action that the name says", text_repairs.action_first),
    "description-vague": RuleRepair("the action that the name says", text_repairs.vague_words),
    "name-lookalike": RuleRepair("the name in plain letters", text_repairs.plain_name),
    "name-protocol": RuleRepair("a name that all providers accept", text_repairs.allowed_name),
    "name-provider": RuleRepair("a name that all providers accept", text_repairs.allowed_name),
    "name-not-telling": RuleRepair("a name from the description", text_repairs.telling_name),
    "schema-not-object": RuleRepair("a schema of the type object", schema_repairs.object_schema),
    "schema-invalid": RuleRepair("the schema in JSON Schema’s own terms", schema_repairs.valid_input),
    "schema-type-missing": RuleRepair("the type object", schema_repairs.typed_input),
    "output-schema-invalid": RuleRepair("the schema in JSON Schema’s own terms", schema_repairs.valid_output),
    "schema-reference-broken": RuleRepair("the place of the definition", schema_repairs.found_references),
    "schema-enum-unusable": RuleRepair("choices of the right type", schema_repairs.usable_enums),
    "schema-limits-crossed": RuleRepair("the limits in order", schema_repairs.uncrossed_limits),
    "parameter-required-unknown": RuleRepair("the names of the parameters", schema_repairs.known_required),
    "parameter-default-invalid": RuleRepair("a default that fits", schema_repairs.fitting_defaults),
    "parameter-default-null": RuleRepair("no default", schema_repairs.without_null_defaults),
    "parameter-undocumented": RuleRepair(_FROM_SCHEMA, text_repairs.undocumented_parameters),
    "parameter-repeats-name": RuleRepair("what the schema says of the parameter", text_repairs.named_parameters),
    "parameter-vague": RuleRepair(_FROM_SCHEMA, text_repairs.vague_parameters),
    "parameter-described-elsewhere": RuleRepair("the explanation of the description", text_repairs.moved_explanations),
    "parameter-untyped": RuleRepair("the type of the values", schema_repairs.typed_parameters),
    "parameter-values-not-listed": RuleRepair("the values of the description", schema_repairs.listed_choices),
    "parameter-limits-missing": RuleRepair("the limits of the description", schema_repairs.stated_limits),
    "annotation-contradicts-name": RuleRepair("the careful value of the hint", schema_repairs.careful_hints),
    "annotation-contradicts-description": RuleRepair("the careful value of the hint", schema_repairs.careful_hints),
    "annotation-contradicts-itself": RuleRepair("hints that agree", schema_repairs.agreeing_hints),
    "annotation-not-boolean": RuleRepair("true or false", schema_repairs.boolean_hints),
}


def no_tokens(_tool: Tool) -> int:
    """Return 0, where tokens are not counted."""
    return 0


def repaired(
    tool: Tool,
    rule: str,
    names: ListedNames = NOBODY,
    *,
    why_rejected: str = "",
    tokens: Callable[[Tool], int] = no_tokens,
) -> DefinitionRepair | None:
    """Return the repair of a rule's findings in a tool; None where none can be derived, or lint finds fault with it.

    Texts over `LONGEST_TEXT` are not repaired. Each edit is kept only if lint finds less of the rule and no more of any
    other. `tokens` counts those of a definition.
    """
    known = REPAIRS.get(rule)
    before = lint(tool, tokens(tool), names, why_rejected)
    found, subject = _of_rule(before, rule), RepairSubject(tool, names)
    if known is None or not found:
        return None
    made, now = tool, before
    for edit in islice(known.edits(subject), _most_edits(subject)):
        candidate = tool_of(tool.server, edited(made.raw, edit), tool.place)
        after = lint(candidate, tokens(candidate), names)
        if _better(now, after, rule):
            made, now = candidate, after
    if made is tool:
        return None
    left = [finding.place for finding in _of_rule(now, rule)]
    return DefinitionRepair(
        rule=found[0].rule,
        definition=made.raw,
        put_in=known.put_in,
        places=tuple(finding.place for finding in found if finding.place not in left),
        left=len(left),
    )


def _most_edits(subject: RepairSubject) -> int:
    return 0 if subject.longest > LONGEST_TEXT else min(MOST_EDITS, MOST_LINTED // (subject.size + 1))


def _of_rule(findings: tuple[LintFinding, ...], rule: str) -> list[LintFinding]:
    return [finding for finding in findings if finding.rule.id == rule]


def _better(before: tuple[LintFinding, ...], after: tuple[LintFinding, ...], rule: str) -> bool:
    """Return True if a rule has fewer findings, and no other has more; places may be named otherwise by now."""
    had, has = (Counter(finding.rule.id for finding in findings) for findings in (before, after))
    return has[rule] < had[rule] and all(has[other] <= had[other] for other in has)
