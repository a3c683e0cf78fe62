"""Lint of descriptions, names and annotations."""

import pytest

from mcp_tef.model.json import Json
from mcp_tef.model.quality import Severity
from tests.support.scoring_factories import GOOD, found, make, rules_broken, taking


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
