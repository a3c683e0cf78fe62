"""Evidence: a verdict file is recomputed offline, no change passes, and trials and runs are repeated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.api import evidence
from tests.support.command_line import Said, say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import case, case_file, tools_file, written

PATCH = [{"op": "replace", "path": "/tools/0/description", "value": "Rain, sun and wind of a town today."}]
QUERIES = ("Rain in Rome?", "Is it sunny in Oslo?", "Wind of a town", "Sun today?", "weather report of Bergen")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with tools, cases of families, and a patch."""
    tools_file(tmp_path)
    cases = [case(query, [{"tool": "weather_report"}]) | {"family": f"f{n % 2}"} for n, query in enumerate(QUERIES)]
    case_file(tmp_path, cases)
    written(tmp_path / "patch.json", PATCH)
    return tmp_path


def ran(files: Path, *options: Any) -> Said:
    """Run the cases, and write the verdict file."""
    named = ("--tools-file", files / "tools.json", "--cases", files / "cases.json", "--verdict", files / "v.json")
    return say("run", *named, "--json", *options)


def changed(file: Path, change: Callable[[Any], object]) -> Path:
    """The verdict file with a change."""
    document = json.loads(file.read_text("utf-8"))
    change(document)
    return written(file.with_name("changed.json"), document)


def test_a_run_is_recomputed_and_its_numbers_are_those_of_the_metrics(files: Path) -> None:
    said = ran(files)
    said_again = say("verify", files / "v.json", "--json")
    assert (said_again.code, said_again.document["holds"]) == (0, True)
    document = json.loads((files / "v.json").read_text("utf-8"))
    metrics = said.document["metrics"]
    for name in ("correct_call", "correct_tool"):
        assert document["verdict"][name] | {} == {key: metrics[name][key] for key in document["verdict"][name]}


CHANGES: dict[str, Callable[[Any], object]] = {
    "number": lambda it: it["verdict"]["correct_tool"].update(value=1.0, successes=5),
    "interval": lambda it: it["verdict"]["correct_tool"].update(low=0.9),
    "answer": lambda it: it["runs"][0].update(calls=[{"tool": "train_times", "server": "server", "arguments": {}}]),
    "mark": lambda it: it["runs"][0].update(mark="wrong"),
    "expectation": lambda it: it["runs"][0].update(expected=[]),
    "tool": lambda it: next(iter(it["tools"].values())).update(description="Better."),
    "case": lambda it: next(iter(it["cases"].values())).update(query="Another?"),
    "a run left out": lambda it: it["runs"].pop(),
}


def test_no_change_passes(files: Path) -> None:
    ran(files)
    for name, change in CHANGES.items():
        said = say("verify", changed(files / "v.json", change), "--json")
        assert (said.code, said.document["holds"]) == (1, False), name
        assert [one for one in said.document["checks"] if one["problem"]], name


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"kind": "mcp-tef verdict", "format": 1}'])
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "v.json"
    file.write_text(text, "utf-8")
    said = say("verify", file)
    assert said.code == 2
    assert said.err.count("\n") == 1


def test_a_trial_with_a_model_is_recomputed_and_repeated_and_holds_no_key(files: Path) -> None:
    key = "sk-a-key-that-is-in-no-file"
    named = ("--tools-file", files / "tools.json", "--cases", files / "cases.json", "--patch", files / "patch.json")
    with ModelStub(WordSensitiveModel(3, noise=0.01)) as stub:
        at = ("--base-url", stub.url)
        said = say(
            "try", *named, "--model", "openai/gpt-x", *at, "--verdict", files / "t.json", "--key-stdin", "--json",
            stdin=f"{key}\n",
        )  # fmt: skip
        verified = say("verify", files / "t.json", "--json")
        assert verified.code == 0, verified.out
        repeated = say("verify", files / "t.json", "--ask", *at, "--json")
        assert repeated.document["repeated"]["same"] is True, repeated.out + repeated.err
    text = (files / "t.json").read_text("utf-8")
    assert key not in text
    verdict = json.loads(text)["verdict"]
    assert {name: said.document[name] for name in verdict} == verdict
    assert verdict["pairs"] > 0
    moved = changed(files / "t.json", lambda it: it["plan"].update(seed=9))
    assert say("verify", moved).code == 1


def test_a_run_is_asked_again_and_surely_other_answers_are_named(files: Path) -> None:
    right, wrong = tool_calls(("weather_report", {"city": "Rome"})), tool_calls(("train_times", {}))
    answers = [right]
    with ModelStub(lambda _: answers[0]) as stub:
        at = ("--base-url", stub.url)
        ran(files, "--model", "openai/gpt-x", *at, "--repeats", "3")
        again = say("verify", files / "v.json", "--ask", *at, "--json")
        assert (again.code, again.document["repeated"]["same"]) == (0, True), again.err
        asked = len(stub.requests)
        assert asked == 2 * 3 * len(QUERIES)
        answers[0] = wrong
        other = say("verify", files / "v.json", "--ask", *at, "--json")
        assert (other.code, other.document["repeated"]["same"]) == (1, False)
        assert other.document["repeated"]["sentences"][0].startswith("Worse on these cases")
        asked = len(stub.requests)
        assert say("verify", files / "v.json", "--ask").code not in (0, 1)
        assert len(stub.requests) == asked, "an address of the file gets no call"


def test_invented_answers_are_consistent_and_get_no_badge(files: Path) -> None:
    ran(files)

    def invented(document: Any) -> None:
        for run in document["runs"]:
            run.update(calls=run["expected"][0] if run["expected"] and run["expected"][0] else [], mark=None)
        marks = [run.mark and run.mark.value for run in evidence._judged(document)]
        for run, mark in zip(document["runs"], marks, strict=True):
            run["mark"] = mark
        document["hashes"] = evidence._hashes(document)
        document["verdict"] = evidence.evidence_numbers(document)

    file = changed(files / "v.json", invented)
    said = say("verify", file)
    assert said.code == 0
    assert said.out.strip().endswith("checks agree. Consistent, not proven: --ask asks the model again.")
    badge = say("verify", file, "--badge", files / "b.json")
    assert (badge.code, (files / "b.json").exists()) == (2, False)
    assert "A badge comes only from answers that were asked for again. Add --ask." in badge.err


def test_a_badge_shows_what_is_answered_again_and_expires_with_the_tools(files: Path) -> None:
    today = ("--tools-file", files / "tools.json", "--cases", files / "cases.json", "--badge", files / "b.json")
    answers = [tool_calls(("weather_report", {"city": "Rome"}))]
    with ModelStub(lambda _: answers[0]) as stub:
        at = ("--ask", "--base-url", stub.url)
        ran(files, "--model", "openai/gpt-x", *at[1:], "--repeats", "3")
        assert say("verify", files / "v.json", *today, *at).code == 0
        badge = json.loads((files / "b.json").read_text("utf-8"))
        assert (badge["schemaVersion"], badge["message"][:19]) == (1, "correct call 100 % ")
        answers[0] = tool_calls(("train_times", {}))
        assert say("verify", files / "v.json", *today, *at).code == 1
        assert json.loads((files / "b.json").read_text("utf-8"))["message"] == "not confirmed"
        answers[0] = tool_calls(("weather_report", {"city": "Rome"}))
        tools = json.loads((files / "tools.json").read_text("utf-8"))
        tools["tools"][0]["description"] = "Another."
        written(files / "tools.json", tools)
        assert say("verify", files / "v.json", *today, *at).code == 1
        assert json.loads((files / "b.json").read_text("utf-8"))["message"] == "outdated: tools changed"
