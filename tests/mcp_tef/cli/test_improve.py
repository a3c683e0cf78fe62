"""`improve`: offline, a stand-in model as target and writer, the files, and the exit codes."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command_line import say
from tests.support.model_replies import Received, Reply, broken, unauthorized, words
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import case, case_file, written_tools

TOOLS = {"forecast": "Does things.", "departures": "Return departures of trains between two stations."}
CLEAR = "Return rain, wind and temperature of a town; for trains, use departures."
PLACES = [f"{one}{two}" for one in ("North", "South", "East", "West") for two in ("ham", "ford", "by")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a workspace about two tools."""
    monkeypatch.chdir(tmp_path)
    queries = {f"Is there rain or wind in {place}?": "forecast" for place in PLACES}
    queries |= {f"departures of trains to the station {place}": "departures" for place in PLACES[:8]}
    case_file(tmp_path, [case(query, [{"tool": tool}]) for query, tool in queries.items()])
    assert say("servers", "add", "city", "--tools-file", written_tools(tmp_path, TOOLS)).code == 0
    assert say("servers", "check", "city").code == 0
    assert say("cases", "import", "cases.json", "--attach", "city").code == 0
    return tmp_path


def writer_and_target(request: Received) -> Reply:
    """Writes one good text, and chooses tools by their words."""
    if not request.tools:
        return words(json.dumps({"candidates": [{"descriptions": {"forecast": CLEAR}}]}))
    return WordSensitiveModel(1, noise=0.1)(request)


def test_a_better_text_is_found_offline_and_its_patch_is_tried_with_the_same_verdict(folder: Path) -> None:
    found = say("improve", "--server", "city", "--budget", "900", "--json", "--strict", "--out", "better.json")
    assert "sealed cases can show" in found.err
    assert "At most 900 calls" in found.err
    document = found.document
    assert (found.code, document["result"], document["on_these_cases"]) == (4, "promising", "better")
    assert document["guards"] == {"n": 0, "broken": []}
    assert document["working"]["on_these_cases"] == "better"
    assert len(document["runs"]) == 2 * len(document["cases"]["sealed"])
    (first, *_) = document["rounds"]
    assert {"texts", "score", "refused"} <= set(first["candidates"][0])
    assert document["patch"][0]["op"] == "test"
    assert document["calls"] <= document["budget"] == 900
    patch = json.loads((folder / "better.json").read_text("utf-8"))
    assert [one["path"] for one in patch] == ["/tools/0/name", "/tools/0/description"]
    tried = say("try", "--patch", "better.json", "--server", "city", "--json").document
    assert tried["on_these_cases"] == "better"
    assert [one["name"] for one in say("draft", "list", "--json").document["drafts"]] == ["Better text for city"]


def test_a_writer_and_a_target_over_http_are_asked_within_the_budget() -> None:
    with ModelStub(writer_and_target) as stub:
        options = ("--model", "openai/x", "--writer", "openai/w", "--base-url", stub.url, "--repeats", "1")
        found = say("improve", "--server", "city", "--budget", "240", *options, "--yes", "--json", "--price", "1,1")
        asked = len(stub.requests)
    assert found.code in (0, 1), found.err
    document = found.document
    assert document["calls"] == asked <= 240
    assert document["writer"] == "openai/w"
    assert document["cost_usd"] > 0
    assert any(one["author"] == "openai/w" for one in document["rounds"][0]["candidates"])


def test_cases_whose_tool_is_not_offered_are_named_and_no_text_is_tried_for_them(tmp_path: Path) -> None:
    both = [{"tool": "forecast"}, {"tool": "sea_weather"}]
    case_file(tmp_path, [case(f"Rain in {place} and at sea?", both, suite="Sea") for place in PLACES])
    assert say("cases", "import", "cases.json", "--attach", "city").code == 0
    found = say("improve", "--server", "city", "--suite", "Sea", "--budget", "300", "--json")
    assert found.document["result"] == "words_cannot_help", found.err
    assert "Check the model" not in found.out
    assert "`sea_weather` is not offered" in found.document["hopeless"][0]["reason"]


def test_a_cost_cap_is_kept_and_told() -> None:
    with ModelStub(writer_and_target) as stub:
        options = ("--model", "openai/x", "--base-url", stub.url, "--yes", "--price", "1,1", "--max-tokens", "50")
        found = say("improve", "--server", "city", "--budget", "400", *options, "--max-cost", "0.004", "--json")
    assert (found.code, found.document["result"]) == (0, "budget"), found.err
    assert found.document["cost_usd"] <= 0.004


@pytest.mark.parametrize("failure", [unauthorized, lambda _: broken()], ids=["key", "server"])
def test_a_model_that_fails_half_way_is_an_exit_code_of_its_own_and_its_runs_are_kept(
    failure: Callable[[Received], Reply],
) -> None:
    number = itertools.count()
    with ModelStub(lambda request: failure(request) if next(number) > 9 else writer_and_target(request)) as stub:
        options = ("--model", "openai/x", "--base-url", stub.url, "--retries", "0", "--yes")
        found = say("improve", "--server", "city", "--budget", "400", *options, "--json")
    assert (found.code, found.document["result"], found.document["draft"]) == (3, "unreachable", None)
    assert "failed" in found.document["sentences"][1]
    assert len([one for one in say("runs", "list", "--json").document["runs"] if one["mark"]]) == 10
    assert say("draft", "list", "--json").document["drafts"] == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--budget", "0"), "too small"),
        (("--budget", "900", "--suite", "nobody"), "No test case"),
        (("--budget", "900", "--tool", "forecasts"), "forecast"),
        (("--budget", "900", "--model", "a/b", "--model", "c/d"), "one model"),
        (("--budget", "900", "--writer", "offline/words"), "cannot write"),
        (("--budget", "900", "--guards", "-1"), "0 or more"),
        ((), "--budget"),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments: tuple[str, ...], reason: str) -> None:
    found = say("improve", "--server", "city", *arguments, "--json")
    assert found.code == 2
    assert reason in found.error["message"] + found.error["hint"]


@pytest.mark.parametrize("of_writer", [True, False])
def test_a_key_of_the_writer_never_reaches_the_address_of_the_target_nor_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch, of_writer: bool
) -> None:
    with ModelStub(writer_and_target) as own, ModelStub(writer_and_target) as other:
        monkeypatch.setenv("OPENAI_BASE_URL", own.url)
        assert say("models", "groups", "add", "far", "--deployment", f"openai/x,url={other.url}").code == 0
        name = "openai" if of_writer else f"openai@{other.url}"
        pair = ("--model", "group/far", "--writer", "openai/w")
        options = (*pair, "--repeats", "1", "--key-stdin", "--yes", "--json", "--price", "1,1")
        lines = f"{name}=key-of-one\n" + ("" if of_writer else f"openai@{own.url}=key-of-own\n")
        found = say("improve", "--server", "city", "--budget", "240", *options, stdin=lines)
    assert found.code in (0, 1), found.err
    mine, its = (own, other) if of_writer else (other, own)
    assert {request.key for request in mine.requests} == {"key-of-one"}
    assert "key-of-one" not in {request.key for request in its.requests}
