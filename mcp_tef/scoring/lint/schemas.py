"""Rules about the input and output schemas: valid, of type object, and free of contradictions."""

from collections.abc import Iterator, Mapping

from mcp_tef.model.json import Json
from mcp_tef.scoring.lint.lint_context import InputNode, LintContext, why_invalid
from mcp_tef.scoring.lint.rule import LintHit, RuleCheck, error, note, warning
from mcp_tef.scoring.phrases import kind_of, shown, ticked
from mcp_tef.scoring.schema_walk import names_in


def _not_object(subject: LintContext) -> Iterator[LintHit]:
    schema = subject.schema
    fix = 'Write `{"type": "object", "properties": {}}`; a tool without parameters has that as well.'
    if not isinstance(schema, Mapping):
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


CHECKS: tuple[RuleCheck, ...] = (
    error(
        "schema-not-object",
        35,
        _not_object,
        title="Input schema is no object",
        why="Arguments are always an object with names; clients and providers refuse anything else.",
    ),
    error(
        "schema-invalid",
        35,
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
    warning(
        "output-schema-invalid",
        10,
        _output_invalid,
        title="Invalid output schema",
        why="Clients check results against it, and fail although the tool did its work.",
    ),
)
