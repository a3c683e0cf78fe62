"""Definitions that come in again: each change is said, what a person edited asks, and no name gets a twin."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.command_line import Said, say

NARROW = {"name": "narrow", "title": "Narrow", "version": 1, "checked": "2026-11-26", "most_tools": 3, "note": "Slow."}
FIRST: dict[str, list[dict[str, Any]]] = {
    "groups": [{"name": "Small", "deployments": [{"model": "openai/gpt-4.1-mini", "rpm": 3}]}],
    "routers": [
        {
            "name": "Auto",
            "default": "offline/words",
            "embedder": "tfidf",
            "threshold": 0.4,
            "routes": [{"name": "group/small", "utterances": ["train times"]}],
        }
    ],
    "searches": [{"name": "Web", "provider": "searxng", "base_url": "http://127.0.0.1:9", "description": "Ours."}],
    "prompts": [{"name": "Counter", "versions": [{"kind": "system", "text": "Be short."}]}],
    "clients": [NARROW],
}
OTHER: dict[str, dict[str, Any]] = {
    "groups": {"deployments": [{"model": "openai/gpt-4.1-mini", "rpm": 9}]},
    "routers": {"threshold": 0.7},
    "searches": {"base_url": "http://127.0.0.1:10"},
    "prompts": {"versions": [{"kind": "system", "text": "Be long."}]},
    "clients": {"most_tools": 5},
}
CLEARED: dict[str, tuple[str, Any]] = {"searches": ("description", None), "clients": ("note", None)}
KINDS = {"groups": "group", "routers": "route", "searches": "search", "prompts": "prompt", "clients": "client profile"}
KEPT = {name: [{"kind": kind, "name": FIRST[name][0]["name"]}] for name, kind in KINDS.items()}


def imported(tmp_path: Path, sections: dict[str, Any], *more: str, at: Path | None = None) -> Said:
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump({"mcp_tef_models": 1, **sections}), "utf-8")
    return say("models", "import", file, "--json", *more, *(("--workspace", at) if at else ()))


def exported(tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "out.yaml"
    assert say("models", "export", file).code == 0
    found: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return found


@pytest.fixture(autouse=True)
def first(tmp_path: Path) -> None:
    said = imported(tmp_path, FIRST)
    assert [one["kind"] for one in said.document["added"]] == [*KINDS.values()], said.err


@pytest.mark.parametrize("section", FIRST)
def test_the_same_changes_nothing_and_a_change_is_said_with_both_values(tmp_path: Path, section: str) -> None:
    before = exported(tmp_path)
    again = imported(tmp_path, {section: FIRST[section]}).document
    assert (again["added"], again["changed"], again["unchanged"]) == ([], [], KEPT[section])
    assert exported(tmp_path) == before
    changed = {"name": f"  {FIRST[section][0]['name'].upper()}" if section != "clients" else "NARROW", **OTHER[section]}
    said = imported(tmp_path, {section: [changed]}, "--replace").document
    (change,) = said["changed"]
    assert {"kind": change["kind"], "name": change["name"]} == KEPT[section][0]
    assert [one["before"] != one["after"] for one in change["changes"]] == [True]
    after = exported(tmp_path)
    assert {name: after[name] for name in KINDS if name != section} == {n: before[n] for n in KINDS if n != section}
    assert len(after[section]) == 1, "no twin"
    if section != "prompts":
        assert after[section][0] == before[section][0] | OTHER[section], "fields that the file does not name stay"


@pytest.mark.parametrize("section", CLEARED)
def test_null_clears_a_field(tmp_path: Path, section: str) -> None:
    field, nothing = CLEARED[section]
    given = {"name": FIRST[section][0]["name"], field: nothing}
    said = imported(tmp_path, {section: [given]}, "--replace").document
    assert [one["field"] for one in said["changed"][0]["changes"]] == [field]
    assert field not in exported(tmp_path)[section][0]


def test_what_a_person_edited_is_changed_with_a_yes_only(tmp_path: Path) -> None:
    changed = {"groups": [{"name": "small", **OTHER["groups"]}]}
    assert imported(tmp_path, changed).code == 0, "nobody edited what the import before brought"
    assert say("models", "groups", "add", "SMALL", "--deployment", "openai/gpt-4.1-nano").code == 0
    before = exported(tmp_path)
    refused = imported(tmp_path, changed)
    assert (refused.code, "--replace" in refused.err, "→" in refused.err) == (2, True, True)
    assert exported(tmp_path) == before
    assert imported(tmp_path, changed, "--replace").code == 0
    assert exported(tmp_path)["groups"][0]["deployments"][0]["rpm"] == 9


def test_a_prompt_goes_on_from_what_is_here_and_asks_where_both_went_on(tmp_path: Path) -> None:
    texts = ("Be short.", "Be kind.", "Be short.")
    whole = [{"name": "Counter", "versions": [{"kind": "system", "text": text} for text in texts]}]
    assert imported(tmp_path, {"prompts": whole}).code == 0
    assert [one["text"] for one in exported(tmp_path)["prompts"][0]["versions"]] == [*texts]
    assert imported(tmp_path, FIRST).document["changed"] == [], "an earlier state changes nothing"
    assert say("prompts", "edit", "counter", "--file", "-", stdin="Be mine.").code == 0
    theirs = [{"name": "counter", "versions": [*whole[0]["versions"], {"kind": "system", "text": "Be theirs."}]}]
    assert imported(tmp_path, {"prompts": theirs}).code == 2
    assert imported(tmp_path, {"prompts": theirs}, "--replace").code == 0
    assert [one["text"] for one in exported(tmp_path)["prompts"][0]["versions"]] == [*texts, "Be mine.", "Be theirs."]


def test_two_of_one_name_in_a_file_are_refused(tmp_path: Path) -> None:
    for section, items in FIRST.items():
        name = items[0]["name"].upper()
        twice = [*items, {**items[0], "name": name if section == "clients" else f" {name} "}]
        said = imported(tmp_path, {section: twice})
        assert (said.code, "twice" in said.err) == (2, True), section
