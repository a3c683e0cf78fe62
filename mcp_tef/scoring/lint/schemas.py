"""Rules about input and output schemas, and about how parameters are described and typed, nested ones included."""

import json
import re
from collections.abc import Iterator, Mapping

from mcp_tef.model.json import Json
from mcp_tef.scoring.lint.definition_texts import excerpt
from mcp_tef.scoring.lint.lint_context import (
    InputNode,
    LintContext,
    LintHit,
    Look,
    RuleCheck,
    error,
    note,
    warning,
    why_invalid,
)
from mcp_tef.scoring.lint.vocabulary import telling, word_set
from mcp_tef.scoring.phrases import kind_of, shown, ticked
from mcp_tef.scoring.schema_walk import names_in
from mcp_tef.scoring.tfidf_weights import stems


def _not_object(subject: LintContext) -> Iterator[LintHit]:
    schema = subject.schema
    fix = 'Write `{"type": "object", "properties": {}}`; a tool without parameters has that as well.'
    if schema is None:
        yield LintHit("inputSchema", "The tool has no inputSchema.", fix)
    elif not isinstance(schema, Mapping):
        yield LintHit("inputSchema", f"The inputSchema is {kind_of(schema)}, not an object.", fix)
    elif "type" in schema and schema["type"] != "object":
        yield LintHit("inputSchema", f"The inputSchema has the type {shown(schema['type'])}, not “object”.", fix)


def _no_type(subject: LintContext) -> Iterator[LintHit]:
    if isinstance(subject.schema, Mapping) and "type" not in subject.schema:
        yield LintHit("inputSchema", "The inputSchema has no type.", 'Add `"type": "object"`.')


def _input_invalid(subject: LintContext) -> Iterator[LintHit]:
    if reason := subject.why_unsound:
        yield LintHit("inputSchema", f"The inputSchema is not a valid JSON Schema: {reason}", _FIX_SCHEMA)


def _output_invalid(subject: LintContext) -> Iterator[LintHit]:
    schema: Json = subject.tool.output_schema
    if schema is None:
        return
    if not isinstance(schema, Mapping):
        yield LintHit("outputSchema", f"The outputSchema is {kind_of(schema)}, not an object.", _FIX_SCHEMA)
    elif reason := why_invalid(schema):
        yield LintHit("outputSchema", f"The outputSchema is not a valid JSON Schema: {reason}", _FIX_SCHEMA)
    elif schema.get("type", "object") != "object":
        sentence = f"The outputSchema has the type {shown(schema['type'])}, not “object”."
        yield LintHit("outputSchema", sentence, "Wrap the result in an object.")


def _rejected(subject: LintContext) -> Iterator[LintHit]:
    """Yield the reason why no model is offered the tool, unless a schema rule below says it."""
    said = subject.tool.raw and any(hit for look in _OF_SCHEMAS for hit in look(subject))
    if subject.why_rejected and not said:
        fix = "Correct the definition: clients leave the tool out, and no model is offered it."
        yield LintHit("definition", subject.why_rejected, fix)


_OF_SCHEMAS: tuple[Look, ...] = (_not_object, _input_invalid, _output_invalid)
REJECTION_CHECKS: tuple[RuleCheck, ...] = (
    error(
        "definition-rejected",
        100,
        _rejected,
        title="Rejected definition",
        why="A client that cannot read a definition leaves the tool out, or refuses the whole list.",
    ),
)

_FIX_SCHEMA = "Correct it by JSON Schema 2020-12, or by the dialect that its `$schema` names."


def _required_unknown(subject: LintContext) -> Iterator[LintHit]:
    for node in subject.nodes:
        for name in node.required:
            if name not in node.properties and not _matched(node, name):
                sentence = f"{ticked(name)} is required, but no property of {node.place} has that name."
                yield LintHit(
                    node.place, sentence, f"Describe {ticked(name)} under `properties`, or take it out of `required`."
                )


def _matched(node: InputNode, name: str) -> bool:
    """Return True if a pattern of names speaks about a name."""
    patterns = ({"patternProperties": schema.get("patternProperties")} for schema in node.schemas)
    return any(names_in(schema, name) for schema in patterns)


def _default_invalid(subject: LintContext) -> Iterator[LintHit]:
    for node, default in subject.refused_defaults:
        if default is not None:
            sentence = f"The default of `{node.path}` is {shown(default)}, which its own schema refuses."
            yield LintHit(node.place, sentence, "Correct the default, or the schema that refuses it.", shown(default))


def _default_null(subject: LintContext) -> Iterator[LintHit]:
    for node, default in subject.refused_defaults:
        if default is None:
            sentence = f"The default of `{node.path}` is null, which its type does not allow."
            yield LintHit(node.place, sentence, "Leave the default out, or allow null beside the type.")


SCHEMA_CHECKS: tuple[RuleCheck, ...] = (
    error(
        "schema-not-object",
        100,
        _not_object,
        title="Input schema is no object",
        why="Arguments are always an object with names; clients and providers refuse anything else.",
    ),
    error(
        "schema-invalid",
        100,
        _input_invalid,
        title="Invalid input schema",
        why="Many clients drop the tool, or the whole list, when one schema is invalid.",
    ),
    warning(
        "schema-type-missing",
        8,
        _no_type,
        title="Input schema without a type",
        why='MCP wants `"type": "object"` there; some providers refuse the tool without it.',
    ),
    error(
        "parameter-required-unknown",
        12,
        _required_unknown,
        title="Required parameter that is not described",
        why="A model must send a value of which it knows nothing but the name.",
    ),
    warning(
        "parameter-default-invalid",
        6,
        _default_invalid,
        title="Default that breaks its own schema",
        why="A model copies defaults; this one makes its call invalid.",
    ),
    note(
        "parameter-default-null",
        2,
        _default_null,
        title="Default null without a type for it",
        why="A model that copies the default makes its call invalid.",
    ),
    error(
        "output-schema-invalid",
        100,
        _output_invalid,
        title="Invalid output schema",
        why="Clients check results against it, and fail although the tool did its work.",
    ),
)


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
_SIGN = r"(?:,\s*or\b|,|\||/|\bor\b)\s*"
_BETWEEN = rf"\s*{_SIGN}"
_LISTED = re.compile(
    r"\b(?:(?P<strict>either|must be|can be)|one of|options\s*:|"
    r"(?:allowed|possible|accepted|supported|valid) (?:values|options)(?: are| include)?)"
    rf"\s{{0,3}}[:=]?\s{{0,3}}[(\[]?\s{{0,3}}(?P<values>{_CHOICE}(?:{_BETWEEN}{_CHOICE})+)",
    re.IGNORECASE,
)
_OPEN_LIST = re.compile(
    r"\b(?:etc|other|others|such as|e\.g|for (?:example|instance)|so (?:on|forth)|more|any|anything|like|"
    r"includ(?:e|es|ing)|the (?:name|id|path|value|key)|your|custom|comma|separated|lists?|combination|multiple|"
    r"several)\b|\.\.|…",
    re.IGNORECASE,
)
_OTHER_VALUES = re.compile(r"[\"'`“‘]|\bor\b", re.IGNORECASE)
_ALL_QUOTED = re.compile(rf"{_QUOTED}(?:{_BETWEEN}{_QUOTED})+", re.IGNORECASE)
_SEPARATOR = re.compile(rf"(?:(?<!\s)\s++)?{_SIGN}", re.IGNORECASE)
_NUMBER = r"-?\d[\d,_]*(?:\.\d+)?"
_LIMITS = re.compile(
    rf"\b(?:between|from)\s+{_NUMBER}\s+(?:and|to)\s+{_NUMBER}|"
    rf"[(\[]\s*{_NUMBER}\s*(?:-|–|to|\.\.\.?)\s*{_NUMBER}\s*[)\]]|"
    rf"\brange\s*+[:=]?\s*{_NUMBER}\s*(?:-|–|to)\s*{_NUMBER}|"
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
    return explanation_above(subject.description, node.name) is not None


def explanation_above(description: str, name: str) -> "re.Match[str] | None":
    """Return where a tool's description explains a parameter in a list: `- limit: …`, `limit (int): …`; group `said`.

    The match holds the entry's line as far as it is about the parameter.
    """
    if name not in description:
        return None
    entry = rf"^[ \t*`•-]{{0,40}}{re.escape(name)}[`*]{{0,3}} ?(?:\([^)\n]{{0,60}}\))? ?[:–—-] ?(?P<said>\S[^\n]*)"
    return re.search(entry, description, re.MULTILINE)


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
        elif said and says_nothing(node.description) and not set(stems(node.description)) <= set(stems(node.name)):
            sentence = f"The description of {_named(node)} does not say which value is meant."
            yield LintHit(node.place, sentence, "Say what the value means to the tool.", excerpt(node.description))


def says_nothing(description: str) -> bool:
    """Return True if no word of a parameter's description tells what the value means."""
    return not _VAGUE.search(description) and _HOLLOW.issuperset(telling(description))


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


def closed_list(description: str) -> list[str]:
    """Return the values that a description lists as the only ones, and ends with; none where it may mean others."""
    found = _LISTED.search(description)
    before, after = (description[: found.start()], description[found.end() :]) if found else ("", "")
    if _OPEN_LIST.search(description) or _OTHER_VALUES.search(before) or after.strip(" \n.;)]"):
        return []
    return listed_values(description)


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


def limits_text(description: str) -> str:
    """Return the phrase in which a description names limits; "" without any."""
    found = _LIMITS.search(description)
    return found[0].strip() if found else ""


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


PARAMETER_CHECKS: tuple[RuleCheck, ...] = (
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
