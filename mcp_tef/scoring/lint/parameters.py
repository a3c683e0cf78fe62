"""Rules about how parameters are described and typed, nested ones included."""

import json
import re
from collections.abc import Iterator, Mapping

from mcp_tef.scoring.lint.definition_texts import excerpt
from mcp_tef.scoring.lint.lint_context import InputNode, LintContext
from mcp_tef.scoring.lint.rule import LintHit, RuleCheck, note, warning
from mcp_tef.scoring.lint.vocabulary import telling, word_set
from mcp_tef.scoring.tokenize import stems

MOST_SHOWN = 8
SHORT = 60

_HOLLOW = word_set("""
    arg argument arguments array body boolean config configuration content contents data dict dictionary field float
    info information input int integer item items json number object option optional options param parameter
    parameters params payload properties property request required settings something string stuff thing things tool
    use used value values various
""")
_VAGUE = re.compile(
    r"\b(stuff|etc(?!/)|and so on|and so forth|various|miscellaneous|some kind of|as appropriate)\b", re.I
)
_QUOTED = r"[\"'`“‘][^\"'`”’\n]{1,40}[\"'`”’]"
_CHOICE = rf"(?:{_QUOTED}|[A-Za-z0-9][\w-]{{0,40}})"
_BETWEEN = r"\s*(?:,\s*or\b|,|\||/|\bor\b)\s*"
_LISTED = re.compile(
    r"\b(?:(?P<strict>either|must be|can be)|one of|options\s*:|"
    r"(?:allowed|possible|accepted|supported|valid) (?:values|options)(?: are| include)?)"
    rf"\s{{0,3}}[:=]?\s{{0,3}}[(\[]?\s{{0,3}}(?P<values>{_CHOICE}(?:{_BETWEEN}{_CHOICE})+)",
    re.IGNORECASE,
)
_ALL_QUOTED = re.compile(rf"{_QUOTED}(?:{_BETWEEN}{_QUOTED})+", re.IGNORECASE)
_SEPARATOR = re.compile(_BETWEEN, re.IGNORECASE)
_NUMBER = r"-?\d[\d,_]*(?:\.\d+)?"
_LIMITS = re.compile(
    rf"\b(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}|"
    rf"[(\[]\s*{_NUMBER}\s*(?:-|–|to|\.\.\.?)\s*{_NUMBER}\s*[)\]]|"
    rf"\brange\s*[:=]?\s*{_NUMBER}\s*(?:-|–|to)\s*{_NUMBER}|"
    r"\b(?:min(?:imum)?|max(?:imum)?|at (?:most|least)|no more than|up to|limit of)\.?"
    rf"\s{{0,3}}(?:is|of|[:=])?\s{{0,3}}{_NUMBER}\b",
    re.IGNORECASE,
)
_NUMBER_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const")
_TEXT_LIMITS = ("minLength", "maxLength", "enum", "const", "pattern", "format")
_LIST_LIMITS = ("minItems", "maxItems", "enum", "const")


def _undocumented(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        if not node.description and not node.properties and not _described_above(subject, node):
            sentence = f"{_named(node)} has no description."
            yield LintHit(node.place, sentence, "Say what to put there, in which form, with an example where it helps.")


def _elsewhere(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        if not node.description and not node.properties and _described_above(subject, node):
            sentence = f"{_named(node)} is explained in the tool's description, not in the schema."
            yield LintHit(node.place, sentence, "Move the explanation to the parameter's own description.")


def _described_above(subject: LintContext, node: InputNode) -> bool:
    """Return True if the tool's description explains a parameter in a list: `- limit: …`, `limit (int): …`."""
    entry = rf"^[ \t*`•-]{{0,40}}{re.escape(node.name)}[`*]{{0,3}} ?(?:\([^)\n]{{0,60}}\))? ?[:–—-] ?\S"
    return node.name in subject.description and bool(re.search(entry, subject.description, re.MULTILINE))


def _repeats_name(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        said = set(stems(node.description)) if len(node.description) <= SHORT else set()
        if said and said <= set(stems(node.name)) | {"param", "parameter", "argument", "value"}:
            sentence = f"The description of {_named(node)} only repeats its name."
            fix = "Say what the name does not: the form, the unit, or where the value comes from."
            yield LintHit(node.place, sentence, fix, excerpt(node.description))


def _vague(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        said = telling(node.description) if len(node.description) <= SHORT else []
        if found := _VAGUE.search(node.description):
            sentence = f"The description of {_named(node)} is vague: “{found[1].lower()}”."
            yield LintHit(node.place, sentence, "List what is meant.", excerpt(node.description, *found.span()))
        elif said and _HOLLOW.issuperset(said) and not set(stems(node.description)) <= set(stems(node.name)):
            sentence = f"The description of {_named(node)} does not say which value is meant."
            yield LintHit(node.place, sentence, "Say what the value means to the tool.", excerpt(node.description))


def _untyped(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        if not node.typed:
            fix = "Add a `type`, such as “string” or “integer”."
            yield LintHit(node.place, f"{_named(node)} has no type.", fix)


def _values_not_listed(subject: LintContext) -> Iterator[LintHit]:
    names = {node.name for node in subject.parameters}
    for node in subject.parameters:
        values = [] if _held_to_values(node) else listed_values(node.description)
        if values and names.isdisjoint(values):
            sentence = f"The description of {_named(node)} lists its values, but the schema has no `enum`."
            fix = f'Add `"enum": {json.dumps(values[:MOST_SHOWN], ensure_ascii=False)}`.'
            yield LintHit(node.place, sentence, fix, excerpt(node.description))


def _held_to_values(node: InputNode) -> bool:
    """Return True if the schema says which values there are, or can have none to list."""
    items = (schema.get("items") for schema in node.schemas)
    return (
        bool(node.types & {"boolean", "object", "integer", "number"})
        or node.has("enum", "const", "pattern")
        or any(isinstance(item, Mapping) and "enum" in item for item in items)
    )


def listed_values(description: str) -> list[str]:
    """Return the values that a description lists as the only ones ("one of a, b or c"); none if unclear."""
    found = _LISTED.search(description)
    if not found:
        return []
    values = [_unquoted(part) for part in _SEPARATOR.split(found["values"])]
    if _ALL_QUOTED.fullmatch(found["values"]):
        return values
    return values if len(values) > 2 and not found["strict"] else []


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'`“”‘’").strip()


def _limits_missing(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.parameters:
        keywords = _limits_of(node)
        found = _LIMITS.search(node.description) if keywords and not node.has(*keywords) else None
        if found:
            sentence = (
                f"The description of {_named(node)} names limits (“{found[0].strip()}”), but the schema has none."
            )
            fix = f"Add {' and '.join(f'`{word}`' for word in keywords[:2])} to the schema."
            yield LintHit(node.place, sentence, fix, excerpt(node.description, *found.span()))


def _limits_of(node: InputNode) -> tuple[str, ...]:
    """Return the keywords that would say a value's limits; none where its type has none."""
    kinds = node.types - {"null"}
    if kinds and kinds <= {"integer", "number"}:
        return _NUMBER_LIMITS
    if kinds == {"string"} and "character" in node.description.lower():
        return _TEXT_LIMITS
    return _LIST_LIMITS if kinds == {"array"} and "item" in node.description.lower() else ()


def _named(node: InputNode) -> str:
    return f"`{node.path}`"


CHECKS: tuple[RuleCheck, ...] = (
    warning(
        "parameter-undocumented",
        10,
        _undocumented,
        title="Parameter without a description",
        why="A model fills in what it is told about; an unexplained parameter gets a guess.",
    ),
    warning(
        "parameter-untyped",
        6,
        _untyped,
        title="Parameter without a type",
        why="Without a type a model may send text for a number, and nothing refuses it.",
    ),
    note(
        "parameter-described-elsewhere",
        3,
        _elsewhere,
        title="Parameter explained far from it",
        why="Clients that show or cut a description apart from its schema lose the explanation.",
    ),
    note(
        "parameter-repeats-name",
        4,
        _repeats_name,
        title="Parameter description repeats the name",
        why="The model has read the name already.",
    ),
    note(
        "parameter-vague",
        4,
        _vague,
        title="Vague parameter description",
        why="A description that fits any value does not say which one is wanted.",
    ),
    note(
        "parameter-values-not-listed",
        5,
        _values_not_listed,
        title="Values in words only",
        why="An `enum` keeps a model, and many providers, to the values that exist; prose does not.",
    ),
    note(
        "parameter-limits-missing",
        3,
        _limits_missing,
        title="Limits in words only",
        why="Limits in the schema are checked before the call; limits in prose are found out by an error.",
    ),
)
