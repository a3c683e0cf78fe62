"""Every way in which a provider fails, told apart, in one clear sentence without the key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.provider_errors import FailureEvidence, find_fault, redacted, retry_after
from mcp_tef.model.answers import CallingMode
from mcp_tef.model.secrets import Secret
from tests.support.model_questions import KEY, QUERY, question
from tests.support.model_replies import Reply, error, rate_limited
from tests.support.model_stub import ModelStub, Step


async def failure(selector: LitellmSelector, step: Step, key: str | None = KEY, **more: object) -> ModelError:
    with ModelStub([step]) as stub, pytest.raises(ModelError) as raised:
        await selector.select(question(stub.url, key, QUERY, **more))
    return raised.value


@pytest.mark.parametrize(
    ("step", "fault", "sentence"),
    [
        ("401", ModelFault.KEY_WRONG, "did not accept the key for openai/gpt-test"),
        ("403", ModelFault.FORBIDDEN, "does not let this key use openai/gpt-test"),
        ("404", ModelFault.NOT_FOUND, "has no model openai/gpt-test"),
        ("429", ModelFault.RATE, "is limiting the rate of requests to openai/gpt-test"),
        ("quota", ModelFault.QUOTA, "The quota at "),
        ("500", ModelFault.PROVIDER, "answered with an error (500) when openai/gpt-test was asked"),
        ("drop", ModelFault.PROVIDER, "closed the connection without an answer"),
        ("html", ModelFault.NOT_AN_API, "is not the address of a model's API"),
        ("context", ModelFault.CONTEXT, "too long for openai/gpt-test"),
        ("400", ModelFault.REJECTED, "Invalid value for 'messages'"),
        (Reply(status=503, body="<html>busy</html>", content_type="text/html"), ModelFault.PROVIDER, "an error (503)"),
        (Reply(status=404, body='{"detail": "Not Found"}'), ModelFault.NOT_AN_API, "often ends in /v1"),
        (Reply(status=301, body="", headers={"Location": "/elsewhere"}), ModelFault.NOT_AN_API, "not the address"),
        (Reply(body='{"hello": "world"}'), ModelFault.NOT_AN_API, "not the address"),
        (Reply(body="hello", content_type="text/plain"), ModelFault.NOT_AN_API, "not the address"),
        (Reply(body='{"error": {"message": "upstream is down"}}'), ModelFault.PROVIDER, "upstream is down"),
        (Reply(status=402, body='{"error": "pay first"}'), ModelFault.QUOTA, "is used up"),
    ],
)
async def test_each_fault_is_told_apart(
    selector: LitellmSelector, step: Step, fault: ModelFault, sentence: str
) -> None:
    caught = await failure(selector, step)
    assert caught.fault is fault
    assert sentence in f"{caught.message} {caught.hint}"
    assert caught.hint
    assert caught.message.endswith(".")
    assert "\n" not in caught.message
    assert KEY not in f"{caught.message}{caught.hint}{caught.context}{caught!r}"
    assert caught.__context__ is None


async def test_a_model_that_never_answers_costs_its_timeout_and_no_more(selector: LitellmSelector) -> None:
    caught = await failure(selector, "hang", timeout=1)
    assert caught.fault is ModelFault.TIMEOUT
    assert caught.message == "openai/gpt-test did not answer within 1 seconds."


async def test_a_refused_connection_names_the_address(selector: LitellmSelector) -> None:
    with pytest.raises(ModelError) as raised:
        await selector.select(question(_closed()))
    assert raised.value.fault is ModelFault.DOWN
    assert raised.value.message == f"Nothing answers at {_closed()}."


@pytest.mark.parametrize(("url", "word"), [("nonsense", "no web address"), ("http://", ""), ("https://[::1", "")])
async def test_an_address_that_cannot_be_one_is_a_clear_error(selector: LitellmSelector, url: str, word: str) -> None:
    with pytest.raises(ModelError) as raised:
        await selector.select(question(url))
    assert raised.value.fault in (ModelFault.NOT_AN_API, ModelFault.DOWN)
    assert word in raised.value.message


async def test_a_cloud_provider_without_a_key_fails_at_once_and_says_where_to_put_it(selector: LitellmSelector) -> None:
    with pytest.raises(ModelError) as raised:
        await selector.select(question(None, key=None, provider="anthropic", model="claude-sonnet-4-5"))
    assert raised.value.fault is ModelFault.KEY_MISSING
    assert raised.value.message == "There is no key for anthropic."
    assert "ANTHROPIC_API_KEY" in raised.value.hint


async def test_a_refusal_for_want_of_a_key_is_a_missing_key(selector: LitellmSelector) -> None:
    assert (await failure(selector, "401", key=None)).fault is ModelFault.KEY_MISSING


async def test_an_unknown_provider_without_an_address_is_named(selector: LitellmSelector) -> None:
    with pytest.raises(ModelError, match="There is no provider called nobody"):
        await selector.select(question(None, provider="nobody"))


async def test_native_mode_on_a_model_without_tools_says_what_to_choose(selector: LitellmSelector) -> None:
    caught = await failure(selector, "no-tools", mode=CallingMode.NATIVE)
    assert caught.fault is ModelFault.NO_TOOLS
    assert "JSON mode" in caught.hint


async def test_retry_after_reaches_the_error_in_seconds(selector: LitellmSelector) -> None:
    assert (await failure(selector, rate_limited("7"))).retry_after == 7.0
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    waits = (await failure(selector, rate_limited(later))).retry_after
    assert waits is not None
    assert 60 < waits <= 90
    assert (await failure(selector, rate_limited(None))).retry_after is None


@pytest.mark.parametrize("given", ["", "soon", "-3", "1e400", "nan"])
def test_an_odd_retry_after_is_none_or_no_wait(given: str) -> None:
    assert retry_after({"retry-after": given}) in (None, 0.0)


def test_whatever_looks_like_a_key_is_left_out_of_words() -> None:
    text = f"Incorrect key {KEY}; Authorization: Bearer abcdefghijk; sk-proj-abcdefghij; url?key=AIzaSyD4567890"
    clean = redacted(text, Secret("unrelated"))
    assert not any(part in clean for part in ("abcdefghijk", "sk-proj", "AIza", KEY))


@pytest.mark.parametrize(
    ("status", "said", "fault"),
    [
        (400, "API key not valid. Please pass a valid API key.", ModelFault.KEY_WRONG),
        (400, "Your credit balance is too low to access the API.", ModelFault.QUOTA),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", ModelFault.CONTEXT),
        (400, "registry.ollama.ai/library/llama2 does not support tools", ModelFault.NO_TOOLS),
        (404, "No endpoints found that support tool use.", ModelFault.NO_TOOLS),
        (400, '"auto" tool choice requires --enable-auto-tool-choice', ModelFault.NO_TOOLS),
        (413, "Request too large", ModelFault.CONTEXT),
        (422, "temperature must be below 1", ModelFault.REJECTED),
        (529, "Overloaded", ModelFault.PROVIDER),
        (504, "Gateway timeout", ModelFault.TIMEOUT),
        (403, "Country not supported", ModelFault.FORBIDDEN),
    ],
)
def test_the_words_of_other_providers_are_understood(status: int, said: str, fault: ModelFault) -> None:
    body = error(status, said).body
    evidence = FailureEvidence(status=status, headers={"content-type": "application/json"}, body=body)
    assert find_fault(evidence, Secret(KEY)) is fault
    assert find_fault(replace(evidence, timed_out=True), None) is ModelFault.TIMEOUT


def _closed() -> str:
    return "http://127.0.0.1:9/v1"
