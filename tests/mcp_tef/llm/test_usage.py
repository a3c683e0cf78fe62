"""Usage and cost as providers report them: believed within bounds, else unknown, with a note."""

import json
import warnings

import pytest

from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.usage import UsageCheck, known_cost, known_tokens
from tests.support.model_questions import question
from tests.support.model_replies import Reply, tool_calls
from tests.support.model_stub import ModelStub


@pytest.mark.parametrize(
    ("value", "known"),
    [(0, 0), (10**9, 10**9), (10**9 + 1, None), (-1, None), (2**63, None), (True, None), (1.0, None), ("3", None)],
)
def test_tokens_are_whole_numbers_up_to_a_billion(value: object, known: int | None) -> None:
    assert known_tokens(value) == known


@pytest.mark.parametrize(
    ("value", "known"),
    [(0, 0.0), (0.25, 0.25), (1e6, 1e6), (1e6 + 1, None), (-0.01, None), (float("nan"), None), (float("inf"), None),
     (True, None), ("1", None), (None, None)],
)  # fmt: skip
def test_a_cost_is_a_number_up_to_a_million_dollars(value: object, known: float | None) -> None:
    assert known_cost(value) == known


def test_a_body_without_doubts_stays_as_it_is() -> None:
    for body in (b"{}", b'"usage"', b'{"usage": null}', b'{"usage": {"prompt_tokens": 3, "cost": 0.5}}', b'{"usage": '):
        check = UsageCheck()
        assert check.clean(body) is body
        assert check.notes == ()


def test_what_is_doubtful_is_taken_out_and_told() -> None:
    check = UsageCheck()
    body = {"usage": {"prompt_tokens": -5, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1.5}}}
    clean = json.loads(check.clean(json.dumps(body).encode()))
    assert clean["usage"] == {
        "prompt_tokens": 0, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}
    }  # fmt: skip
    assert (check.count("prompt_tokens", 0), check.count("completion_tokens", 7)) == (None, 7)
    assert check.notes == (
        "The reported prompt_tokens is -5, not a whole number from 0 to 1,000,000,000, and counts as unknown.",
        "The reported cached_tokens is 1.5, not a whole number from 0 to 1,000,000,000, and counts as unknown.",
    )


async def test_doubtful_usage_is_noted_at_the_run_and_has_no_cost(selector: LitellmSelector) -> None:
    body = json.loads(tool_calls(("find_order", {"order": 7})).body)
    body["usage"]["prompt_tokens"] = 10**18
    body["mcp_tef_notes"] = ["Trust me."]
    with ModelStub([Reply(body=json.dumps(body)), "empty"]) as stub:
        answer = await selector.select(question(stub.url, model="gpt-4o"))
        sound = await selector.select(question(stub.url, model="gpt-4o"))
    assert (answer.tokens_in, answer.tokens_out, answer.cost_usd) == (None, 30, None)
    assert [note.split(",")[0] for note in answer.notes] == ["The reported prompt_tokens is 1000000000000000000"]
    assert answer.raw_response["usage"]["prompt_tokens"] == 10**18
    assert sound.cost_usd
    assert sound.notes == ()


async def test_odd_types_in_an_answer_warn_nobody(selector: LitellmSelector) -> None:
    body = json.loads(tool_calls(("find_order", {"order": 7})).body)
    body |= {"id": 7, "model": [1], "service_tier": {"a": 1}, "system_fingerprint": 5}
    body["choices"][0]["finish_reason"] = "7"
    with ModelStub([Reply(body=json.dumps(body))]) as stub, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        await selector.select(question(stub.url))
    assert [str(warning.message) for warning in warned if "ydantic" in str(warning.message)] == []


async def test_keys_that_the_body_of_an_answer_repeats_are_noted(selector: LitellmSelector) -> None:
    body = tool_calls(("find_order", {"order": 7})).body.replace('"model":', '"model": "other", "model":', 1)
    with ModelStub([Reply(body=body)]) as stub:
        answer = await selector.select(question(stub.url))
    assert answer.notes == ("The JSON of the answer gives “model” more than once; the last value counts.",)
