"""Cases of the Berkeley Function Calling Leaderboard as lines for `score`, built without the judge's help."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "dev" / "bfcl_cases.jsonl.gz"
SAMPLE = ROOT / "tests" / "data" / "bfcl_sample.jsonl"


def bfcl_cases() -> list[dict[str, Any]]:
    """All cases where the shared data is beside the repository, else the sample in it."""
    if SHARED.exists():
        with gzip.open(SHARED, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def score_line(case: dict[str, Any], calls: Sequence[dict[str, Any]] | None) -> dict[str, Any]:
    """The case as a line for `score`, with these calls as the recorded answer."""
    return {
        "id": case["id"],
        "query": case["query"],
        "tools": [
            {"name": tool["name"], "description": tool["description"], "inputSchema": tool["input_schema"]}
            for tool in case["tools"]
        ],
        "expected": [expected_call(call) for call in case["expected_calls"]] or None,
        "calls": calls,
    }


def expected_call(call: dict[str, Any]) -> dict[str, Any]:
    """The accepted values of each parameter, those that may be left out marked so."""
    parameters = {name: accepted(values) for name, values in call["parameters"].items()}
    for name in call["omittable"]:
        parameters[name] = {"$optional": parameters.get(name, {"$any": True})}
    return {"tool": call["tool"], "parameters": parameters}


def accepted(values: list[Any]) -> dict[str, Any]:
    """A list of accepted values as a matcher; objects inside hold lists of accepted values themselves."""
    return {"$any_of": [_nested(value) for value in values]}


def _nested(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _field(inner) for name, inner in value.items()}
    return [_nested(item) for item in value] if isinstance(value, list) else value


def _field(values: Any) -> Any:
    """A field of an object inside: an accepted "" means that it may be left out."""
    if not isinstance(values, list):
        return _nested(values)
    return {"$optional": accepted(values)} if "" in values else accepted(values)


def gold_calls(case: dict[str, Any], *, omit: bool = False) -> list[dict[str, Any]]:
    """An accepted answer: of each parameter the first accepted value that its own schema allows.

    A parameter that may be left out is, where no accepted value is allowed, and everywhere with `omit`.
    """
    return [_gold_call(case, call, omit) for call in case["expected_calls"]]


def _gold_call(case: dict[str, Any], call: dict[str, Any], omit: bool) -> dict[str, Any]:
    schema = next(tool["input_schema"] for tool in case["tools"] if tool["name"] == call["tool"])
    required = schema.get("required", [])
    arguments = {}
    for name, values in call["parameters"].items():
        sound = [value for value in map(plain, values) if allowed(value, schema["properties"].get(name, {}))]
        optional = name in call["omittable"] and name not in required
        if values and not (optional and (omit or not sound)):
            arguments[name] = (sound or [plain(values[0])])[0]
    return {"tool": call["tool"], "arguments": arguments}


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def allowed(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is of a schema's type and among its values: all the rules that BFCL's schemas use."""
    kinds = _TYPES[schema["type"]] if "type" in schema else (object,)
    whole = isinstance(value, float) and value.is_integer() and schema.get("type") == "integer"
    if not (isinstance(value, kinds) or whole) or (isinstance(value, bool) and bool not in kinds):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, list):
        return all(allowed(item, schema.get("items", {})) for item in value)
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return all(allowed(item, fields.get(name, {})) for name, item in value.items()) and all(
            name in value for name in schema.get("required", [])
        )
    return True


def plain(value: Any) -> Any:
    """An accepted value with one of the accepted values of each field inside; fields that may be left out are."""
    if isinstance(value, dict):
        fields = {name: inner if isinstance(inner, list) else [inner] for name, inner in value.items()}
        return {name: plain(inner[0]) for name, inner in fields.items() if "" not in inner}
    return [plain(item) for item in value] if isinstance(value, list) else value
