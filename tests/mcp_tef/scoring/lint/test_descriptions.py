"""Lint of descriptions: there, long enough, telling, and no longer than needed."""

import pytest

from mcp_tef.model.quality import Severity
from tests.support.lint_factories import GOOD, found, make, rules_broken, taking


def test_a_good_tool_has_nothing_said_of_it() -> None:
    assert rules_broken(make()) == []


@pytest.mark.parametrize("description", ["", "  \n\t "])
def test_a_missing_description_is_one_error_and_not_several(description: str) -> None:
    (finding,) = found(make(description=description), "description-missing")
    assert finding.rule.severity is Severity.ERROR
    assert finding.place == "description"
    assert rules_broken(make(description=description)) == ["description-missing"]


@pytest.mark.parametrize("description", ["Find cheap flights", "搜索航班"])
def test_two_or_three_words_are_too_short(description: str) -> None:
    (finding,) = found(make(description=description), "description-too-short")
    assert finding.excerpt == description
    assert "only 2 words" in finding.sentence or "only 3 words" in finding.sentence


@pytest.mark.parametrize("description", ["Find flights to anywhere", "按照日期和目的地搜索航班"])
def test_four_words_are_enough_in_any_script(description: str) -> None:
    assert not found(make(description=description), "description-too-short")


def test_a_description_over_1024_characters_is_too_long() -> None:
    assert not found(make(description=GOOD + "x" * (1024 - len(GOOD))), "description-too-long")
    (finding,) = found(make(description=GOOD + "x" * (1025 - len(GOOD))), "description-too-long")
    assert "1,025 characters" in finding.sentence


@pytest.mark.parametrize("description", ["Find the flights.", "find flights", "Finds a flight"])
def test_the_name_once_more_is_no_description(description: str) -> None:
    assert found(make(description=description), "description-repeats-name")
    assert not found(make(description=description), "description-too-short")


@pytest.mark.parametrize(
    "description",
    ["Flight prices for all airports", "The status of an order in the shop", "Weather information for a city"],
)
def test_a_description_without_a_verb_of_action_does_not_say_what_the_tool_does(description: str) -> None:
    assert found(make(description=description), "description-no-verb")


@pytest.mark.parametrize(
    "description",
    [
        "Order a pizza from a shop",
        "Returns flight prices for all airports",
        "Partially update a row of the table",
        "A tool for resizing images by half",
        "Reprocess the commits of a deployment",
        "Use this to look up an address",
        "Flugpreise aller Flughäfen für einen Tag und eine Strecke",
        "指定した都市の天気",
    ],
)
def test_verbs_count_wherever_they_stand_and_only_english_is_judged(description: str) -> None:
    assert not found(make(description=description), "description-no-verb")


@pytest.mark.parametrize(
    ("description", "word"),
    [
        ("Manages calendars of the team", "“manages”"),
        ("This tool handles invoices of customers", "“handles”"),
        ("Find flights, hotels and more", "“and more”"),
        ("Convert files with various settings", "“various”"),
        ("Find stuff in the shop", "“stuff”"),
        ("Get the data", "which data"),
    ],
)
def test_vague_words_are_named(description: str, word: str) -> None:
    (finding,) = found(make(description=description), "description-vague")
    assert word in finding.sentence


@pytest.mark.parametrize(
    "description",
    [
        "Convert files of various kinds, such as PDF and PNG",
        "Manage the calendars of a team: add, move and delete events of its members",
        "Kill a process by its number",
        "Create a task in a list",
        f"{GOOD} {'It takes a while. ' * 10} Ask for help and so on.",
    ],
)
def test_the_same_words_are_fine_where_they_say_something(description: str) -> None:
    assert not found(make(description=description), "description-vague")


def test_a_description_does_not_depend_on_its_parameters() -> None:
    assert rules_broken(taking({})) == []


def test_a_description_up_to_the_limit_is_a_note_and_beyond_it_an_error() -> None:
    assert rules_broken(make(description=f"{GOOD} ".ljust(4_096, "x")))[0] != "description-over-limit"
    assert found(make(description=f"{GOOD} ".ljust(4_096, "x")), "description-too-long")
    (finding,) = found(make(description=f"{GOOD} ".ljust(4_097, "x")), "description-over-limit")
    assert "4,097 characters, more than 4,096" in finding.sentence


@pytest.mark.parametrize(("text", "broken"), [("TODO: describe", True), ("none", False), ("Lorem ipsum dolor", True)])
def test_placeholders_of_parameters_are_found_where_they_cannot_be_meant(text: str, broken: bool) -> None:
    tool = taking({"origin": {"type": "string", "description": text}})
    assert [one.place for one in found(tool, "description-placeholder")] == ["parameter origin"] * broken
