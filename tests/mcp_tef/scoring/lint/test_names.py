"""Lint of names: the protocol's rules, the providers', and whether they tell anything."""

import pytest

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
