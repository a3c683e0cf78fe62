"""Repairs of schemas and annotations: types, required names, defaults, choices, limits, references and hints."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import MISSING
from mcp_tef.scoring.lint.lint_context import InputNode
from mcp_tef.scoring.lint.names import HINTS
from mcp_tef.scoring.lint.schema_values import CROSSING_LIMITS
from mcp_tef.scoring.lint.schemas import limits_text, listed_values
from mcp_tef.scoring.repairs.definition_edits import DEEPEST, DefinitionEdit, Place, RepairSubject
from mcp_tef.scoring.tfidf_weights import spaced

INPUT: Place = ("inputSchema",)
OUTPUT: Place = ("outputSchema",)
NO_PARAMETERS: Mapping[str, Json] = {"type": "object", "properties": {}}

_TYPES = {
    "str": "string", "text": "string", "varchar": "string", "char": "string", "date": "string", "datetime": "string",
    "int": "integer", "long": "integer", "int32": "integer", "int64": "integer",
    "float": "number", "double": "number", "decimal": "number",
    "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object", "none": "null",
}  # fmt: skip
_JSON_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_SAYS_TRUTH = re.compile(r"(?:whether|true (?:if|to|when|for)|if true|set to true)\b", re.IGNORECASE)
_PARTS_OF_NAMES = re.compile(r"[\s_-]+")
_DEFINED = ("$defs", "definitions")


def object_schema(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Make the input schema an object: an empty one where there is none, its type where it has properties."""
    schema: Json = subject.tool.input_schema
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        yield (((*INPUT, "type"), "object"),)
    elif not schema or schema == "object":
        yield ((INPUT, dict(NO_PARAMETERS)),)


def typed_input(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Give the input schema its type."""
    if isinstance(subject.tool.input_schema, Mapping):
        yield (((*INPUT, "type"), "object"),)


def valid_input(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Correct what other languages write otherwise in the input schema."""
    yield ((INPUT, _corrected(subject.tool.input_schema)),)


def valid_output(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Correct what other languages write otherwise in the output schema."""
    schema = _corrected(subject.tool.output_schema)
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        schema = {**schema, "type": "object"}
    yield ((OUTPUT, schema),)


def _corrected(schema: Json, depth: int = 0) -> Json:
    """Return a schema with known mistakes corrected: names of types, `required` as a flag, numbers as text."""
    if depth >= DEEPEST:
        return schema
    if isinstance(schema, list):
        return [_corrected(one, depth + 1) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: _corrected(value, depth + 1) for key, value in schema.items()}
    return _with_required({key: _CORRECT.get(key, _as_it_is)(value) for key, value in made.items()})


def _as_it_is(value: Json) -> Json:
    return value


def _type_name(value: Json) -> Json:
    if isinstance(value, list):
        return [_type_name(one) for one in value]
    plain = value.strip().lower() if isinstance(value, str) else value
    return plain if plain in _JSON_TYPES else _TYPES.get(plain, value) if isinstance(plain, str) else value


def _as_number(value: Json) -> Json:
    return _number(value, value) if isinstance(value, str) else value


_CORRECT: Mapping[str, Callable[[Json], Json]] = {
    "type": _type_name,
    "required": lambda value: [value] if isinstance(value, str) else value,
    "$schema": lambda value: value if isinstance(value, str) else "https://json-schema.org/draft/2020-12/schema",
    **dict.fromkeys(_COUNTS, _as_number),
}
"""Corrections of a value by its keyword."""


def _with_required(schema: dict[str, Json]) -> dict[str, Json]:
    """Return an object schema whose `required` lists the names that were marked at the property."""
    flagged = {name: one["required"] for name, one in _properties(schema).items() if _is_flagged(one)}
    if not flagged:
        return schema
    names = [*_listed(schema.get("required")), *(name for name, needed in flagged.items() if needed)]
    plain = {name: _without_flag(one) if name in flagged else one for name, one in schema["properties"].items()}
    return {**schema, "properties": plain, "required": list(dict.fromkeys(names))}


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    named = schema.get("properties")
    return named if isinstance(named, Mapping) else {}


def _is_flagged(schema: Json) -> bool:
    return isinstance(schema, Mapping) and isinstance(schema.get("required"), bool)


def _without_flag(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    return {key: value for key, value in schema.items() if key != "required"}


def known_required(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Correct required names to the property that is written otherwise, or take them out."""
    for place, schema in subject.schemas():
        if isinstance(schema.get("required"), list):
            kept = _known_names(schema["required"], _properties(schema))
            yield (((*place, "required"), kept or MISSING),)


def _known_names(names: Sequence[Json], properties: Mapping[str, Json]) -> list[Json]:
    written = {_folded(name): name for name in properties}
    known = [name if name in properties else written.get(_folded(str(name))) for name in names]
    return list(dict.fromkeys(name for name in known if name is not None))


def _folded(name: str) -> str:
    return _PARTS_OF_NAMES.sub("", spaced(name).lower())


def fitting_defaults(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write each refused default as its type does, or as one of the choices; else take it out."""
    for node, default in subject.context.refused_defaults:
        if (place := subject.place_of(node.own)) is not None:
            for value in _fitting(default, node):
                yield (((*place, "default"), value),)
            yield (((*place, "default"), MISSING),)


def _fitting(value: Json, node: InputNode) -> Iterator[Json]:
    choices: Sequence[Json] = next(
        (schema["enum"] for schema in node.schemas if isinstance(schema.get("enum"), list)), []
    )
    yield from (one for one in choices if str(one).casefold() == str(value).casefold())
    yield from (converted for kind in sorted(node.types) if (converted := _as_type(value, kind)) is not MISSING)


def _as_type(value: Json, kind: str) -> Json:
    """Return a value as a type writes it; `MISSING` where it cannot be read so."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return MISSING
    read = _READ.get(kind)
    return read(str(value)) if read else MISSING


def _whole(text: str) -> Json:
    number = _number(text, MISSING)
    return int(number) if number is not MISSING and number == int(number) else MISSING


_READ: Mapping[str, Callable[[str], Json]] = {
    "string": str,
    "integer": _whole,
    "number": lambda text: _number(text, MISSING),
    "boolean": lambda text: _WORDS.get(text.strip().lower(), MISSING),
}
"""Readers of a value by the type that it should have."""


def _number(text: str, otherwise: Json) -> Json:
    plain = text.replace(",", "").replace("_", "").strip()
    with suppress(ValueError, OverflowError):
        return int(plain)
    with suppress(ValueError):
        if (number := float(plain)) - number == 0:
            return number
    return otherwise


def without_null_defaults(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Leave out each default null that the type does not allow."""
    for node, default in subject.context.refused_defaults:
        if default is None and (place := subject.place_of(node.own)) is not None:
            yield (((*place, "default"), MISSING),)


def usable_enums(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write choices as their type does; take an empty list of choices out."""
    for place, schema in subject.schemas():
        values, kinds = schema.get("enum"), schema.get("type")
        if values == []:
            yield (((*place, "enum"), MISSING),)
        elif isinstance(values, list) and isinstance(kinds, str):
            written = [one if (found := _as_type(one, kinds)) is MISSING else found for one in values]
            yield (((*place, "enum"), written),)


def uncrossed_limits(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Swap limits of which the lower is above the upper."""
    for place, schema in subject.schemas():
        for least, most in CROSSING_LIMITS:
            low, high = schema.get(least), schema.get(most)
            if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
                yield (((*place, least), high), ((*place, most), low))


def found_references(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Lead each broken reference to the one definition that has its name."""
    roots = {"inputSchema": subject.tool.input_schema, "outputSchema": subject.tool.output_schema}
    for place, schema in subject.schemas():
        target, root = schema.get("$ref"), roots[str(place[0])]
        if isinstance(target, str) and isinstance(root, Mapping):
            name = re.split(r"[/#]", target)[-1].removesuffix(".json")
            held = [key for key in _DEFINED if isinstance(root.get(key), Mapping) and name in root[key]]
            if len(held) == 1:
                yield (((*place, "$ref"), f"#/{held[0]}/{name}"),)


def typed_parameters(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Give each parameter the type of its default, its examples, or of what its description says."""
    for place, node in subject.parameters():
        if not node.typed and (kind := _told_type(node)):
            yield (((*place, "type"), kind),)


def _told_type(node: InputNode) -> str:
    given = [one for schema in node.schemas for one in (schema.get("default"), *_listed(schema.get("examples")))]
    kinds = {_type_of(value) for value in given if value is not None}
    if kinds:
        return kinds.pop() if len(kinds) == 1 else ""
    if node.has("format"):
        return "string"
    return "boolean" if _SAYS_TRUTH.match(node.description) else ""


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _type_of(value: Json) -> str:
    kinds = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def listed_choices(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Put the values that a description lists into the schema."""
    for place, node in subject.parameters():
        if values := listed_values(node.description):
            yield (((*place, "enum"), list(dict.fromkeys(values))),)


def stated_limits(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Put the limits that a description names into the schema."""
    for place, node in subject.parameters():
        low, high = _limit_keywords(node)
        numbers = _stated(limits_text(node.description))
        edit = tuple(
            ((*place, key), value) for key, value in zip((low, high), numbers, strict=True) if value is not None
        )
        if edit:
            yield edit


def _limit_keywords(node: InputNode) -> tuple[str, str]:
    if "array" in node.types:
        return "minItems", "maxItems"
    return ("minLength", "maxLength") if "string" in node.types else ("minimum", "maximum")


def _stated(text: str) -> tuple[Json, Json]:
    """Return the lower and the upper limit that a phrase names; None for one that it does not."""
    numbers = [_number(one, None) for one in re.findall(r"(?<![\w.])-?\d[\d,_]*(?:\.\d+)?", text)]
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    if len(numbers) != 1:
        return None, None
    lower = re.match(r"\W*(?:min|at least)", text, re.IGNORECASE)
    return (numbers[0], None) if lower else (None, numbers[0])


def careful_hints(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Give the hint that promises too much its careful value."""
    annotations = subject.context.annotations
    if annotations.get("readOnlyHint") is True:
        yield ((("annotations", "readOnlyHint"), False),)
    if annotations.get("destructiveHint") is False:
        yield ((("annotations", "destructiveHint"), True),)


def agreeing_hints(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Take the promise back that the tool only reads; where its name says so, leave the other hint out."""
    yield from careful_hints(subject)
    yield ((("annotations", "destructiveHint"), MISSING),)


def boolean_hints(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write hints as true or false, and leave out those that cannot be read so."""
    for hint in HINTS:
        value = subject.context.annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            text = {"1": "true", "0": "false"}.get(str(value), str(value))
            yield ((("annotations", hint), _WORDS.get(text.strip().lower(), MISSING)),)
