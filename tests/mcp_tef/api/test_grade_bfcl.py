"""Real cases that nobody here wrote: accepted answers are right, and only those that break their own schema are not."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_tef.api.score_lines import scored_line
from tests.support.bfcl_cases import bfcl_cases, gold_calls, score_line

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
