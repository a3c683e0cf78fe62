"""Runs against a provider: what is sent, what is not, and the model that answered."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.command_line import Said, say
from tests.support.model_replies import Received, Reply, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, tools_file

TALK = [{"role": "user", "content": "I am in Lisbon."}, {"role": "assistant", "content": "Noted."}]
CASES = [
    case("And the weather there?", [{"tool": "weather_report"}]) | {"before": TALK, "family": "weather"},
    case("Rain?", [{"tool": "wether_report"}]),
]


@pytest.fixture(autouse=True)
def book(tmp_path: Path) -> None:
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    assert say("cases", "import", case_file(tmp_path, CASES)).code == 0


def answering(model: str, fingerprint: str) -> Reply:
    """A right call by a model and a fingerprint that the provider names."""
    reply = tool_calls(("weather_report", {"city": "Lisbon"}))
    body = json.loads(reply.body) | {"model": model, "system_fingerprint": fingerprint}
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": 64}
    return replace(reply, body=json.dumps(body))


def ran(model: str, fingerprint: str, *options: str) -> tuple[Said, list[Received]]:
    """One batch that this model answers, and what was sent to it."""
    with ModelStub(lambda _: answering(model, fingerprint)) as stub:
        said = say("run", "--model", "openai/gpt-x", "--base-url", stub.url, "--json", *options)
    return said, stub.requests


def test_earlier_messages_go_ahead_of_the_query_and_a_case_without_its_tool_is_not_sent() -> None:
    said, (request,) = ran("gpt-x-2026-01", "fp_1")
    assert said.code == 1
    sent = [(message["role"], message["content"]) for message in request.body["messages"]]
    assert sent[1:] == [
        ("user", "I am in Lisbon."),
        ("assistant", "Noted."),
        ("user", "And the weather there?"),
    ]
    answered, left_out = said.document["runs"]
    assert (answered["classification"], left_out["error"]["code"]) == ("TP", "expected_tool_not_offered")
    shown = say("runs", "show", answered["id"], "--json").document
    assert (shown["answered_model"], shown["answered_fingerprint"]) == ("gpt-x-2026-01", "fp_1")
    assert (shown["before"], shown["cached_tokens"]) == (TALK, 64)
    stored = say("cases", "show", "And the weather there?", "--json").document
    assert (stored["family"], stored["before"]) == ("weather", TALK)


def test_a_run_through_litellm_sends_and_stores_what_a_direct_one_does() -> None:
    own = ("id", "execution_time_ms")
    direct, through = (ran("gpt-x-2026-01", "fp_1", *options) for options in ((), ("--through", "litellm")))
    assert [request.body for request in direct[1]] == [request.body for request in through[1]]
    rows = [
        [{name: value for name, value in run.items() if name not in own} for run in said.document["runs"]]
        for said, _ in (direct, through)
    ]
    assert rows[0] == rows[1]


def test_another_model_that_answers_is_noted_in_a_comparison() -> None:
    batches = [ran(*named)[0].document["batch"] for named in (("gpt-x-2026-01", "fp_1"), ("gpt-x-2026-03", "fp_2"))]
    notes = say("compare", *batches, "--json").document["notes"]
    assert "The provider of openai/gpt-x answered as gpt-x-2026-01 before, gpt-x-2026-03 after." in notes
    again = ran("gpt-x-2026-03", "fp_3")[0].document["batch"]
    assert (
        "The provider of openai/gpt-x answered with fingerprint fp_2 before, fp_3 after."
        in say("compare", batches[1], again).out
    )


def test_a_dead_address_stops_the_batch_after_five_runs_with_exit_code_3_and_a_way_to_go_on(tmp_path: Path) -> None:
    many = [case(f"The weather in town {number}?", [{"tool": "weather_report"}]) for number in range(20)]
    assert say("cases", "import", case_file(tmp_path, many)).code == 0
    address = ("--model", "openai/gpt-x", "--base-url", "http://127.0.0.1:9/v1", "--no-key", "--retries", "0")
    said = say("run", *address, "--concurrency", "1", "--fail-under", "0")
    assert said.code == 3
    assert "5 runs in a row failed with the same error" in said.out
    assert "mcp-tef runs resume" in said.err
    runs = say("runs", "list", "--json", "--limit", "100").document["runs"]
    assert sum(run["status"] == "failed" and run["error"]["code"] == "model_server_down" for run in runs) == 5
