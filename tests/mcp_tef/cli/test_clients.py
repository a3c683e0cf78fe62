"""`clients …` and `run --client`: what clients do to tools is told, asked and recorded."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcp_tef.model.comparison import Claim, ClaimVerdict, ClientResult, PassCriterion
from tests.support.command_line import Said, say
from tests.support.workspace_files import case, case_file, tools_file, written

NARROW = {
    "name": "narrow",
    "title": "Narrow",
    "version": 1,
    "checked": "2026-11-26",
    "names": {"pattern": "mcp__{server}__{tool}", "allowed": "A-Za-z0-9_"},
    "search": {"method": "bm25", "results": 1, "reads": ["name", "description"]},
}
ASKED = [
    case("weather report for Oslo", [{"tool": "weather_report"}]),
    case("shall I take an umbrella", [{"tool": "weather_report"}]),
]


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A workspace with a server of two tools, two cases, and a client profile of the user's own."""
    workspace, profile = tmp_path / "work.db", tmp_path / "narrow.yaml"
    profile.write_text(yaml.safe_dump(NARROW), "utf-8")
    for words in (
        ("servers", "add", "city", "--tools-file", tools_file(tmp_path)),
        ("cases", "import", case_file(tmp_path, ASKED)),
        ("clients", "add", profile),
    ):
        assert say(*words, "--workspace", workspace).code == 0
    return workspace


def on(workspace: Path, *words: str | Path) -> Said:
    return say(*words, "--workspace", workspace)


def test_the_profiles_are_listed_with_those_of_the_user(city: Path) -> None:
    listed = [one["name"] for one in on(city, "clients", "list", "--json").document["clients"]]
    assert listed[0] == "plain-api"
    assert {"claude-code", "vscode", "cursor", "codex-cli", "gemini-cli", "cline", "goose", "zed"} <= set(listed)
    assert listed[-1] == "narrow"


def test_a_profile_is_shown_with_the_source_of_every_figure(city: Path) -> None:
    shown = on(city, "clients", "show", "claude-code", "--json").document
    facts = {fact["of"]: fact for fact in shown["facts"]}
    assert (shown["texts"]["description"], facts["texts.description"]["date"]) == (2048, "2026-08-18")
    told = on(city, "clients", "show", "claude-code").out
    assert "2,048" in told
    assert "CHANGELOG" in told


def test_a_tool_that_the_search_of_a_client_does_not_find_is_told_before_any_model_is_asked(city: Path) -> None:
    said = on(city, "clients", "check", "--client", "narrow", "--client", "plain-api", "--json")
    narrow, plain = said.document["clients"]
    assert said.code == 1
    assert (narrow["found"], narrow["cases"], plain["found"]) == (1, 2, 2)
    (missed,) = narrow["missed"]
    assert missed["case"] == "shall I take an umbrella"
    assert "Narrow" in missed["reason"]
    assert on(city, "clients", "check", "--client", "plain-api").code == 0


def test_texts_that_a_client_cuts_are_quoted(city: Path, tmp_path: Path) -> None:
    long = {"name": "pay", "description": "x" * 2048 + "Never twice.", "inputSchema": {"type": "object"}}
    file = written(tmp_path / "long.json", {"tools": [long]})
    said = on(city, "clients", "check", "--client", "claude-code", "--tools-file", file)
    assert (said.code, "Never twice." in said.out) == (0, True)


def test_a_run_shows_the_model_what_the_client_shows_and_records_it(city: Path) -> None:
    said = on(city, "run", "--client", "narrow", "--client", "plain-api", "--json")
    runs = {(one["case"], one["model"].partition(" via ")[2]): one for one in said.document["runs"]}
    lost = next(one for (_, client), one in runs.items() if client == "narrow@1" and one["status"] == "failed")
    assert (said.code, lost["error"]["code"], "Narrow" in lost["error"]["message"]) == (
        1,
        "expected_tool_not_offered",
        True,
    )
    found = next(one for (_, client), one in runs.items() if client == "narrow@1" and one["status"] == "completed")
    detail: Any = on(city, "runs", "show", found["id"], "--json").document
    assert detail["settings"]["client"] == "narrow@1"
    assert detail["tools"] == ["mcp__city__weather_report"]
    assert (found["selected"], found["mark"] is not None) == ("city / weather_report", True)
    plain = next(one for (_, client), one in runs.items() if client == "plain-api@1")
    assert len(on(city, "runs", "show", plain["id"], "--json").document["tools"]) > 1


def test_clients_are_told_apart_in_the_figures_and_compared_with_the_plain_api(city: Path) -> None:
    said = on(city, "run", "--client", "narrow", "--client", "plain-api", "--repeats", "2", "--json")
    narrow, plain = said.document["clients"]
    assert (narrow["client"], narrow["not_shown"], narrow["runs"], plain["not_shown"]) == ("narrow@1", 2, 4, 0)
    assert narrow["correct_tool"] == 2
    assert narrow["against_plain_api"]["sentence"]
    assert plain["against_plain_api"] is None
    metrics = on(city, "metrics", "--json").document
    assert {one["name"] for one in metrics["by_model"]} == {
        "offline/words via narrow@1",
        "offline/words via plain-api@1",
    }
    text = on(city, "runs", "list").out
    assert "narrow@1" in text


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("clients", "show", "codexcli"), "codex-cli"),
        (("run", "--client", "claude"), "claude-code"),
        (("clients", "check", "--client", "zedd"), "zed"),
    ],
)
def test_an_unknown_client_is_bad_usage_and_the_nearest_is_named(city: Path, words: tuple[str, ...], hint: str) -> None:
    said = on(city, *words)
    assert (said.code, hint in said.err, said.out) == (2, True, "")


def test_a_profile_that_is_wrong_is_not_kept(city: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(json.dumps({**NARROW, "name": "../wrong"}), "utf-8")
    assert on(city, "clients", "add", file).code == 2
    file.write_text(json.dumps({**NARROW, "name": "wrong", "serch": {}}), "utf-8")
    said = on(city, "clients", "add", file)
    assert (said.code, "search" in said.err) == (2, True)
    assert "wrong" not in {one["name"] for one in on(city, "clients", "list", "--json").document["clients"]}


def test_a_batch_of_a_profile_that_changed_since_is_not_continued_with_another(city: Path, tmp_path: Path) -> None:
    batch = on(city, "run", "--client", "narrow", "--json").document["batch"]
    newer = tmp_path / "narrow.yaml"
    newer.write_text(yaml.safe_dump({**NARROW, "version": 2}), "utf-8")
    assert on(city, "clients", "add", newer, "--replace").code == 0
    again = on(city, "runs", "retry", batch, "--json").document
    failed = [one for one in again["runs"] if one["status"] == "failed"]
    assert failed
    assert all("version 2" in one["error"]["message"] for one in failed)


@pytest.mark.parametrize(
    ("verdict", "interval", "works"),
    [
        (ClaimVerdict.CANNOT_TELL_YET, (-0.04, 0.2), True),
        (ClaimVerdict.CANNOT_TELL_YET, (-0.1, 0.2), None),
        (ClaimVerdict.WORSE, (-0.3, -0.1), False),
        (ClaimVerdict.WORSE, (-0.03, -0.01), True),
    ],
)
def test_a_client_works_where_it_is_not_worse_beyond_the_margin(
    verdict: ClaimVerdict, interval: tuple[float, float], works: bool | None
) -> None:
    claim = Claim(verdict, "", 0.01, interval)
    criterion = PassCriterion.CORRECT_TOOL
    found = ClientResult(client="c@1", model="m", runs=9, right=9, not_shown=0, criterion=criterion, claim=claim)
    assert found.works is works
