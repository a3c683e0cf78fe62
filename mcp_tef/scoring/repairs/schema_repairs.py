"""Repairs of schemas and annotations: types, required names, defaults, choices, limits, references and hints."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import MISSING
from mcp_tef.scoring.lint.lint_context import InputNode
from mcp_tef.scoring.lint.names import HINTS
from mcp_tef.scoring.lint.schema_values import CROSSING_LIMITS
from mcp_tef.scoring.lint.schemas import closed_list, limits_text
from mcp_tef.scoring.repairs.definition_edits import DEEPEST, DefinitionEdit, Place, RepairSubject
from mcp_tef.scoring.tfidf_weights import spaced

INPUT: Place = ("inputSchema",)
OUTPUT: Place = ("outputSchema",)
NO_PARAMETERS: Mapping[str, Json] = {"type": "object", "properties": {}}

_TYPES = {
    "str": "string", "text": "string", "varchar": "string", "char": "string",
    "int": "integer", "long": "integer", "int32": "integer", "int64": "integer",
    "float": "number", "double": "number",
    "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object", "none": "null",
}  # fmt: skip
_JSON_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_SCHEMAS_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMAS = frozenset({
    "items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains",
})  # fmt: skip
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")
_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_SAYS_TRUTH = re.compile(r"(?:whether|true (?:if|to|when|for)|if true|set to true)\b", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,40})(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?", re.I
)
_POINT_OR_GROUP = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})")
_NUMBERS = re.compile(r"(?<![\w.])-?[0-9][0-9,_]*(?:\.[0-9]+)*(?<!,)")
_DIGIT = re.compile(r"\d")
_CONDITION = re.compile(
    r"\b(?:not|if|when|unless|except|per|each|every|otherwise|only|for|by default|exclusive(?:ly)?|recommended|should|"
    r"typically|usually|ideally|about|roughly|more|less)\b",
    re.IGNORECASE,
)
_PARTS_OF_NAMES = re.compile(r"[\s_-]+")
_OR_ANOTHER = re.compile(r"\b(?:or|null|none)\b", re.IGNORECASE)
_FORMATS = {
    **dict.fromkeys(("int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(
        ("date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "password"),
        "string",
    ),
}
_DEFINED = ("$defs", "definitions")


def object_schema(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Make the input schema an object: an empty one where there is none, its type where it has properties."""
    schema: Json = subject.tool.input_schema
    if isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        if _type_name(schema.get("type", "object")) == "object":
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
        schema = {"type": "object", **schema}
    yield ((OUTPUT, schema),)


def _corrected(schema: Json, depth: int = 0) -> Json:
    """Return a schema with known mistakes corrected: names of types, `required` as a flag, numbers as text."""
    if depth >= DEEPEST or not isinstance(schema, Mapping):
        return schema
    made = {key: _below(key, value, depth + 1) for key, value in schema.items()}
    return _with_required({key: _CORRECT.get(key, _as_it_is)(value) for key, value in made.items()})


def _below(keyword: str, value: Json, depth: int) -> Json:
    """Return the value of a keyword with the schemas in it corrected; values that a caller sends stay as they are."""
    if keyword in _SCHEMAS_BY_NAME and isinstance(value, Mapping):
        return {name: _corrected(one, depth) for name, one in value.items()}
    if keyword in _SCHEMAS:
        return [_corrected(one, depth) for one in value] if isinstance(value, list) else _corrected(value, depth)
    return value


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
    "$schema": lambda value: value if isinstance(value, str) else "https://json-schema.org/draft/2020-12/schema",
    **dict.fromkeys(_COUNTS, _as_number),
}
"""Corrections of a value by its keyword."""


def _with_required(schema: dict[str, Json]) -> dict[str, Json]:
    """Return an object schema whose `required` lists the names that were marked at the property, or named alone."""
    if isinstance(alone := schema.get("required"), str) and alone in _properties(schema):
        schema = {**schema, "required": [alone]}
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
    """Correct required names to the property that is written otherwise."""
    for place, schema in subject.schemas():
        names = _listed(schema.get("required"))
        if names and all(isinstance(name, str) for name in names):
            kept = _known_names(names, _properties(schema))
            yield (((*place, "required"), kept),)


def _known_names(names: Sequence[str], properties: Mapping[str, Json]) -> list[Json]:
    written = {_folded(name): name for name in properties}
    return list(dict.fromkeys(name if name in properties else written.get(_folded(name), name) for name in names))


def _folded(name: str) -> str:
    return _PARTS_OF_NAMES.sub("", spaced(name).lower())


def fitting_defaults(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write each refused default as its type does, or as one of the choices."""
    for node, default in subject.context.refused_defaults:
        if (place := subject.place_of(node.own)) is not None:
            for value in _fitting(default, node):
                yield (((*place, "default"), value),)


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
    """Return the number that a text writes; nothing for one that could be read in two ways, such as 1,5 or 1.000."""
    plain = text.strip()
    if not _PLAIN_NUMBER.fullmatch(plain) or _POINT_OR_GROUP.fullmatch(plain):
        return otherwise
    plain = plain.replace(",", "")
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
    """Swap limits of which the lower is above the upper, where the description names these two and no other."""
    for place, schema in subject.schemas():
        told = _numbers(schema.get("description"))
        for least, most in CROSSING_LIMITS:
            low, high = schema.get(least), schema.get(most)
            if isinstance(low, int | float) and isinstance(high, int | float) and told == [high, low]:
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
    kinds = {_type_of(value) for value in _given(node)}
    if _OR_ANOTHER.search(node.description) or len(kinds) > 1:
        return ""
    if kinds:
        return kinds.pop()
    if node.has("format"):
        formats = {str(schema["format"]) for schema in node.schemas if "format" in schema}
        return _FORMATS.get(" ".join(formats), "")
    return "boolean" if _SAYS_TRUTH.match(node.description) else ""


def _given(node: InputNode) -> list[Json]:
    """Return the values that the schema itself names as such: default and examples."""
    named = (one for schema in node.schemas for one in (schema.get("default"), *_listed(schema.get("examples"))))
    return [one for one in named if one is not None]


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _type_of(value: Json) -> str:
    """Return the type of a value; a whole number may be one of many, so it is a number."""
    kinds = ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def listed_choices(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Put the values that a description lists into the schema, where nothing says that there are others."""
    for place, node in subject.parameters():
        values = list(dict.fromkeys(closed_list(node.description))) if node.types == {"string"} else []
        if values and all(one in values for one in _given(node)):
            yield (((*place, "enum"), values),)


def stated_limits(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Put the limits that a description names into the schema, where nothing else in it bears on them."""
    for place, node in subject.parameters():
        low, high, unit = _limit_keywords(node)
        numbers = _stated(node.description, unit)
        edit = tuple(
            ((*place, key), value) for key, value in zip((low, high), numbers, strict=True) if value is not None
        )
        if edit:
            yield edit


def _limit_keywords(node: InputNode) -> tuple[str, str, str]:
    """Return the keywords of the limits, and a pattern of the word that has to follow the limits in a text."""
    if "array" in node.types:
        return "minItems", "maxItems", r"\s?items?"
    return ("minLength", "maxLength", r"\s?characters?") if "string" in node.types else ("minimum", "maximum", "")


def _stated(description: str, unit: str) -> tuple[Json, Json]:
    """Return the lower and the upper limit that a text names; None for one that it does not, or not for sure."""
    phrase = limits_text(description)
    numbers = _numbers(phrase)
    if not numbers or None in numbers or not _alone(description, phrase, unit):
        return None, None
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    lower = re.match(r"\W{0,3}(?:min|at least)", phrase, re.IGNORECASE)
    return (numbers[0], None) if lower else (None, numbers[0])


def _alone(description: str, phrase: str, unit: str) -> bool:
    """Return True if a phrase with limits ends its clause, and the rest has neither numbers nor conditions."""
    before, _, after = description.partition(phrase)
    rest = f"{before} {after}"
    ends = re.match(rf"{unit}\s?(?:[.,;)\]]|$)", after)
    return ends is not None and not _CONDITION.search(rest) and not _DIGIT.search(rest)


def _numbers(text: Json) -> list[Json]:
    """Return the numbers of a text in order, None for each that could be read in two ways."""
    found = _NUMBERS.findall(text) if isinstance(text, str) else ()
    return [_number(one, None) for one in found]


def careful_hints(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Give the hint that promises too much its careful value."""
    annotations = subject.context.annotations
    if annotations.get("readOnlyHint") is True:
        yield ((("annotations", "readOnlyHint"), False),)
    if annotations.get("destructiveHint") is False:
        yield ((("annotations", "destructiveHint"), True),)


def agreeing_hints(_subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Take the promise back that the tool only reads; the warning that it destroys stays in any case."""
    yield ((("annotations", "readOnlyHint"), MISSING),)


def boolean_hints(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write the hints as true or false, all or none: a promise without the warning beside it would mislead."""
    written = {"1": "true", "0": "false"}
    given = {hint: subject.context.annotations.get(hint) for hint in HINTS}
    texts = {hint: str(value).strip().lower() for hint, value in given.items() if not isinstance(value, bool | None)}
    read = {hint: _WORDS.get(written.get(text, text)) for hint, text in texts.items()}
    if None not in read.values():
        yield tuple((("annotations", hint), value) for hint, value in read.items())
