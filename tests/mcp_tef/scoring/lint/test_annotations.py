"""Lint of annotations: hints that contradict the name, each other, or their type."""

import pytest

from mcp_tef.model.json import Json
from tests.support.lint_factories import found, make, rules_broken


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
    assert rules_broken(make("delete_file", annotations={"readOnlyHint": value})) == ["annotation-not-boolean"]
