"""Models that do not speak OpenAI's language: asked, read, recorded and failed alike."""

import json
from typing import Any

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.answers import ActualCall, Answer, CallingMode
from tests.support.model_questions import KEY, question
from tests.support.model_replies import Reply, error, rate_limited
from tests.support.model_stub import ModelStub

WORDS = "It cancels.\nConfidence: 0.7"
CANCELLED = (ActualCall(tool="order.cancel", server="shop", arguments={"order": 7}),)


def answered(body: dict[str, Any]) -> Reply:
    return Reply(body=json.dumps(body))


ANTHROPIC = answered({
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use",
    "content": [
        {"type": "text", "text": WORDS},
        {"type": "tool_use", "id": "t1", "name": "order_cancel", "input": {"order": 7}},
    ],
    "usage": {"input_tokens": 11, "output_tokens": 7},
})  # fmt: skip
GEMINI = answered({
    "candidates": [{
        "content": {
            "role": "model",
            "parts": [{"text": WORDS}, {"functionCall": {"name": "order_cancel", "args": {"order": 7}}}],
        },
        "finishReason": "STOP",
    }],
    "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
})  # fmt: skip


def ollama(message: dict[str, Any]) -> Reply:
    return answered({
        "model": "llama3", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
        "message": {"role": "assistant", "content": "", **message}, "prompt_eval_count": 11, "eval_count": 7,
    })  # fmt: skip


OLLAMA = ollama({
    "content": WORDS,
    "tool_calls": [{"function": {"name": "order_cancel", "arguments": {"order": 7}}}],
})  # fmt: skip


async def ask(selector: LitellmSelector, stub: ModelStub, provider: str, model: str, key: str | None = KEY) -> Answer:
    base_url = stub.url.removesuffix("/v1")
    return await selector.select(question(base_url, key, provider=provider, model=model))


@pytest.mark.parametrize(
    ("provider", "model", "reply", "path"),
    [
        ("anthropic", "claude-sonnet-4-5", ANTHROPIC, "/v1/messages"),
        ("gemini", "gemini-2.5-flash", GEMINI, "/models/gemini-2.5-flash:generateContent"),
        ("ollama", "llama3", OLLAMA, "/api/chat"),
    ],
)
async def test_each_api_is_asked_and_read(
    selector: LitellmSelector, provider: str, model: str, reply: Reply, path: str
) -> None:
    with ModelStub([reply]) as stub:
        answer = await ask(selector, stub, provider, model)
    assert answer.calls == CANCELLED
    assert (answer.words, answer.confidence, answer.tokens_in) == ("It cancels.", 0.7, 11)
    assert stub.requests[0].path == path
    assert "Cancel order 7" in str(answer.raw_request)
    assert "tools" not in answer.raw_request
    assert answer.raw_response == json.loads(reply.body)
    assert KEY not in str((answer.raw_request, answer.raw_response))


async def test_an_ollama_model_without_tools_is_asked_by_json(selector: LitellmSelector) -> None:
    refusal = Reply(status=400, body='{"error": "registry.ollama.ai/library/llama2 does not support tools"}')
    structured = ollama({"content": '{"calls": [{"tool": "order_cancel", "arguments": {"order": 7}}]}'})
    with ModelStub([refusal, structured]) as stub:
        answer = await ask(selector, stub, "ollama", "llama2", key=None)
    assert (answer.calls, answer.mode) == (CANCELLED, CallingMode.JSON)


async def test_an_api_whose_wire_is_not_watched_is_recorded_all_the_same(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        answer = await ask(selector, stub, "azure", "my-deployment")
    assert answer.calls
    assert answer.raw_request["messages"][1]["content"] == "Cancel order 7"
    assert answer.raw_response["choices"]
    assert KEY not in str((answer.raw_request, answer.raw_response))


async def test_faults_of_an_api_whose_wire_is_not_watched_are_told_apart(selector: LitellmSelector) -> None:
    caught = []
    with ModelStub([error(401, f"Wrong key {KEY}."), rate_limited("3"), "500", "drop"]) as stub:
        for _ in range(4):
            with pytest.raises(ModelError) as raised:
                await ask(selector, stub, "azure", "my-deployment")
            caught.append(raised.value)
    assert [item.fault for item in caught] == [
        ModelFault.KEY_WRONG, ModelFault.RATE, ModelFault.PROVIDER, ModelFault.PROVIDER,
    ]  # fmt: skip
    assert caught[1].retry_after == 3.0
    assert KEY not in str([(item.message, item.context) for item in caught])
