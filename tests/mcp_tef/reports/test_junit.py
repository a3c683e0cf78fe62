"""JUnit XML as a build server reads it."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mcp_tef.model.ids import BatchId
from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.verdicts import FindingReason, ParameterFinding
from mcp_tef.reports.junit import to_junit
from mcp_tef.reports.results import Results
from tests.support.report_factories import results, run

# Elements of junit-10.xsd, the schema of Jenkins' xUnit plugin: required and optional attributes, and children.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    **dict.fromkeys(("skipped", "error", "failure"), (set(), {"type", "message"}, set())),
}
FINDING = ParameterFinding(
    parameter="city", reason=FindingReason.WRONG_VALUE, sentence="`city` is “Bonn”, expected “Rome”."
)


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode("utf-8"))


def test_every_run_is_one_test_case_with_its_outcome() -> None:
    root = parsed(to_junit(results()))
    outcomes = [[child.tag for child in case] for case in root.iter("testcase")]
    assert outcomes == [[], ["failure"], ["failure"], ["error"], ["skipped"], ["failure"]]
    assert [suite.get("skipped") for suite in root] == ["0", "1", "0"]
    assert {key: root.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "6",
        "failures": "3",
        "errors": "1",
    }


def test_a_failure_says_why_and_an_error_what_did_not_answer() -> None:
    root = parsed(to_junit(results()))
    failure = root.findall(".//failure")[1]
    assert (failure.get("type"), failure.get("message")) == ("match", "The right tool with a wrong value.")
    assert "Query: question 3" in (failure.text or "")
    error = root.find(".//error")
    assert error is not None
    assert error.get("type") == "server_silent"
    assert "Check it." in (error.text or "")


def test_words_of_strangers_stay_words_and_control_characters_are_marked() -> None:
    root = parsed(to_junit(results()))
    name = root.findall(".//testcase")[1].get("name")
    assert name == '<script>alert(1)</script> "&\ufffd\ufffd[31m\ufffd ]]>'


def test_repeats_have_names_of_their_own_and_models_suites_of_their_own() -> None:
    made = results(run(1), run(1, repeat=1), run(1, model="offline/retrieval"))
    root = parsed(to_junit(made))
    assert [suite.get("name") for suite in root] == ["openai/gpt-4.1-mini", "offline/retrieval"]
    assert [case.get("name") for case in root[0].findall("testcase")] == ["case 1 (repeat 1)", "case 1 (repeat 2)"]


def with_threshold(shortfall: str) -> Results:
    return replace(results(), checks=(ThresholdCheck("correct_call is at least 0.9", shortfall),))


@pytest.mark.parametrize("made", [results(), results(run(1)), with_threshold(""), with_threshold("It is 0.5.")])
def test_it_is_valid_for_jenkins(made: Results) -> None:
    for element in parsed(to_junit(made)).iter():
        required, optional, children = SCHEMA[element.tag]
        assert required <= set(element.attrib) <= required | optional
        assert {child.tag for child in element} <= children
        assert re.fullmatch(r"\d{1,3}\.\d{3}", element.get("time", "1.000"))


@pytest.mark.parametrize("shortfall", ["", "It is 0.5."])
def test_with_thresholds_it_fails_where_the_command_does(shortfall: str) -> None:
    made = replace(with_threshold(shortfall), runs=(run(1), run(2, parameters_ok=False)))
    root = parsed(to_junit(made))
    assert (root.get("failures"), root.get("errors")) == ("1" if shortfall else "0", "0")
    assert [case.get("name") for case in root[-1].findall("testcase")] == ["correct_call is at least 0.9"]


def test_a_failure_holds_what_was_given_and_expected() -> None:
    failure = parsed(to_junit(results(run(1, parameters_ok=False, findings=(FINDING,))))).find(".//failure")
    assert failure is not None
    assert "`city` is “Bonn”, expected “Rome”." in (failure.text or "")


def test_a_suite_says_under_which_conditions_it_ran_and_no_class_name_is_split() -> None:
    settings = ModelSettings(provider="openai", model="gpt-4.1-mini", temperature=0.1, base_url="http://localhost:1/v1")
    root = parsed(to_junit(replace(results(run(1)), batch_id=BatchId("b"), settings={settings.label: settings})))
    held = {one.get("name"): one.get("value") or "" for one in root.iter("property")}
    assert (held["batch"], held["model"], held["address"]) == ("b", "openai/gpt-4.1-mini", "http://localhost:1/v1")
    assert held["settings"].startswith("temperature 0.1,")
    assert {"mcp-tef", "date"} <= set(held)
    assert all("." not in (case.get("classname") or "") for case in root.iter("testcase"))


def test_times_are_in_seconds() -> None:
    root = parsed(to_junit(results(run(1), run(2))))
    assert [case.get("time") for case in root.iter("testcase")] == ["1.500", "1.500"]
    assert root.get("time") == "3.000"
