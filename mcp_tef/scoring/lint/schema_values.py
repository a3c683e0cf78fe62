"""Rules about valid schemas that no client can follow or no value can satisfy: references, enums, limits, patterns."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.scoring.lint.definition_texts import place_of
from mcp_tef.scoring.lint.lint_context import MOST_NODES, LintContext, LintHit, Look, RuleCheck, error
from mcp_tef.scoring.phrases import listed, shown, ticked
from mcp_tef.scoring.schema_walk import ANYTHING, SchemaDocument, subschemas
from mcp_tef.trust.patterns import why_broken

NO_REGEX = "is not a regular expression"

_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_LIMITS = (
    *(("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")),
    *(("minProperties", "maxProperties"), ("minContains", "maxContains")),
)
_OPEN_LIMITS = (
    *(("exclusiveMinimum", "exclusiveMaximum"), ("exclusiveMinimum", "maximum")),
    ("minimum", "exclusiveMaximum"),
)
CROSSING_LIMITS = (*_LIMITS, *_OPEN_LIMITS)
"""Lower and upper limit of one value by their keywords."""
_REFERENCES = frozenset({"$ref", "$dynamicRef"})
_ECMASCRIPT = re.compile(r"\[\^?\]|\\u\{[0-9A-Fa-f]+\}|\\k<\w+>|\\c[A-Za-z]")

SchemaFault: TypeAlias = tuple[str, str]
FindFaults: TypeAlias = Callable[[Mapping[str, Json], SchemaDocument], Iterator[SchemaFault]]


def _each(find: FindFaults, *keywords: str) -> Look:
    """Return a search for faults in each subschema of valid schemas that uses one of the keywords."""
    wanted = frozenset(keywords)

    def look(subject: LintContext) -> Iterator[LintHit]:
        for document, keys, schema in subject.subschemas:
            if not wanted.isdisjoint(schema):
                for told, fix in find(schema, document):
                    yield LintHit(place_of(keys), told, fix)

    return look


def _references(schema: Mapping[str, Json], document: SchemaDocument) -> Iterator[SchemaFault]:
    for keyword in schema.keys() & _REFERENCES:
        target = schema[keyword]
        found = document.follow(target)
        if found is ANYTHING or not isinstance(found, Mapping | bool):
            inside = isinstance(target, str) and target.startswith("#")
            told = "which the definition does not hold" if inside else "which clients do not fetch"
            yield f"`{keyword}` refers to {shown(target)}, {told}.", "Put that schema under `$defs`, and refer to it."


def _enums(schema: Mapping[str, Json], _document: SchemaDocument) -> Iterator[SchemaFault]:
    values, types = schema.get("enum"), schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if values == []:
        yield "The `enum` is empty, so no value is allowed.", "List the values, or take the `enum` out."
    elif values and types and (wrong := _refused(values, types)):
        named = listed([shown(name) for name in types], "or")
        yield f"The `enum` holds {shown(wrong[0])}, which the type {named} refuses.", "Correct the value or the type."


def _refused(values: Sequence[Json], types: Sequence[str]) -> list[Json]:
    """Return the values of another type. Null alone beside values of the type is usual, and harms nobody."""
    wrong = [value for value in values if not _has_type(value, types)]
    return [] if wrong == [None] and wrong != values else wrong


def _has_type(value: Json, types: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    fitting = [name for name in types if isinstance(value, _PYTHON_TYPES.get(name, ()))]
    return fitting != ["integer"] or value == int(value) if fitting else False


def _limits(schema: Mapping[str, Json], _document: SchemaDocument) -> Iterator[SchemaFault]:
    for least, most in CROSSING_LIMITS:
        low, high = schema.get(least), schema.get(most)
        if _is_number(low) and _is_number(high) and (low, (least, most) in _OPEN_LIMITS) > (high, False):
            told = f"`{least}` is {shown(low)} and `{most}` is {shown(high)}, so no value is allowed."
            yield told, f"Correct {ticked(least)} or {ticked(most)}."


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _patterns(schema: Mapping[str, Json], _document: SchemaDocument) -> Iterator[SchemaFault]:
    named = schema.get("patternProperties")
    for pattern in (schema.get("pattern"), *(named if isinstance(named, Mapping) else ())):
        if isinstance(pattern, str) and why_broken(_ECMASCRIPT.sub(".", pattern)) == NO_REGEX:
            yield f"The pattern {shown(pattern)} {NO_REGEX}.", "Correct it by the rules of ECMAScript."


def broken_parts(schema: Json) -> Iterator[str]:
    """Yield a sentence for each reference of a sound schema that leads nowhere, and for each invalid pattern."""
    document = SchemaDocument(schema)
    for _, part in subschemas(schema, "", MOST_NODES):
        for told, _ in (*_references(part, document), *_patterns(part, document)):
            yield told


def _case_twins(schema: Mapping[str, Json], _document: SchemaDocument) -> Iterator[SchemaFault]:
    named = schema.get("properties")
    by_case: dict[str, list[str]] = {}
    for name in named if isinstance(named, Mapping) else ():
        by_case.setdefault(name.casefold(), []).append(name)
    for names in by_case.values():
        if len(names) > 1:
            told = f"The parameters {listed([ticked(name) for name in sorted(names)])} differ by case only."
            yield told, "Give each parameter a name of its own."


CHECKS: tuple[RuleCheck, ...] = (
    error(
        "schema-reference-broken",
        35,
        _each(_references, *_REFERENCES),
        title="Reference that leads nowhere",
        why="Clients refuse a schema that they cannot resolve, and none should fetch one from elsewhere.",
    ),
    error(
        "schema-enum-unusable",
        20,
        _each(_enums, "enum"),
        title="Enum with impossible values",
        why="A model selects from these values; the schema itself refuses its choice.",
    ),
    error(
        "schema-limits-crossed",
        20,
        _each(_limits, *(most for _, most in CROSSING_LIMITS)),
        title="Limits that exclude every value",
        why="Whatever a model sends is refused.",
    ),
    error(
        "schema-pattern-invalid",
        20,
        _each(_patterns, "pattern", "patternProperties"),
        title="Pattern that is no regular expression",
        why="Validators stop with an error, and clients drop the tool.",
    ),
    error(
        "parameter-case-twin",
        20,
        _each(_case_twins, "properties"),
        title="Parameters that differ by case only",
        why="Models and many programs mix them up.",
    ),
)
