"""One line in, one verdict or one error out."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.api.score_lines import score_lines, scored_line

LINE: dict[str, Any] = {
    "id": "case-1",
    "query": "Weather in Lisbon tomorrow",
    "tools": [
        {
            "name": "get_forecast",
            "description": "Forecast for a city",
            "inputSchema": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        }
    ],
    "expected": [{"tool": "get_forecast", "parameters": {"city": "Lisbon", "days": {"$optional": 1}}}],
    "calls": [{"tool": "get_forecast", "arguments": {"city": "lisbon "}}],
    "confidence": 0.9,
}


def grade(**changes: Any) -> dict[str, Any]:
    return scored_line(json.dumps({**LINE, **changes})).result


def test_a_right_call_comes_out_in_the_promised_shape() -> None:
    result = grade()
    assert result.pop("alternative") == 0
    assert result == {
        "id": "case-1",
        "classification": "TP",
        "kind": "match",
        "matches": [
            {
                "expected": 0,
                "actual": 0,
                "completeness": 1.0,
                "correctness": 1.0,
                "type_conformance": True,
                "hallucinated": [],
                "findings": [],
            }
        ],
        "completeness": 1.0,
        "correctness": 1.0,
        "type_conformance": True,
        "hallucinated": [],
        "parameters_ok": True,
        "confidence_category": "robust",
        "explanation": "Selected `get_forecast`, as expected.",
    }


def test_a_finding_comes_out_with_parameter_reason_and_both_values() -> None:
    result = grade(calls=[{"tool": "get_forecast", "arguments": {"city": "Porto"}}])
    assert result["matches"][0]["findings"] == [
        {
            "parameter": "city",
            "reason": "wrong_value",
            "expected": "Lisbon",
            "actual": "Porto",
            "sentence": "`city` is “Porto”, expected “Lisbon”.",
        }
    ]
    assert (result["classification"], result["parameters_ok"]) == ("TP", False)


def test_no_calls_and_unreadable_answers_count_as_no_tool() -> None:
    assert grade(calls=[])["kind"] == "no_tool"
    unreadable = grade(calls=None, raw="{{{")
    assert (unreadable["classification"], unreadable["kind"]) == ("FN", "no_tool")
    assert "unreadable" in unreadable["explanation"]
    assert grade(expected=None, calls=[])["classification"] == "TN"
    assert grade(expected=[], calls=[])["classification"] == "TN"


def test_every_form_of_expectation_is_understood() -> None:
    forecast = {"tool": "get_forecast"}
    assert grade(expected={"any_of": [[{"tool": "other"}], [forecast]]})["classification"] == "TP"
    assert grade(expected={"ordered": True, "calls": [forecast]})["classification"] == "TP"
    exact = {**forecast, "parameters": {}, "exact": True}
    assert grade(expected=[exact])["parameters_ok"] is False


def test_arguments_may_be_missing_or_recorded_as_text() -> None:
    assert grade(calls=[{"tool": "get_forecast", "arguments": '{"city": "Lisbon"}'}])["parameters_ok"] is True
    assert grade(calls=[{"tool": "get_forecast"}])["completeness"] == 0.0


@pytest.mark.parametrize("call", [{"arguments": {}}, {"tool": ""}, {"tool": None, "server": "weather"}, {"tool": " "}])
def test_a_call_without_a_name_is_an_invented_tool(call: Any) -> None:
    result = grade(calls=[call])
    assert (result["classification"], result["kind"]) == ("FN", "invented_tool")
    assert result["explanation"].startswith("Selected a call without a name, expected `get_forecast`")
    assert grade(expected=None, calls=[call, call])["explanation"].startswith(
        "Selected a call without a name (2 times)"
    )


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"calls": [5]}, "The calls of the line are not a list of objects."),
        ({"calls": "none"}, "The calls of the line are not a list of objects."),
        ({"calls": [{"tool": 5}]}, "A call of the line has a name that is not text."),
        ({"calls": [{"tool": "a", "arguments": [1]}]}, "The arguments of the call of a are not an object."),
        ({"calls": [{"tool": "a", "arguments": "{"}]}, "The arguments of the call of a are not an object."),
        ({"calls": [{"tool": "a", "server": 5}]}, "A server of the line is not named by text."),
        ({"tools": None}, "The tools of the line are not a list of objects."),
        ({"tools": [{"description": "x"}]}, "A tool of the line has no name."),
        ({"expected": [{"tool": ""}]}, "An expected call has no tool name."),
        ({"expected": [{"tool": "a", "server": {}}]}, "The server expected of a is not text."),
        ({"expected": [{"tool": "a", "parameters": []}]}, "The parameters expected of a are not an object."),
        ({"confidence": 1.5}, "The confidence of the line is not a number from 0 to 1."),
        ({"confidence": "high"}, "The confidence of the line is not a number from 0 to 1."),
        ({"id": None}, "The id of the line is not text."),
    ],
)
def test_a_bad_line_gives_its_id_and_one_sentence(changes: Any, error: str) -> None:
    identity = changes.get("id", "case-1")
    assert grade(**changes) == {"id": identity, "error": error}


@pytest.mark.parametrize("name", ["id", "tools", "expected", "calls"])
def test_a_line_without_one_of_its_parts_is_bad(name: str) -> None:
    rest = {key: value for key, value in LINE.items() if key != name}
    assert scored_line(json.dumps(rest)).result == {
        "id": None if name == "id" else "case-1",
        "error": f"The line has no {name}.",
    }


def test_a_matcher_that_nobody_knows_is_a_bad_line_rather_than_a_wrong_verdict() -> None:
    result = grade(expected=[{"tool": "get_forecast", "parameters": {"days": {"$gte": 1}}}])
    assert "`$gte` is not a matcher" in result["error"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "5",
        "null",
        '"x"',
        "NaN",
        '{"id": NaN}',
        '{"id": 1e999}',
        b"\xff\xfe",
        '{"id": ' + "9" * 5_000 + "}",
    ],
)
def test_lines_that_are_no_json_object_give_an_error_and_no_id(line: str | bytes) -> None:
    result = scored_line(line).result
    assert result["id"] is None
    assert result["error"].startswith("The line is ")


def test_a_line_that_nests_too_deep_is_told_as_such() -> None:
    assert scored_line("[" * 200_000).result == {"id": None, "error": "The line nests too deep."}


def test_a_line_of_millions_of_values_is_refused_unread() -> None:
    error = scored_line('{"id": [' + "{}," * 1_000_000 + "0]}").result["error"]
    assert error == "The line holds more than 2,000,000 values."


AS_OBJECT = '{"day": "Sunday", "day": "Monday"}'


@pytest.mark.parametrize("arguments", [AS_OBJECT, json.dumps(AS_OBJECT)])
def test_of_a_repeated_key_the_last_value_is_judged_and_the_explanation_says_so(arguments: str) -> None:
    line = json.dumps(
        {
            "id": "1",
            "tools": [{"name": "book", "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}}}],
            "expected": [{"tool": "book", "parameters": {"day": "Monday"}}],
            "calls": [{"tool": "book", "arguments": "HERE"}],
        }
    )
    verdict = scored_line(line.replace('"HERE"', arguments)).result
    assert (verdict["classification"], verdict["parameters_ok"]) == ("TP", True)
    assert verdict["explanation"].endswith("The JSON repeats `day`; the last value counts.")


def test_lines_are_graded_in_order_a_bad_one_stops_nothing_and_blank_ones_are_passed_over() -> None:
    good = json.dumps(LINE).encode()
    results = list(score_lines([b"\xef\xbb\xbf" + good, b"\n", b"{", "  ", good.decode()]))
    assert [scored.result["id"] for scored in results] == ["case-1", None, "case-1"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["tool", "name", "server", "arguments", "parameters", "any_of", "calls", "ordered", "$any_of"]
            )
            | st.sampled_from(["type", "properties", "required", "$ref", "inputSchema", "$regex"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*LINE, "raw"]), JSON))
def test_junk_of_any_shape_gives_a_verdict_or_an_error(changes: dict[str, Any]) -> None:
    result = grade(**changes)
    assert ("error" in result) is not ("classification" in result)
    assert json.dumps(result)


@settings(max_examples=60, deadline=None)
@given(st.text() | st.binary())
def test_any_text_and_any_bytes_give_a_result(line: str | bytes) -> None:
    assert "id" in scored_line(line).result
