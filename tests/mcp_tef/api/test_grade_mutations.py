"""Grades of many answers: wrong in one known way, each named rightly; and real cases, right where they are accepted."""

import json
import random
from collections import Counter
from typing import Any

import pytest
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


def test_every_mutation_of_every_other_case_is_judged_for_what_it_is() -> None:
    chance = random.Random(SEED)
    tried: Counter[str] = Counter()
    misjudged = []
    for case, gold in sound_cases()[::2]:
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


CASES = bfcl_cases()


def by_label(label: str) -> list[dict[str, Any]]:
    return [case for case in CASES if case["label"] == label]


def breaks_its_own_schema(case: dict[str, Any], calls: list[dict[str, Any]]) -> bool:
    """Whether an independent check of the accepted answer finds a broken rule or an unnamed parameter."""
    schemas = {tool["name"]: tool["input_schema"] for tool in case["tools"]}
    return any(
        not Draft202012Validator(schemas[call["tool"]]).is_valid(call["arguments"])
        or not call["arguments"].keys() <= schemas[call["tool"]]["properties"].keys()
        for call in calls
    )


def test_there_are_cases_of_every_sort_to_try() -> None:
    assert len(by_label("call")) >= 40
    assert len(by_label("no_call")) >= 10
    assert any(len(case["expected_calls"]) > 1 for case in CASES)


@pytest.mark.parametrize("omit", [False, True], ids=["with what may be left out", "without"])
def test_every_accepted_answer_is_right_down_to_its_parameters(omit: bool) -> None:
    differing = {}
    for case in by_label("call"):
        calls = gold_calls(case, omit=omit)
        result = scored_line(json.dumps(score_line(case, calls))).result
        assert (result["classification"], result["kind"]) == ("TP", "match"), case["id"]
        assert result["correctness"] in (1.0, None), (case["id"], result)
        if result["parameters_ok"] is not True:
            differing[case["id"]] = [
                finding["sentence"] for match in result["matches"] for finding in match["findings"]
            ]
            assert breaks_its_own_schema(case, calls), (case["id"], differing[case["id"]])
    for name, sentences in differing.items():
        print(f"{name}: the accepted answer breaks the tool's own schema: {' '.join(sentences)}")
    assert len(differing) <= 0.03 * len(by_label("call"))


def test_every_case_that_no_tool_fits_is_right_without_a_call() -> None:
    for case in by_label("no_call"):
        result = scored_line(json.dumps(score_line(case, []))).result
        assert (result["classification"], result["kind"]) == ("TN", "no_call_expected"), case["id"]


def test_every_case_that_no_tool_fits_is_wrong_with_a_call() -> None:
    for case in by_label("no_call"):
        for tool in case["tools"][:1]:
            result = scored_line(json.dumps(score_line(case, [{"tool": tool["name"], "arguments": {}}]))).result
            assert (result["classification"], result["kind"]) == ("FP", "unexpected_call"), case["id"]
