"""Lint of names and annotations: the protocol's and the providers' rules, meaning, contradictions."""

import pytest

from mcp_tef.model.json import Json
from tests.support.lint_factories import found, make, rules_broken


@pytest.mark.parametrize("name", ["a", "find.flights", "Find-Flights_2", "x" * 128])
def test_names_within_the_protocol_are_not_against_it(name: str) -> None:
    assert not found(make(name=name), "name-protocol")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("find flights", "a space"),
        ("find/flights", "“/”"),
        ("flüge", "“ü”"),
        ("x" * 129, "129 characters"),
        ("", "0 ch"),
    ],
)
def test_names_outside_the_protocol_say_what_is_wrong(name: str, word: str) -> None:
    (finding,) = found(make(name=name), "name-protocol")
    assert word in finding.sentence
    assert finding.place == "name"


@pytest.mark.parametrize("name", ["find.flights", "x" * 65])
def test_names_that_only_providers_refuse_are_a_note(name: str) -> None:
    assert found(make(name=name), "name-provider")


@pytest.mark.parametrize("name", ["x" * 64, "find-flights", "find flights"])
def test_providers_are_named_only_where_the_protocol_has_nothing_to_say(name: str) -> None:
    assert not found(make(name=name), "name-provider")


@pytest.mark.parametrize("name", ["tool1", "do_it", "run", "myFunction", "handler_2", "test-tool", "x"])
def test_names_that_tell_nothing_are_found(name: str) -> None:
    assert found(make(name=name), "name-not-telling")


@pytest.mark.parametrize("name", ["run_query", "think", "wolfram", "process_invoice", "搜索", ""])
def test_names_that_tell_something_are_not(name: str) -> None:
    assert not found(make(name=name), "name-not-telling")


def test_a_name_twice_on_one_server_is_an_error_and_on_two_is_none() -> None:
    again, elsewhere = make(description="Look for flights of one airline."), make(server="bikes")
    (finding,) = found(make(), "name-duplicated", beside=[again, elsewhere])
    assert "2 tools" in finding.sentence
    assert not found(make(), "name-duplicated", beside=[elsewhere])


def test_a_name_with_hidden_characters_is_shown_with_escapes() -> None:
    (finding,) = found(make(name="find\u200b"), "name-protocol")
    assert "\\u200b" in finding.sentence
    assert "\u200b" not in finding.sentence + finding.excerpt
    assert "hidden-characters" in rules_broken(make(name="find\u200b"))


@pytest.mark.parametrize(
    ("name", "hints", "hint"),
    [
        ("delete_file", {"readOnlyHint": True}, "readOnlyHint"),
        ("file_delete", {"readOnlyHint": True}, "readOnlyHint"),
        ("createIssue", {"readOnlyHint": True}, "readOnlyHint"),
        ("remove-user", {"destructiveHint": False}, "destructiveHint"),
        ("get_weather", {"destructiveHint": True}, "destructiveHint"),
        ("list_deleted_files", {"destructiveHint": True, "readOnlyHint": False}, "destructiveHint"),
    ],
)
def test_a_hint_that_the_name_contradicts_is_an_error(name: str, hints: dict[str, Json], hint: str) -> None:
    (finding,) = found(make(name, annotations=hints), "annotation-contradicts-name")
    assert finding.place == f"annotations: {hint}"


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        ("delete_file", {"destructiveHint": True, "readOnlyHint": False}),
        ("get_weather", {"readOnlyHint": True}),
        ("list_deleted_files", {"readOnlyHint": True}),
        ("create_issue", {"destructiveHint": False}),
        ("weather", {"readOnlyHint": True}),
        ("delete_file", {}),
        ("delete_file", None),
        ("delete_file", ["readOnlyHint"]),
    ],
)
def test_hints_that_fit_the_name_are_fine(name: str, hints: Json) -> None:
    broken = rules_broken(make(name, annotations=hints))
    assert [rule for rule in broken if rule.startswith("annotation")] == []


def test_read_only_and_destructive_contradict_each_other() -> None:
    tool = make("weather", annotations={"readOnlyHint": True, "destructiveHint": True})
    assert rules_broken(tool) == ["annotation-contradicts-itself"]


@pytest.mark.parametrize("value", ["true", 1, []])
def test_a_hint_of_another_type_is_no_hint(value: Json) -> None:
    assert rules_broken(
        make("delete_file", "Delete one file of the workspace.", annotations={"readOnlyHint": value})
    ) == ["annotation-not-boolean"]
