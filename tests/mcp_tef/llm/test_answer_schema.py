"""JSON mode with a schema of the answer: who is sent one, and what follows where it is refused."""

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator as SchemaValidator

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.answers import CallingMode
from mcp_tef.model.ids import BatchId
from tests.support.model_questions import question
from tests.support.model_replies import Received, Reply, error, pick, rejected
from tests.support.model_stub import ModelStub


async def test_the_json_mode_sends_the_schema_of_the_answer(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        await selector.select(question(stub.url, mode=CallingMode.JSON))
        await selector.select(question(stub.url))
    asked, native = (request.body.get("response_format", {}) for request in stub.requests)
    assert native == {}
    assert asked["type"] == "json_schema"
    answer = {"calls": [{"tool": "order_cancel", "arguments": {"order": 7}}], "reasoning": "Fits.", "confidence": 0.7}
    schema = SchemaValidator(asked["json_schema"]["schema"])
    assert schema.is_valid(answer)
    assert not schema.is_valid({**answer, "calls": [{"tool": "another", "arguments": {}}]})


@pytest.mark.parametrize("status", [400, 422, 500])
async def test_a_server_that_refuses_the_schema_is_asked_without_it_for_the_rest_of_the_batch(
    selector: LitellmSelector, status: int
) -> None:
    def answer(request: Received) -> Reply:
        return error(status, "'response_format' is unknown") if "response_format" in request.body else pick(request)

    with ModelStub(answer) as stub:
        asked = replace(question(stub.url, mode=CallingMode.JSON), batch=BatchId("one"))
        answers = [await selector.select(asked) for _ in range(3)]
        await selector.select(replace(asked, batch=BatchId("two")))
    assert [answer.calls is None for answer in answers] == [False] * 3
    assert ["response_format" in request.body for request in stub.requests] == [True, False, False, False, True, False]


async def test_a_request_that_is_refused_with_and_without_a_schema_is_an_error(selector: LitellmSelector) -> None:
    with ModelStub([rejected(), rejected()]) as stub:
        with pytest.raises(ModelError) as raised:
            await selector.select(question(stub.url, mode=CallingMode.JSON))
        await selector.select(question(stub.url, mode=CallingMode.JSON))
    assert raised.value.fault is ModelFault.REJECTED
    assert "response_format" in stub.requests[2].body


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        ("ollama", "llama3", True),
        ("gemini", "gemini-2.5-flash", True),
        ("anthropic", "claude-sonnet-4-5", True),
        ("mistral", "a-model-nobody-knows", False),
    ],
)
async def test_a_provider_is_sent_a_schema_if_its_model_is_known_to_take_one(
    selector: LitellmSelector, provider: str, model: str, sent: bool
) -> None:
    with ModelStub(["404"]) as stub, pytest.raises(ModelError):
        await selector.select(
            question(stub.url.removesuffix("/v1"), provider=provider, model=model, mode=CallingMode.JSON)
        )
    assert ('"reasoning": {"type"' in json.dumps(stub.requests[0].body).replace("STRING", "string")) is sent
