"""Cases of the Berkeley Function Calling Leaderboard as lines for `score`, with right and wrong answers.

Nothing here uses the judge: its verdicts are checked against these.
"""

import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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


CallJson = dict[str, Any]


@dataclass(frozen=True)
class Mutation:
    """A wrong answer, and what it must be judged to be; `parameter` and `reason` name what is wrong in it."""

    what: str
    calls: list[CallJson]
    classification: str
    kind: str
    parameter: str | None = None
    reason: str | None = None


_OF_ANOTHER_TYPE: dict[str, Any] = {
    "string": 424242,
    "integer": "not a number",
    "number": "not a number",
    "boolean": "not a boolean",
    "array": "not a list",
    "object": "not an object",
}


def mutations(case: dict[str, Any], gold: list[CallJson], chance: random.Random) -> Iterator[Mutation]:
    """Every way to go wrong that the case allows, each applied to one call of an accepted answer."""
    position = chance.randrange(len(gold))
    schema = next(tool["input_schema"] for tool in case["tools"] if tool["name"] == gold[position]["tool"])
    for mutate in (_drop_required, _wrong_type, _wrong_value, _unknown_parameter):
        yield from mutate(case, gold, position, schema, chance)
    yield from _other_choices(case, gold, position)


def _changed(gold: list[CallJson], position: int, change: Callable[[dict[str, Any]], None]) -> list[CallJson]:
    calls = copy.deepcopy(gold)
    change(calls[position]["arguments"])
    return calls


def _drop_required(
    case: dict[str, Any], gold: list[CallJson], position: int, schema: dict[str, Any], chance: random.Random
) -> Iterator[Mutation]:
    names = [name for name in schema.get("required", []) if name in gold[position]["arguments"]]
    if names:
        name = chance.choice(names)
        calls = _changed(gold, position, lambda arguments: arguments.pop(name))
        yield Mutation("drop a required parameter", calls, "TP", "match", name, "missing")


def _wrong_type(
    case: dict[str, Any], gold: list[CallJson], position: int, schema: dict[str, Any], chance: random.Random
) -> Iterator[Mutation]:
    names = [name for name in gold[position]["arguments"] if schema["properties"].get(name, {}).get("type")]
    if names:
        name = chance.choice(names)
        value = _OF_ANOTHER_TYPE[schema["properties"][name]["type"]]
        calls = _changed(gold, position, lambda arguments: arguments.update({name: value}))
        yield Mutation("wrong type", calls, "TP", "match", name, "wrong_type")


def _wrong_value(
    case: dict[str, Any], gold: list[CallJson], position: int, schema: dict[str, Any], chance: random.Random
) -> Iterator[Mutation]:
    names = [name for name in gold[position]["arguments"] if name in case["expected_calls"][position]["parameters"]]
    accepted = case["expected_calls"][position]["parameters"]
    wrong = {name: _another_value(gold[position]["arguments"][name]) for name in names}
    names = [name for name in names if wrong[name] not in accepted[name]]
    if names:
        name = chance.choice(names)
        value = wrong[name]
        calls = _changed(gold, position, lambda arguments: arguments.update({name: value}))
        yield Mutation("wrong value", calls, "TP", "match", name, "wrong_value")


def _another_value(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value} and something else entirely"
    if isinstance(value, int | float):
        return value + 1_234_567
    if isinstance(value, list):
        return [*value, *value, value[0] if value else "one too many"]
    return {"something": "else entirely"}


def _unknown_parameter(
    case: dict[str, Any], gold: list[CallJson], position: int, schema: dict[str, Any], chance: random.Random
) -> Iterator[Mutation]:
    calls = _changed(gold, position, lambda arguments: arguments.update({"made_up_by_the_model": 1}))
    yield Mutation("unknown parameter", calls, "TP", "match", "made_up_by_the_model", "hallucinated")


def _other_choices(case: dict[str, Any], gold: list[CallJson], position: int) -> Iterator[Mutation]:
    rest = gold[:position] + gold[position + 1 :]
    others = [tool["name"] for tool in case["tools"] if tool["name"] not in {call["tool"] for call in gold}]
    yield Mutation("no call", [], "FN", "no_tool")
    yield Mutation("invented tool", [*rest, {"tool": "nobody_offers_this", "arguments": {}}], "FN", "invented_tool")
    yield Mutation("extra call", [*gold, copy.deepcopy(gold[position])], "FP", "extra_call")
    if others:
        yield Mutation("wrong tool", [*rest, {"tool": others[0], "arguments": {}}], "FN", "wrong_tool")
        yield Mutation("extra call", [{"tool": others[0], "arguments": {}}, *gold], "FP", "extra_call")
    if rest:
        yield Mutation("one call left out", rest, "FN", "no_tool")


SEED = 20261123
CONFIDENCES: tuple[dict[str, float], ...] = ({}, {"confidence": 0.2}, {"confidence": 0.95})


def score_lines(cases: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Return the lines of every case in order; the same cases give the same lines."""
    chance = random.Random(SEED)
    for case in cases:
        for number, (name, calls) in enumerate(_answers(case, chance)):
            confidence = CONFIDENCES[number % len(CONFIDENCES)]
            yield json.dumps(score_line(case, calls) | {"id": f"{case['id']}: {name}"} | confidence)


def _answers(case: dict[str, Any], chance: random.Random) -> Iterator[tuple[str, list[dict[str, Any]] | None]]:
    yield "no call", []
    yield "unreadable", None
    yield "first tool without arguments", [{"tool": case["tools"][0]["name"], "arguments": {}}]
    gold = gold_calls(case)
    if not gold:
        return
    yield "accepted", gold
    yield "accepted, shortest", gold_calls(case, omit=True)
    yield "backwards", gold[::-1]
    for number, mutation in enumerate(mutations(case, gold, chance)):
        yield f"{number} {mutation.what}", mutation.calls
