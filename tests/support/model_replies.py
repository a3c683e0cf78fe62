"""Replies of the scripted model server: sound, odd and broken ones, and embeddings."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

Arguments: TypeAlias = Mapping[str, Any] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it arrived; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def key(self) -> str | None:
        """The bearer key that was sent."""
        kind, _, key = self.headers.get("authorization", "").partition(" ")
        return key if kind.lower() == "bearer" else None

    @property
    def query(self) -> str:
        """The text of the last user message."""
        texts = [str(item.get("content")) for item in self.body.get("messages", []) if item.get("role") == "user"]
        return texts[-1] if texts else ""

    @property
    def system(self) -> str:
        """The text of all system messages."""
        messages = self.body.get("messages", [])
        return "\n".join(str(item.get("content")) for item in messages if item.get("role") in ("system", "developer"))

    @property
    def tools(self) -> tuple[Mapping[str, Any], ...]:
        """The offered functions: name, description, parameters."""
        return tuple(item.get("function", item) for item in self.body.get("tools") or ())

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: `delay` in seconds before it; `hang` never answers, `drop` closes the connection.

    `wire` is sent as it is, in place of everything else, and the connection is closed after it.
    """

    status: int = 200
    body: str = "{}"
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang: bool = False
    drop: bool = False
    wire: bytes = b""

    def after(self, seconds: float) -> "Reply":
        """The same reply, later."""
        return replace(self, delay=seconds)


Answerer: TypeAlias = Callable[[Received], Reply]


def completion(message: Mapping[str, Any], *, finish: str = "stop", tokens: tuple[int, int] = (120, 30)) -> Reply:
    """A chat completion around one assistant message."""
    sent, received = tokens
    body = {
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub",
        "service_tier": "default",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received},
    }
    return Reply(body=json.dumps(body))


def tool_calls(*calls: tuple[str, Arguments], words: str | None = None, tokens: tuple[int, int] = (120, 30)) -> Reply:
    """One answer with these native tool calls; arguments given as text are sent as they are."""
    items = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return completion({"content": words, "tool_calls": items}, finish="tool_calls", tokens=tokens)


def _text(arguments: Arguments) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def words(text: str) -> Reply:
    """An answer in words, without a call."""
    return completion({"content": text})


def empty() -> Reply:
    """An answer with nothing in it."""
    return completion({"content": ""})


def junk() -> Reply:
    """A call whose arguments are half a JSON text."""
    return tool_calls(("search", '{"query": "half a'))


def invented() -> Reply:
    """A call of a tool that nobody offered."""
    return tool_calls(("no_such_tool_anywhere", {"x": 1}))


def error(status: int, message: str, *, code: str | None = None, kind: str = "invalid_request_error") -> Reply:
    """An error in OpenAI's shape."""
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return Reply(status=status, body=json.dumps(body))


def unauthorized(request: Received) -> Reply:
    """401 that repeats the key, as some providers do."""
    return error(401, f"Incorrect API key provided: {request.key}.", code="invalid_api_key")


def forbidden() -> Reply:
    """403."""
    return error(403, "You are not allowed to use this model.", code="forbidden")


def rate_limited(retry_after: str | None = "0") -> Reply:
    """429 with the Retry-After header given (seconds or an HTTP date)."""
    reply = error(429, "Rate limit reached for requests.", code="rate_limit_exceeded", kind="requests")
    return replace(reply, headers={"Retry-After": retry_after} if retry_after is not None else {})


def quota() -> Reply:
    """429 because the account has no money left."""
    return error(429, "You exceeded your current quota.", code="insufficient_quota", kind="insufficient_quota")


def broken() -> Reply:
    """500."""
    return error(500, "The server had an error.", kind="server_error")


def hang() -> Reply:
    """No answer at all; the connection stays open."""
    return Reply(hang=True)


def drop() -> Reply:
    """The connection is closed without an answer."""
    return Reply(drop=True)


def web_page() -> Reply:
    """A web page, as from an address that is no API."""
    return Reply(body="<!doctype html><html><body>Welcome</body></html>", content_type="text/html")


def context_too_long() -> Reply:
    """400 because the request does not fit."""
    text = "This model's maximum context length is 4097 tokens. However, your messages resulted in 9999 tokens."
    return error(400, text, code="context_length_exceeded")


def unknown_model(request: Received) -> Reply:
    """404 for the model that was asked for."""
    return error(404, f"The model `{request.model}` does not exist.", code="model_not_found")


def rejected() -> Reply:
    """400 for a reason of the provider's own."""
    return error(400, "Invalid value for 'messages'.", code="invalid_value")


def no_tools(request: Received) -> Reply:
    """400 where tools were sent, as from a local model without tool calling; else the default answer."""
    if request.tools:
        return error(400, f"{request.model} does not support tools")
    return pick(request)


def pick(request: Received) -> Reply:
    """Choose the offered tool whose name shares most words with the query, and fill what it requires."""
    offered = request.tools or _listed(request.system)
    asked = _words(request.query)
    scored = [(len(asked & _words(tool["name"])), -place) for place, tool in enumerate(offered)]
    score, place = max(scored, default=(0, 0))
    if not score:
        return words("No tool fits.\nConfidence: 0.8") if request.tools else _structured([])
    tool = offered[-place]
    call = (tool["name"], _fill(tool.get("parameters") or tool.get("input_schema") or {}, request.query))
    return tool_calls(call, words="Its name fits.\nConfidence: 0.9") if request.tools else _structured([call])


def _structured(calls: Sequence[tuple[str, Arguments]]) -> Reply:
    items = [{"tool": name, "arguments": arguments} for name, arguments in calls]
    return words(json.dumps({"calls": items, "reasoning": "Its name fits.", "confidence": 0.9}))


def _listed(system: str) -> tuple[Mapping[str, Any], ...]:
    lines = (line for line in system.splitlines() if line.startswith('{"name"'))
    return tuple(json.loads(line) for line in lines)


def _words(text: str) -> set[str]:
    spaced = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in spaced.split() if len(word) > 2}


def _fill(schema: Mapping[str, Any], query: str) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: _value(properties.get(name, {}), query) for name in schema.get("required", ())}


def _value(schema: Mapping[str, Any], query: str) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    trivial: dict[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return trivial.get(str(schema.get("type")), query)


def _picker(reply: Callable[[], Reply]) -> Answerer:
    return lambda _request: reply()


NAMED: Mapping[str, Answerer] = {
    "call": pick,
    "text": _picker(lambda: words("I would answer this myself.")),
    "empty": _picker(empty),
    "junk": _picker(junk),
    "invented": _picker(invented),
    "401": unauthorized,
    "403": _picker(forbidden),
    "404": unknown_model,
    "429": _picker(rate_limited),
    "quota": _picker(quota),
    "500": _picker(broken),
    "hang": _picker(hang),
    "drop": _picker(drop),
    "html": _picker(web_page),
    "context": _picker(context_too_long),
    "400": _picker(rejected),
    "no-tools": no_tools,
}


DIMENSIONS = 8


def vector(text: str) -> list[float]:
    """A vector of its own for each text."""
    return [1.0 + byte for byte in hashlib.sha256(text.encode()).digest()[:DIMENSIONS]]


def openai_reply(vectors: list[Any]) -> Reply:
    """These vectors, last first, each with its place."""
    rows = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(vectors)]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return Reply(body=json.dumps({"object": "list", "model": "stub", "data": rows[::-1], "usage": usage}))


def openai(request: Received) -> Reply:
    """What an OpenAI-compatible server answers; it refuses other requests."""
    if "input" not in request.body:
        return refusal(422, "input is missing")
    return openai_reply([vector(text) for text in request.body["input"]])


def inference(request: Received) -> Reply:
    """What text-embeddings-inference answers; it refuses other requests."""
    if "inputs" not in request.body:
        return refusal(422, "inputs is missing")
    return Reply(body=json.dumps([vector(text) for text in request.body["inputs"]]))


def refusal(status: int, words: str) -> Reply:
    """An error in OpenAI's shape."""
    return Reply(status=status, body=json.dumps({"error": {"message": words, "type": "error", "code": None}}))
