"""`prompts …`, `run --prompt`, `metrics --prompt` and the trial of two versions, against a stand-in model over HTTP."""

from pathlib import Path

import pytest

from tests.support.command_line import Said, say
from tests.support.model_replies import Received, Reply, pick, words
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

QUERIES = {f"Weather report for city {number}": "weather_report" for number in range(9)}
EASY, HARD = "Read every description. Today is {{date}}. Be {{tone}}.", "Never call a tool. Be {{tone}}."


@pytest.fixture(autouse=True)
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a server, nine cases, and a prompt in two versions, the second better."""
    monkeypatch.chdir(tmp_path)
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    assert say("servers", "check", "city").code == 0
    cases = [case(query, [{"tool": tool}]) for query, tool in QUERIES.items()]
    assert say("cases", "import", case_file(tmp_path, cases)).code == 0
    for verb, text in (("add", HARD), ("edit", EASY)):
        Path("text.txt").write_text(text, "utf-8")
        assert say("prompts", verb, "counter", "--file", "text.txt", "--var", "tone=short").code == 0
    return tmp_path


def obedient(request: Received) -> Reply:
    """Call no tool where the instructions forbid it."""
    return words("No tool fits.\nConfidence: 0.8") if "Never call" in request.system else pick(request)


def asked(*line: str) -> tuple[Said, list[Received]]:
    """The command with a stand-in model, and what that was sent."""
    with ModelStub(obedient) as stub:
        said = say(*line, "--model", "openai/x", "--base-url", stub.url, "--json")
    return said, stub.requests


def test_a_run_is_asked_with_a_version_and_records_text_version_and_variables() -> None:
    said, sent = asked("run", "--prompt", "counter@2", "--var", "tone=warm", "--prompt", "counter@1")
    systems = {request.system for request in sent}
    easy = next(text for text in systems if text.startswith("Read every description. Today is 2"))
    assert "Be warm." in easy
    assert "Confidence: X" in easy
    batch = said.document["batch"]
    runs = say("runs", "list", "--batch", batch, "--json").document["runs"]
    assert {run["model"] for run in runs} == {"openai/x with counter@1", "openai/x with counter@2"}
    newer = next(run for run in runs if run["model"].endswith("@2"))
    detail = say("runs", "show", newer["id"], "--json").document
    assert detail["prompt"] == "counter@2"
    settings = detail["settings"]
    assert (settings["prompt"], settings["variables"], settings["system_prompt"]) == (
        "counter@2",
        {"tone": "warm"},
        EASY,
    )
    shares = [say("metrics", "--prompt", f"counter@{n}", "--json").document["correct_call"]["value"] for n in (1, 2)]
    assert shares[0] == 0.0
    assert shares[1] > 0.8
    assert say("metrics", "--prompt", "counter@7").code == 2
    assert say("prompts", "remove", "counter").code == 0
    again = say("runs", "show", newer["id"], "--json").document
    assert again["settings"]["system_prompt"] == EASY


def test_two_versions_are_compared_by_a_trial_that_can_go_on() -> None:
    said, sent = asked("prompts", "try", "counter", "--repeats", "2", "--retries", "0")
    found = said.document
    assert (said.code, found["draft"], found["on_these_cases"]) == (0, "counter@2 against counter@1", "better")
    assert found["rates"]["original"]["value"] == 0.0
    assert {run["model"] for run in found["runs"]} == {"openai/x with counter@1", "openai/x with counter@2"}
    assert len(sent) == found["calls"]
    worse, _ = asked("prompts", "try", "counter@1", "--against", "built-in")
    assert (worse.code, worse.document["on_these_cases"]) == (1, "worse")
    with ModelStub(obedient) as stub:
        refused = say(
            "prompts", "try", "counter@2", "--against", "counter@2", "--model", "openai/x", "--base-url", stub.url
        )
    assert (refused.code, "Name another version" in refused.err) == (2, True)


def test_a_json_prompt_is_the_whole_system_message_and_lists_the_tools() -> None:
    Path("text.txt").write_text("Choose. Answer with JSON calls.\n{{tools}}", "utf-8")
    assert say("prompts", "add", "lines", "--kind", "json", "--file", "text.txt", "--for-model", "openai/y").code == 0
    said, sent = asked("run", "--prompt", "lines")
    assert sent[0].system.startswith("Choose. Answer with JSON calls.\n{")
    assert "Confidence" not in sent[0].system
    assert said.document["runs"][0]["classification"] == "TP"
    assert "meant for openai/y" in said.err


def test_versions_are_listed_shown_copied_and_told_apart() -> None:
    listed = [one["name"] for one in say("prompts", "list", "--json").document["prompts"]]
    assert listed == ["counter", "built-in", "built-in-json", "built-in-review", "built-in-rewriting"]
    shown = say("prompts", "show", "counter", "--json").document
    assert (shown["version"], shown["versions"], shown["text"]) == (2, [2, 1], EASY)
    changes = say("prompts", "diff", "counter@1", "counter", "--json").document["changes"]
    assert {"removed": "Never call a tool.", "added": "Read every description. Today is {{date}}."} in changes
    copied = say("prompts", "add", "mine", "--from", "built-in", "--note", "A copy.", "--json").document
    assert (copied["version"], copied["text"][:10], copied["note"]) == (1, "You choose", "A copy.")
    assert say("prompts", "edit", "mine", "--note", "Nothing else.").code == 2


BAD = {
    "an unknown prompt": ("run --prompt countr --model openai/x", "Did you mean counter?"),
    "an unknown version": ("run --prompt counter@9 --model openai/x", "The latest is counter@2."),
    "a misspelt variable": ("run --prompt counter --var tne=x --model openai/x", "Did you mean tone?"),
    "an empty variable": ("run --prompt counter --var tone= --model openai/x", "Add --var tone=VALUE."),
    "no equals sign": ("run --prompt counter --var tone", "NAME=VALUE"),
    "a variable without a prompt": ("run --var tone=x", "Add --prompt NAME."),
    "a review for a run": ("run --prompt built-in-review --model openai/x", "not for selecting tools"),
    "two instructions": ("run --prompt counter --system-prompt x --model openai/x", "Leave one of them out"),
    "a baseline in a trial": ("prompts try counter --model offline/words", "baseline reads no prompt"),
    "a built-in one is changed": ("prompts edit built-in --file text.txt", "never changed"),
    "a built-in one is removed": ("prompts remove built-in", "never changed"),
    "a taken name": ("prompts add Counter --file text.txt", "There is a prompt named"),
    "no text": ("prompts add other", "Add --file F"),
    "a file that is not there": ("prompts add other --file none.txt", "cannot be read"),
    "a misspelt variable in the text": ("prompts add other --file bad.txt", "Did you mean date?"),
}


def test_mistakes_are_one_sentence_and_keep_nothing() -> None:
    Path("bad.txt").write_text("On {{dat}}.", "utf-8")
    for mistake, (line, said) in BAD.items():
        answer = say(*line.split())
        assert (answer.code, answer.out) == (2, ""), (mistake, answer)
        assert said in answer.err, mistake
    assert len(say("prompts", "list", "--json").document["prompts"]) == 5
