"""Selection by a model: the real litellm over real HTTP to scripted servers of several APIs."""

import asyncio
import gc
import json
import os
from types import FrameType
from typing import Any

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource
from tests.support.model_questions import KEY, question
from tests.support.model_replies import Reply, empty, error, invented, junk, no_tools, rate_limited, tool_calls, words
from tests.support.model_stub import ModelStub

CANCELLED = ActualCall(tool="order.cancel", server="shop", arguments={"order": 7})


async def test_a_native_call_comes_back_as_the_real_tool(selector: LitellmSelector) -> None:
    reply = tool_calls(("order_cancel", {"order": 7}), words="It cancels.\nConfidence: 0.8")
    with ModelStub([reply]) as stub:
        answer = await selector.select(question(stub.url))
    assert answer.calls == (CANCELLED,)
    assert (answer.words, answer.confidence) == ("It cancels.", 0.8)
    assert answer.confidence_source is ConfidenceSource.SELF_REPORTED
    assert answer.mode is CallingMode.NATIVE
    assert (answer.tokens_in, answer.tokens_out) == (120, 30)


async def test_settings_query_and_untouched_tool_definitions_really_arrive(selector: LitellmSelector) -> None:
    asked = question(query="Cancel “order” 7", temperature=1.3, system_prompt="You are Ann.")
    with ModelStub() as stub:
        await selector.select(question(stub.url, query=asked.query, temperature=1.3, system_prompt="You are Ann."))
    (request,) = stub.requests
    assert (request.body["model"], request.body["temperature"]) == ("gpt-test", 1.3)
    assert request.key == KEY
    assert request.query == "Cancel “order” 7"
    assert request.system.startswith("You are Ann.")
    assert [tool["name"] for tool in request.tools] == ["order_cancel", "find_order"]
    assert request.tools[0]["parameters"] == asked.tools[0].tool.input_schema
    assert request.tools[0]["description"] == "order.cancel of the shop."


async def test_several_calls_in_one_answer_are_all_there(selector: LitellmSelector) -> None:
    reply = tool_calls(("find_order", {"order": 1}), ("order_cancel", {"order": 7}), ("order_cancel", {"order": 7}))
    with ModelStub([reply]) as stub:
        answer = await selector.select(question(stub.url))
    assert answer.calls == (ActualCall(tool="find_order", server="shop", arguments={"order": 1}), CANCELLED, CANCELLED)


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (empty(), ()),
        (words("I would rather talk about it."), ()),
        (invented(), (ActualCall(tool="no_such_tool_anywhere", arguments={"x": 1}),)),
        (junk(), None),
        (tool_calls(("order_cancel", "[7]")), None),
        (words('{"name": "order_cancel", "argum'), None),
        (words("word " * 100_000), ()),
    ],
    ids=["empty", "words", "invented tool", "half JSON", "no object", "call in the words", "endless"],
)
async def test_odd_answers_are_answers(selector: LitellmSelector, reply: Any, calls: Any) -> None:
    with ModelStub([reply]) as stub:
        answer = await selector.select(question(stub.url))
    assert answer.calls == calls
    assert answer.raw_response is not None


async def test_the_record_is_what_was_sent_without_tools_and_key(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, query=f"Cancel order 7 with {KEY}"))
    sent = {name: value for name, value in stub.requests[0].body.items() if name != "tools"}
    assert set(answer.sent_request) == set(sent)
    assert answer.prompt == "select-native@1"
    assert answer.raw_request["temperature"] == 0.4
    assert answer.raw_request["messages"][0] == sent["messages"][0]
    assert KEY not in str(answer.raw_request)
    assert answer.raw_response["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "order_cancel"


async def test_a_setting_that_the_model_refuses_is_left_out_and_the_record_says_so(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, model="o3-mini"))
    assert answer.calls
    assert "temperature" not in stub.requests[0].body
    assert "temperature" not in answer.raw_request


async def test_the_json_mode_asks_and_reads_without_tool_calling(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, mode=CallingMode.JSON))
    assert answer.mode is CallingMode.JSON
    assert answer.calls is not None
    assert answer.calls[0].tool == "order.cancel"
    assert not stub.requests[0].tools
    assert '{"name": "order_cancel"' in stub.requests[0].system
    assert "of the shop" not in str(answer.raw_request)


async def test_unreadable_structured_answers_are_unreadable_not_errors(selector: LitellmSelector) -> None:
    with ModelStub([words('{"calls": [{"tool": "order_can')]) as stub:
        answer = await selector.select(question(stub.url, mode=CallingMode.JSON))
    assert answer.calls is None


async def test_a_model_that_refuses_tools_is_asked_by_json_and_so_from_then_on(selector: LitellmSelector) -> None:
    with ModelStub(no_tools) as stub:
        answers = [await selector.select(question(stub.url)) for _ in range(2)]
        other = await selector.select(question(stub.url, model="other"))
    assert [answer.mode for answer in (*answers, other)] == [CallingMode.JSON] * 3
    assert [bool(request.tools) for request in stub.requests] == [True, False, False, True, False]


async def test_a_model_that_is_known_to_have_no_tool_calling_is_asked_by_json_at_once(
    selector: LitellmSelector,
) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, provider="fireworks_ai", model=_WITHOUT_TOOLS))
    assert answer.mode is CallingMode.JSON
    assert len(stub.requests) == 1


_WITHOUT_TOOLS = "accounts/fireworks/models/qwen2-72b-instruct"


async def test_price_is_told_where_it_is_known_and_unknown_elsewhere(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        known = await selector.select(question(stub.url, model="gpt-4.1-mini"))
        unknown = await selector.select(question(stub.url))
    assert known.cost_usd == pytest.approx(120 * 4e-07 + 30 * 1.6e-06)
    assert unknown.cost_usd is None


@pytest.mark.parametrize("provider", ["groq", "lm_studio", "local", "a-name-nobody-knows", "mistral"])
async def test_any_provider_can_be_sent_to_a_base_url(selector: LitellmSelector, provider: str) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, provider=provider, key=None))
    assert answer.calls
    assert stub.requests[0].key != os.environ.get("OPENAI_API_KEY", "unset")
    assert answer.raw_request is not None


async def test_concurrent_calls_with_different_keys_never_mix(selector: LitellmSelector) -> None:
    keys = [f"sk-key-of-user-{number:04}" for number in range(24)]
    with ModelStub(delay=0.02) as stub:
        asked = [question(stub.url, key=key, query=f"Cancel order of {key}") for key in keys]
        await asyncio.gather(*(selector.select(item) for item in asked))
    assert sorted(str(request.key) for request in stub.requests) == keys
    assert all(f"of {request.key}" in request.query for request in stub.requests)


async def test_connections_are_used_again(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        for _ in range(5):
            await selector.select(question(stub.url))
        assert stub.connections == 1


async def test_after_close_no_key_is_left_in_memory_or_environment() -> None:
    selector = LitellmSelector(LitellmCatalogue())
    with ModelStub(["call", "401", "hang"]) as stub:
        await selector.select(question(stub.url, key=_left_behind()))
        for _ in range(2):
            with pytest.raises(ModelError):
                await selector.select(question(stub.url, key=_left_behind(), timeout=1))
        stub.requests.clear()
    assert _holders(), "the search for holders finds none even while the client is open"
    await selector.close()
    assert _left_behind() not in str(dict(os.environ))
    assert _holders() == []


def _left_behind() -> str:
    return "-".join(["sk", "left", "behind", "4711"])


def _holders() -> list[str]:
    """The kinds of objects alive that hold a text with the key in it."""
    gc.collect()
    objects = [thing for thing in gc.get_objects() if not isinstance(thing, FrameType)]
    return [
        type(thing).__name__
        for thing in objects
        if any(isinstance(part, str | bytes) and _left_behind() in str(part) for part in gc.get_referents(thing))
    ]


WORDS = "It cancels.\nConfidence: 0.7"
CANCELLED_ORDER = (ActualCall(tool="order.cancel", server="shop", arguments={"order": 7}),)


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
    assert answer.calls == CANCELLED_ORDER
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
    assert (answer.calls, answer.mode) == (CANCELLED_ORDER, CallingMode.JSON)


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
