"""Selection by a model: the real litellm over real HTTP to scripted servers of several APIs."""

import asyncio
import gc
import json
import os
from dataclasses import replace
from types import FrameType, ModuleType
from typing import Any

import pytest

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, ToolChoiceMode
from tests.support.model_questions import KEY, question
from tests.support.model_replies import (
    Received,
    Reply,
    completion,
    empty,
    error,
    invented,
    junk,
    no_tools,
    pick,
    rate_limited,
    tool_calls,
    words,
)
from tests.support.model_stub import ModelStub
from tests.support.text_calls import text_calls

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


async def test_the_model_that_answered_and_its_address_are_noted(selector: LitellmSelector) -> None:
    reply = tool_calls(("order_cancel", {"order": 7}))
    body = json.loads(reply.body) | {"model": "gpt-test-2026", "system_fingerprint": f"fp {KEY}"}
    with ModelStub([replace(reply, body=json.dumps(body))]) as stub:
        answer = await selector.select(question(stub.url))
        assert answer.base_url == stub.url
    assert answer.answered_model == "gpt-test-2026"
    assert answer.answered_fingerprint is not None
    assert answer.answered_fingerprint.startswith("fp ")
    assert KEY not in answer.answered_fingerprint


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


@pytest.mark.parametrize("mode", [CallingMode.NATIVE, CallingMode.JSON])
async def test_a_call_in_the_text_is_read_in_all_40_forms(selector: LitellmSelector, mode: CallingMode) -> None:
    forms = text_calls("order_cancel", {"order": 7})
    with ModelStub([words(text) for text in forms.values()]) as stub:
        answers = [await selector.select(question(stub.url, mode=mode)) for _ in forms]
    read = {form: answer.calls == (CANCELLED,) for form, answer in zip(forms, answers, strict=True)}
    print(f"{mode}: {sum(read.values())} of {len(read)} read")
    for (shape, notation), is_read in read.items():
        print(f"{shape:16} {notation:18} {'read' if is_read else 'lost'}")
    assert len(read) == 40
    assert all(read.values())
    assert {answer.read_from_text for answer in answers} == {mode is CallingMode.NATIVE}


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
    assert "order_cancel" not in str(answer.raw_request)


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


@pytest.mark.parametrize("refusal", ["tools param requires --jinja flag", "Unsupported param: tools"])
async def test_llama_cpp_without_a_template_is_asked_by_json(selector: LitellmSelector, refusal: str) -> None:
    def answer(request: Received) -> Reply:
        return error(500, refusal, kind="server_error") if request.tools else pick(request)

    with ModelStub(answer) as stub:
        answers = [await selector.select(question(stub.url)) for _ in range(2)]
    assert [(one.mode, one.calls is None) for one in answers] == [(CallingMode.JSON, False)] * 2
    assert len(stub.requests) == 3


async def test_a_model_that_is_known_to_have_no_tool_calling_is_asked_by_json_at_once(
    selector: LitellmSelector,
) -> None:
    with ModelStub() as stub:
        answer = await selector.select(question(stub.url, provider="fireworks_ai", model=_WITHOUT_TOOLS))
    assert answer.mode is CallingMode.JSON
    assert len(stub.requests) == 1


_WITHOUT_TOOLS = "accounts/fireworks/models/qwen2-72b-instruct"


async def test_at_a_custom_address_only_a_price_of_the_user_counts(selector: LitellmSelector) -> None:
    with ModelStub() as stub:
        unknown = await selector.select(question(stub.url, model="gpt-4.1-mini"))
        given = await selector.select(question(stub.url, model="gpt-4.1-mini", input_price=2.0, output_price=10.0))
    assert unknown.cost_usd is None
    assert given.cost_usd == pytest.approx((120 * 2 + 30 * 10) / 1e6)


async def test_seed_answer_limit_and_tool_choice_are_sent_and_recorded(selector: LitellmSelector) -> None:
    with ModelStub([completion({"content": "Let me th"}, finish="length"), pick]) as stub:
        asked = question(stub.url, seed=7, max_tokens=50, tool_choice=ToolChoiceMode.REQUIRED)
        cut, whole = [await selector.select(asked) for _ in range(2)]
    assert {(one.body["seed"], one.body["max_tokens"], one.body["tool_choice"]) for one in stub.requests} == {
        (7, 50, "required")
    }
    assert (cut.cut_off, whole.cut_off) == (True, False)
    assert (whole.seed, whole.answer_limit, whole.base_url) == (7, 50, stub.url)


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
    assert _texts_with_key(), "the search for holders finds none even while the client is open"
    await selector.close()
    assert _left_behind() not in str(dict(os.environ))
    for _ in range(20):  # the loop may still hold what arrived last
        if not _texts_with_key():
            return
        await asyncio.sleep(0.05)
    assert _texts_with_key() == 0


def _left_behind() -> str:
    return "-".join(["sk", "left", "behind", "4711"])


def _texts_with_key() -> int:
    """Count the texts with the key in them that objects hold; frames are left out, since this one is among them."""
    gc.collect()
    # A module's dict is among the objects; Python 3.12.1 never ends its next collection if a module is asked.
    objects = [thing for thing in gc.get_objects() if not isinstance(thing, FrameType | ModuleType)]
    return sum(map(_holds_key, {part for part in gc.get_referents(*objects) if type(part) in (str, bytes)}))


def _holds_key(part: object) -> bool:
    if isinstance(part, bytes):
        return _left_behind().encode() in part
    return isinstance(part, str) and _left_behind() in part


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
