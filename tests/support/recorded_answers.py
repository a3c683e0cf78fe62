"""Answers of OpenAI-compatible servers as they came over the wire: sound, odd, refused and broken ones, by name.

The shapes are those of OpenAI, Azure, OpenRouter, Groq, Together, Mistral, DeepSeek, vLLM, llama.cpp, Ollama and of
proxies in front of them.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.model_replies import Reply, completion, error, rate_limited, tool_calls, words

_CALL = ("order_cancel", {"order": 7})
_PAGE = "<!doctype html><html><body><h1>Bad gateway</h1></body></html>"


def _body(**changed: Any) -> Reply:
    """A whole answer with some fields changed; None takes one away."""
    whole = json.loads(tool_calls(_CALL, words="It cancels.\nConfidence: 0.8").body) | changed
    return Reply(body=json.dumps({name: value for name, value in whole.items() if value is not _ABSENT}))


_ABSENT = object()


def _message(finish: str | None = "stop", **message: Any) -> Reply:
    return _body(choices=[{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}])


def _choice(**choice: Any) -> Reply:
    return _body(choices=[{"index": 0, "message": {"role": "assistant", "content": "Hello."}, **choice}])


def _usage(**usage: Any) -> Reply:
    return _body(usage=usage)


def _call(function: Any, **more: Any) -> Reply:
    return _message("tool_calls", content=None, tool_calls=[{"id": "c1", "type": "function", **more} | _of(function)])


def _of(function: Any) -> dict[str, Any]:
    return {} if function is None else {"function": function}


def _wire(head: str, body: bytes) -> Reply:
    return Reply(wire=f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{head}\r\n\r\n".encode() + body)


_WHOLE = _body().body.encode()
_TOKENS = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}

SOUND: Mapping[str, Reply] = {
    "one call": tool_calls(_CALL),
    "a call with text": tool_calls(_CALL, words="It cancels.\nConfidence: 0.8"),
    "calls in parallel": tool_calls(("find_order", {"order": 1}), _CALL, _CALL),
    "text": words("I would rather talk about it."),
    "empty text": completion({"content": ""}),
    "null text": completion({"content": None}),
    "no text": completion({}),
    "arguments as an object": _call({"name": "order_cancel", "arguments": {"order": 7}}),
    "arguments as a text": _call({"name": "order_cancel", "arguments": '{"order": 7}'}),
    "arguments empty": _call({"name": "order_cancel", "arguments": ""}),
    "arguments null": _call({"name": "order_cancel", "arguments": None}),
    "arguments left out": _call({"name": "order_cancel"}),
    "arguments cut off": _call({"name": "order_cancel", "arguments": '{"order": '}),
    "arguments as a list": _call({"name": "order_cancel", "arguments": "[7]"}),
    "arguments encoded twice": _call({"name": "order_cancel", "arguments": json.dumps('{"order": 7}')}),
    "a name nobody offered": tool_calls(("no_such_tool", {"x": 1})),
    "calls in a wrapper": tool_calls(("multi_tool_use.parallel", {"tool_uses": [
        {"recipient_name": "functions.order_cancel", "parameters": {"order": 7}},
        {"recipient_name": "functions.find_order", "parameters": {"order": 1}}]})),
    "a null name": _call({"name": None, "arguments": "{}"}),
    "a call without an id": _message("tool_calls", tool_calls=[{"type": "function", "function": {
        "name": "order_cancel", "arguments": '{"order": 7}'}}]),
    "a call without a type": _message("tool_calls", tool_calls=[{"id": "c", "function": {
        "name": "order_cancel", "arguments": '{"order": 7}'}}]),
    "an empty list of calls": _message(content="No tool fits.", tool_calls=[]),
    "null calls": _message(content="No tool fits.", tool_calls=None, function_call=None),
    "the old function_call": _message("function_call", content=None, function_call={
        "name": "order_cancel", "arguments": '{"order": 7}'}),
    "a refusal": _message(content=None, refusal="I can't help with that."),
    "a refusal beside text": _message(content="No.", refusal="I can't help with that."),
    "a content filter": _message("content_filter", content=""),
    "a content filter with its results": _choice(finish_reason="content_filter", content_filter_results={
        "hate": {"filtered": True, "severity": "high"}}),
    "cut off by length": _message("length", content="Let me th"),
    "cut off in a call": _message("length", content=None, tool_calls=[{"id": "c", "type": "function", "function": {
        "name": "order_cancel", "arguments": '{"ord'}}]),
    "logprobs": _choice(finish_reason="stop", logprobs={"content": [{"token": "Hello", "logprob": -0.1, "bytes": [72],
        "top_logprobs": [{"token": "Hi", "logprob": -2.5, "bytes": None}]}], "refusal": None}),
    "null logprobs": _choice(finish_reason="stop", logprobs=None),
    "an unknown finish reason": _message("because", content="Hello."),
    "the finish reason eos": _message("eos", content="Hello."),
    "the finish reason max_tokens": _message("max_tokens", content="Hel"),
    "the finish reason MAX_TOKENS": _message("MAX_TOKENS", content="Hel"),
    "the finish reason model_length": _message("model_length", content="Hel"),
    "a null finish reason": _message(None, content="Hello."),
    "no finish reason": _choice(),
    "two choices": _body(choices=[
        {"index": n, "finish_reason": "stop", "message": {"role": "assistant", "content": f"Text {n}."}}
        for n in range(2)]),
    "reasoning in a field": _message(content="It cancels.", reasoning_content="The user wants to cancel."),
    "reasoning of OpenRouter": _message(content="It cancels.", reasoning="Cancel.", reasoning_details=[
        {"type": "reasoning.text", "text": "Cancel."}]),
    "reasoning in the text": words("<think>The user wants to cancel.</think>It cancels."),
    "content in parts": _message(content=[{"type": "text", "text": "It "}, {"type": "text", "text": "cancels."}]),
    "annotations and audio": _message(content="Hello.", annotations=[], audio=None),
    "no usage": _body(usage=_ABSENT),
    "null usage": _body(usage=None),
    "cached and reasoning tokens": _usage(
        **_TOKENS, prompt_tokens_details={"cached_tokens": 100, "audio_tokens": 0},
        completion_tokens_details={"reasoning_tokens": 20, "accepted_prediction_tokens": 0, "audio_tokens": 0,
                                   "rejected_prediction_tokens": 0}),
    "cache hits of DeepSeek": _usage(**_TOKENS, prompt_cache_hit_tokens=100, prompt_cache_miss_tokens=20),
    "cached tokens beside": _usage(**_TOKENS, cached_tokens=64),
    "null details": _usage(**_TOKENS, prompt_tokens_details=None, completion_tokens_details=None),
    "the cost that OpenRouter reports": _usage(**_TOKENS, cost=0.0123, cost_details={"upstream_inference_cost": None}),
    "times of Groq": _usage(**_TOKENS, queue_time=0.03, prompt_time=0.001, completion_time=0.05, total_time=0.051),
    "usage without a total": _usage(prompt_tokens=120, completion_tokens=30),
    "usage of the prompt only": _usage(prompt_tokens=120, total_tokens=120),
    "usage of zero": _usage(prompt_tokens=0, completion_tokens=0, total_tokens=0),
    "negative usage": _usage(prompt_tokens=-3, completion_tokens=30, total_tokens=27),
    "usage as a text": _body(usage="many"),
    "usage in fractions": _usage(prompt_tokens=120.5, completion_tokens=30, total_tokens=150),
    "absurd usage": _usage(prompt_tokens=10**12, completion_tokens=30, total_tokens=10**12),
    "more cached than sent": _usage(**_TOKENS, prompt_tokens_details={"cached_tokens": 4_000}),
    "another model and a fingerprint": _body(model="gpt-test-2026-11-01", system_fingerprint="fp_44709d6fcb"),
    "no model": _body(model=_ABSENT, id=_ABSENT, object=_ABSENT, created=_ABSENT),
    "a fingerprint that is a number": _body(system_fingerprint=7, service_tier=None),
    "fields nobody knows": _body(provider="Fireworks", x_groq={"id": "req_1"}, prompt_filter_results=[]),
    "text after the JSON": Reply(body=_body().body + "\n\n"),
    "a byte order mark": Reply(body="\ufeff" + _body().body),
    "plain text as its type": Reply(body=_body().body, content_type="text/plain"),
    "lone surrogates": Reply(body=words("A \\ud83d").body.replace("\\\\", "\\")),
    "chunks": _wire("Transfer-Encoding: chunked", b"%x\r\n%s\r\n0\r\n\r\n" % (len(_WHOLE), _WHOLE)),
}  # fmt: skip

REFUSED: Mapping[str, Reply] = {
    "tools not supported": error(400, "registry.ollama.ai/library/llama2 does not support tools"),
    "tools need a template": error(500, "tools param requires --jinja flag", kind="server_error"),
    "a bad schema": error(400, "Invalid schema for function 'order_cancel': None is not of type 'object'.",
                          code="invalid_function_parameters"),
    "the context is too short": error(400, "This model's maximum context length is 4097 tokens.",
                                      code="context_length_exceeded"),
    "an unknown parameter": error(400, "Unrecognized request argument supplied: seed"),
    "an unsupported value": error(400, "Unsupported value: 'temperature' does not support 0.4 with this model.",
                                  code="unsupported_value"),
    "a content policy": error(400, "The response was filtered due to the prompt triggering Azure OpenAI's content "
                              "management policy.", code="content_filter"),
    "an error as text": Reply(status=400, body='{"error": "model requires more system memory"}'),
    "details of FastAPI": Reply(status=422, body=json.dumps({"detail": [
        {"type": "missing", "loc": ["body", "messages"], "msg": "Field required"}]})),
    "a message at the top": Reply(status=400, body=json.dumps({"object": "error", "message": "temperature must be "
                                  "non-negative", "type": "BadRequestError", "param": None, "code": 400})),
    "an error in a list": Reply(status=400, body='[{"error": {"code": 400, "message": "Bad value."}}]'),
    "an empty error": Reply(status=400, body=""),
    "an empty object": Reply(status=400, body="{}"),
    "a wrong key": error(401, "Incorrect API key provided.", code="invalid_api_key"),
    "a key that is not valid": error(400, "API key not valid. Please pass a valid API key."),
    "no money": Reply(status=402, body='{"error": {"message": "Insufficient Balance", "code": 402}}'),
    "forbidden": error(403, "Country, region, or territory not supported", code="unsupported_country_region_territory"),
    "forbidden with a page": Reply(status=403, body=_PAGE, content_type="text/html"),
    "no such model": error(404, "The model `gpt-test` does not exist.", code="model_not_found"),
    "no such page": Reply(status=404, body='{"detail": "Not Found"}'),
    "a method that is not allowed": Reply(status=405, body='{"detail": "Method Not Allowed"}'),
    "a timeout of the server": error(408, "Request timed out."),
    "a conflict": error(409, "The model is being loaded."),
    "too large": error(413, "Request too large for model"),
    "cannot be processed": error(422, "temperature must be below 1"),
    "a rate limit in seconds": rate_limited("7"),
    "a rate limit in parts of seconds": rate_limited("0.25"),
    "a rate limit by date": rate_limited("Wed, 21 Oct 2099 07:28:00 GMT"),
    "a rate limit without a wait": rate_limited(None),
    "a rate limit with budgets": Reply(status=429, body=rate_limited().body, headers={
        "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6s", "retry-after-ms": "6000"}),
    "a used-up quota": error(429, "You exceeded your current quota.", code="insufficient_quota"),
    "a rate limit with a page": Reply(status=429, body=_PAGE, content_type="text/html"),
    "an error of the server": error(500, "The server had an error.", kind="server_error"),
    "an error that is no JSON": Reply(status=500, body="Internal Server Error", content_type="text/plain"),
    "not implemented": error(501, "Not implemented."),
    "a bad gateway": Reply(status=502, body=_PAGE, content_type="text/html"),
    "unavailable": error(503, "Service unavailable.", kind="service_unavailable"),
    "unavailable with a page": Reply(status=503, body=_PAGE, content_type="text/html"),
    "a gateway that waited": Reply(status=504, body=_PAGE, content_type="text/html"),
    "overloaded": error(529, "Overloaded"),
    "a status nobody knows": Reply(status=599, body=""),
    "a redirect": Reply(status=307, body="", headers={"Location": "/elsewhere"}),
    "not modified": Reply(status=304, body=""),
}  # fmt: skip

BROKEN: Mapping[str, Reply] = {
    "a page": Reply(body=_PAGE, content_type="text/html"),
    "no JSON": Reply(body="hello", content_type="text/plain"),
    "broken JSON": Reply(body=_body().body[:-20]),
    "an empty body": Reply(body=""),
    "JSON null": Reply(body="null"),
    "a list": Reply(body="[]"),
    "another API": Reply(body='{"hello": "world"}'),
    "an error with success": Reply(body='{"error": {"message": "upstream is down"}}'),
    "an error with a code with success": Reply(body=json.dumps(
        {"error": {"message": "Provider returned error", "code": 502, "metadata": {"provider_name": "x"}}})),
    "no choices": _body(choices=[]),
    "null choices": _body(choices=None),
    "choices left out": _body(choices=_ABSENT),
    "a choice without a message": _body(choices=[{"index": 0, "finish_reason": "stop"}]),
    "a null message": _body(choices=[{"index": 0, "finish_reason": "stop", "message": None}]),
    "a choice that is a text": _body(choices=["Hello."]),
    "calls that are a text": _message(tool_calls="order_cancel"),
    "a call without a function": _call(None),
    "a null call": _message("tool_calls", content=None, tool_calls=[None]),
    "text that is a number": _message(content=7),
    "no content": Reply(status=204, body=""),
    "closed without an answer": Reply(drop=True),
    "closed early": _wire("Content-Length: 5000", _WHOLE[:100]),
    "closed in a chunk": _wire("Transfer-Encoding: chunked", b"%x\r\n%s" % (len(_WHOLE), _WHOLE[:100])),
    "closed between chunks": _wire("Transfer-Encoding: chunked", b"64\r\n%s\r\n" % _WHOLE[:100]),
    "closed within the head": Reply(wire=b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "no HTTP": Reply(wire=b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "an encoding nobody asked for": Reply(body="abc", headers={"Content-Encoding": "br"}),
    "false compression": Reply(body="abc", headers={"Content-Encoding": "gzip"}),
    "nested too deeply": Reply(body="[" * 100_000),
    "a number of many digits": Reply(body='{"choices": ' + "9" * 5_000 + "}"),
}  # fmt: skip

ANSWERS: Mapping[str, Reply] = {**SOUND, **REFUSED, **BROKEN}
