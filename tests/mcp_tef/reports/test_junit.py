"""JUnit XML as a build server reads it."""

from xml.etree import ElementTree

from mcp_tef.reports.junit import to_junit
from tests.support.report_factories import results, run


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode("utf-8"))


def test_every_run_is_one_test_case_with_its_outcome() -> None:
    root = parsed(to_junit(results()))
    outcomes = [[child.tag for child in case] for case in root.iter("testcase")]
    assert outcomes == [[], ["failure"], ["failure"], ["error"], ["skipped"]]
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "errors": "1",
        "skipped": "1",
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
    assert [case.get("name") for case in root[0]] == ["case 1 (repeat 1)", "case 1 (repeat 2)"]


def test_times_are_in_seconds() -> None:
    root = parsed(to_junit(results(run(1), run(2))))
    assert [case.get("time") for case in root.iter("testcase")] == ["1.500", "1.500"]
    assert root.get("time") == "3.000"
