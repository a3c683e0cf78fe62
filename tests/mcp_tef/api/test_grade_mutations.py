"""Answers made wrong in one known way are each classified and named rightly, all of them."""

import json
import random
from collections import Counter
from typing import Any

from jsonschema import Draft202012Validator

from mcp_tef.api.score_lines import scored_line
from tests.support.bfcl_cases import Mutation, bfcl_cases, gold_calls, mutations, score_line

SEED = 20261121


def sound_cases() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Cases with an accepted answer that keeps to the tools' own schemas."""
    chosen = []
    for case in bfcl_cases():
        calls = gold_calls(case)
        schemas = {tool["name"]: tool["input_schema"] for tool in case["tools"]}
        closed = {name: {**schema, "additionalProperties": False} for name, schema in schemas.items()}
        if calls and all(Draft202012Validator(closed[call["tool"]]).is_valid(call["arguments"]) for call in calls):
            chosen.append((case, calls))
    return chosen


def why_misjudged(result: dict[str, Any], mutation: Mutation) -> str | None:
    if (result["classification"], result["kind"]) != (mutation.classification, mutation.kind):
        return f"{result['classification']} {result['kind']}"
    if result["parameters_ok"] is True:
        return "parameters_ok"
    if mutation.parameter is None:
        return None
    named = {
        (finding["parameter"].split(".")[0], finding["reason"])
        for match in result["matches"]
        for finding in match["findings"]
    }
    if mutation.reason == "wrong_value":
        inside = {(mutation.parameter, reason) for reason in ("wrong_value", "missing", "not_expected")}
        return None if named & inside and result["correctness"] < 1 else f"named {named}"
    if (mutation.reason == "hallucinated") is not (result["hallucinated"] == [mutation.parameter]):
        return f"hallucinated {result['hallucinated']}"
    if (mutation.reason == "wrong_type") is result["type_conformance"]:
        return f"type_conformance {result['type_conformance']}"
    return None if (mutation.parameter, mutation.reason) in named else f"named {named}"


def test_every_mutation_of_every_case_is_judged_for_what_it_is() -> None:
    chance = random.Random(SEED)
    tried: Counter[str] = Counter()
    misjudged = []
    for case, gold in sound_cases():
        for mutation in mutations(case, gold, chance):
            result = scored_line(json.dumps(score_line(case, mutation.calls))).result
            tried[mutation.what] += 1
            if why := why_misjudged(result, mutation):
                misjudged.append(
                    f"{case['id']}: {mutation.what} of {mutation.parameter}: {why}: {result['explanation']}"
                )
    print(dict(tried))
    assert min(tried.values()) >= 10
    assert len(tried) == 9
    assert misjudged == []
