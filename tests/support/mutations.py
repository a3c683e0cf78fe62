"""Calls made wrong in one known way, and what a judge must say of each; knows nothing of the judge."""

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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
