"""A quick yes for everyday schemas: most values fit most schemas, and seeing that needs no validator."""

from collections.abc import Mapping
from typing import Any

from mcp_tef.model.json import Json

_ANNOTATIONS = ("description", "title", "default", "examples")
_PLAIN = frozenset({"type", "enum", "items", "properties", "required", *_ANNOTATIONS})
_PLAIN_ROOT = _PLAIN | {"additionalProperties", "$schema"}
_EXACTLY: dict[object, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def surely_fit(schema: Mapping[str, Any], arguments: Mapping[str, Json]) -> bool:
    """Whether every given argument certainly conforms; False only means that it takes a validator to tell.

    Names that the schema lacks, or lacks among the given ones, are not looked at here.
    """
    if not _PLAIN_ROOT.issuperset(schema) or schema.get("type", "object") != "object" or "enum" in schema:
        return False
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not isinstance(schema.get("additionalProperties", False), bool):
        return False
    for name, value in arguments.items():
        if name in properties and not surely_fits(properties[name], value):
            return False
    return True


def surely_fits(schema: Json, value: Json) -> bool:
    """The same for one value."""
    if not isinstance(schema, dict) or not _PLAIN.issuperset(schema):
        return False
    kind = schema.get("type")
    if not isinstance(kind, str) or type(value) not in _EXACTLY.get(kind, ()):
        return False
    if "enum" in schema:
        allowed = schema["enum"]
        return type(value) is str and isinstance(allowed, list) and value in allowed
    if kind == "array":
        return "items" not in schema or all(surely_fits(schema["items"], item) for item in value)
    return kind != "object" or _object_surely_fits(schema, value)


def _object_surely_fits(schema: Mapping[str, Any], value: Mapping[str, Json]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    return all(isinstance(name, str) and name in value for name in required) and all(
        name not in properties or surely_fits(properties[name], item) for name, item in value.items()
    )
