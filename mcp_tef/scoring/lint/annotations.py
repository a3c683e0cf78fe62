"""Rules about a tool's annotations: hints that contradict its name, or that are invalid."""

from collections.abc import Iterator

from mcp_tef.scoring.lint.definition_texts import shown_name
from mcp_tef.scoring.lint.lint_context import LintContext
from mcp_tef.scoring.lint.rule import LintHit, RuleCheck, error, warning
from mcp_tef.scoring.lint.vocabulary import READING, REMOVING, WRITING, words
from mcp_tef.scoring.phrases import kind_of, ticked

_HINTS = ("destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint")


def _contradicts_name(subject: LintContext) -> Iterator[LintHit]:
    verb = _verb(subject.name)
    read_only, destructive = subject.annotations.get("readOnlyHint"), subject.annotations.get("destructiveHint")
    if verb in REMOVING | WRITING and read_only is True:
        yield _contradiction(subject, "readOnlyHint", "true", f"a tool named “{verb}” changes something")
    elif verb in REMOVING and destructive is False:
        yield _contradiction(subject, "destructiveHint", "false", f"a tool named “{verb}” destroys something")
    elif verb in READING and destructive is True and read_only is not True:
        yield _contradiction(subject, "destructiveHint", "true", f"a tool named “{verb}” only reads")


def _verb(name: str) -> str:
    return next((word for word in words(name) if word in READING | REMOVING | WRITING), "")


def _contradiction(subject: LintContext, hint: str, value: str, expected: str) -> LintHit:
    sentence = f"`{hint}` is {value}, but by its name {expected}."
    fix = f"Correct `{hint}`, or name the tool by what it really does."
    return LintHit(f"annotations: {hint}", sentence, fix, shown_name(subject.name, 80))


def _contradicts_itself(subject: LintContext) -> Iterator[LintHit]:
    if subject.annotations.get("readOnlyHint") is True and subject.annotations.get("destructiveHint") is True:
        sentence = "`readOnlyHint` and `destructiveHint` are both true."
        yield LintHit("annotations", sentence, "Set `readOnlyHint` to false, or leave `destructiveHint` out.")


def _no_hint(subject: LintContext) -> Iterator[LintHit]:
    for hint in _HINTS:
        value = subject.annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            sentence = f"{ticked(hint)} is {kind_of(value)}, not true or false."
            yield LintHit(f"annotations: {hint}", sentence, "Write true or false without quotation marks.")


CHECKS: tuple[RuleCheck, ...] = (
    error(
        "annotation-contradicts-name",
        20,
        _contradicts_name,
        title="Annotation contradicts the name",
        why="Clients ask for consent by these hints; a wrong one lets a change through unasked, or asks for nothing.",
    ),
    warning(
        "annotation-contradicts-itself",
        8,
        _contradicts_itself,
        title="Annotations contradict each other",
        why="What only reads cannot destroy; a client has to guess which hint to believe.",
    ),
    warning(
        "annotation-not-boolean",
        6,
        _no_hint,
        title="Annotation of the wrong type",
        why="A hint that is not true or false is ignored, and the careful default takes its place.",
    ),
)
