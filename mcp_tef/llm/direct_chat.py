"""Requests to OpenAI-compatible servers as litellm sends them, and their answers as litellm reads them."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_tef.llm.model_table import answer_cost, model_table
from mcp_tef.llm.providers import Target
from mcp_tef.llm.recent_values import RecentValues
from mcp_tef.llm.usage import Completion, Request, UsageCheck, shown_name
from mcp_tef.model.answers import ToolChoiceMode
from mcp_tef.model.json import loads_bounded
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.answer_body import FIRST_REDIRECT
from mcp_tef.provider_http.exchange import Exchange, FailedCall

if TYPE_CHECKING:
    from mcp_tef.provider_http.direct_client import DirectClient


NO_KEY = "no-key"
_Tools: TypeAlias = Sequence[Mapping[str, Any]]


def options(request: Request) -> dict[str, Any]:
    """Return the settings of a request by the names of OpenAI's protocol; None is not sent."""
    settings = request.settings
    tools: dict[str, Any] = {"tools": list(request.tools)} if request.tools else {}
    if tools and settings.tool_choice is not ToolChoiceMode.AUTO:
        tools["tool_choice"] = settings.tool_choice.value
    return {
        "messages": list(request.messages),
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.max_tokens,
        "response_format": None if request.response_format is None else dict(request.response_format),
        **tools,
    }


class DirectRequests:
    """Bodies of requests. The tools of a batch are serialised once, so that each of its runs sends the same bytes."""

    def __init__(self) -> None:
        self._tools = RecentValues[Sequence[Mapping[str, Any]], bytes](_json)
        self._mistrals_tools = RecentValues[Sequence[Mapping[str, Any]], bytes](
            lambda tools: _json(_without_ids(tools))
        )

    def body(self, request: Request) -> tuple[dict[str, Any], bytes]:
        """Return the body of a request without its tools, and the bytes of the whole body."""
        target = request.target
        whole = {"model": target.model, **options(request)}
        given = {name: value for name, value in whole.items() if value is not None and name != "tools"}
        given = _adapted(given, target)
        if not request.tools:
            return given, _json(given)
        tools = self._mistrals_tools if target.provider == "mistral" else self._tools
        return given, b"".join((_json(given)[:-1], b',"tools":', tools.of(request.tools), b"}"))


def _json(value: object) -> bytes:
    """Return compact JSON. A lone surrogate becomes its escape, which JSON allows."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def headers(request: Request, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request, with those that the user sets for OpenAI in the environment.

    Servers without keys get a made-up one, since some refuse requests without.
    """
    key = request.key.reveal() if request.key else NO_KEY
    sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    if request.target.provider != "openai":
        return sent
    lines = (line.partition(":") for line in environment.get("OPENAI_CUSTOM_HEADERS", "").splitlines())
    custom = {name.strip(): value.strip() for name, colon, value in lines if colon}
    stated = {name: environment.get(variable) for name, variable in _OPENAI_HEADERS.items()}
    return {**sent, **{name: value for name, value in stated.items() if value}, **custom}


_OPENAI_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


def _adapted(given: dict[str, Any], target: Target) -> dict[str, Any]:
    """Return the body of a request as the provider wants it."""
    if target.provider == "openai":
        return _for_openai(given, target.rules)
    if target.provider == "mistral":
        return _for_mistral(given)
    if target.provider == "openrouter":
        given["usage"] = {"include": True}
    return given


def _for_openai(given: dict[str, Any], rules: str) -> dict[str, Any]:
    """Apply the rules that the table of models has for one of OpenAI's."""
    if "no_temperature" in rules and given.get("temperature") != 1:
        given.pop("temperature", None)
    if "completion_tokens" in rules and "max_tokens" in given:
        given["max_completion_tokens"] = given.pop("max_tokens")
    if "no_response_format" in rules:
        given.pop("response_format", None)
    if "system_as_user" in rules:
        roles = {"system": "user"}
        given["messages"] = [{**one, "role": roles.get(one["role"], one["role"])} for one in given["messages"]]
    return given


def _for_mistral(given: dict[str, Any]) -> dict[str, Any]:
    """Rename what Mistral names otherwise."""
    if "seed" in given:
        given["random_seed"] = given.pop("seed")
    if given.get("tool_choice") == ToolChoiceMode.REQUIRED:
        given["tool_choice"] = "any"
    return given


def _without_ids(value: Any) -> Any:
    """Return schemas without the ids and references that Mistral refuses."""
    if isinstance(value, Mapping):
        return {name: _without_ids(part) for name, part in value.items() if name not in ("$id", "$schema", "$ref")}
    return [_without_ids(part) for part in value] if isinstance(value, list | tuple) else value


_NO_COMPLETION = "the answer is not a chat completion"
_BAD_SHAPE = "Invalid response object"
_WRAPPER = "multi_tool_use.parallel"
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS", "compaction"})
_THOUGHTS = re.compile(
    r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>(?P<rest>.*)", re.DOTALL
)


def read_answer(exchange: Exchange, usage: UsageCheck) -> tuple[Completion, Any] | FailedCall:
    """Return the completion of an answer with the answer's JSON, or why it is none."""
    status = exchange.status or 0
    try:
        answer = loads_bounded(exchange.received)
    except (ValueError, RecursionError) as error:
        said = exchange.received.decode("utf-8", "replace").strip() or f"Error code: {status}"
        return FailedCall(said if status >= FIRST_REDIRECT else str(error), status, headers=exchange.headers)
    if status >= FIRST_REDIRECT:
        return FailedCall(f"Error code: {status} - {answer}", status, headers=exchange.headers)
    try:
        return _completion(answer, usage), answer
    except _ShapeError as error:
        return FailedCall(str(error), status, headers=exchange.headers)
    except (LookupError, TypeError, AttributeError, ValueError):
        return FailedCall(_BAD_SHAPE, status, headers=exchange.headers)


class _ShapeError(Exception):
    """An answer that is no completion."""


def _completion(answer: Any, usage: UsageCheck) -> Completion:
    choice = _first_choice(answer)
    message = choice["message"]
    reported = usage.checked(answer)
    tokens_in, tokens_out = (usage.count(name, reported.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    called = [call["function"] for call in message.get("tool_calls") or ()]
    return Completion(
        text=_text(message.get("content"), message) or _refusal(message),
        calls=tuple(part for function in called for part in _calls(function)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=None,
        notes=usage.notes,
        model=shown_name(answer.get("model")),
        fingerprint=shown_name(answer.get("system_fingerprint")),
        cut_off=choice.get("finish_reason") in _CUT_OFF,
    )


def _calls(function: Any) -> Iterator[WrittenCall]:
    """Yield a call, or those that OpenAI's models sometimes wrap in a call of a function that nobody offered."""
    name, arguments = function.get("name") or "", function.get("arguments")
    if not isinstance(name, str):
        raise TypeError
    if name != _WRAPPER:
        yield WrittenCall(name, arguments)
        return
    for use in loads_bounded(arguments)["tool_uses"]:
        yield WrittenCall(use["recipient_name"].removeprefix("functions."), json.dumps(use["parameters"]))


def _first_choice(answer: Any) -> Any:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or not choices:
        raise _ShapeError(_NO_COMPLETION)
    return choices[0]


def _text(content: Any, message: Any) -> str:
    """Return the text of a message without the thoughts before it."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError
    is_apart = not {"reasoning_content", "reasoning"}.isdisjoint(message)
    found = None if is_apart else _THOUGHTS.match(content)
    return found["rest"] if found else content


def _refusal(message: Any) -> str:
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) else ""


class DirectChat:
    """One HTTP client, made when it is first needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._client: DirectClient | None = None
        self._loading = asyncio.Lock()
        self._requests = DirectRequests()

    async def complete(self, request: Request, exchange: Exchange, usage: UsageCheck) -> Completion | FailedCall:
        """Make one attempt; the cost of the answer is by the table of models."""
        client = self._client or await self._ready()
        sent = headers(request, self._environment)
        aim = request.target
        exchange.asked, body = self._requests.body(request)
        failed = await client.post(aim.chat_url, sent, body, exchange, request.settings.timeout)
        read = failed or read_answer(exchange, usage)
        if isinstance(read, FailedCall):
            return read
        outcome, answer = read
        return replace(outcome, cost_usd=answer_cost(await model_table(), aim.provider, aim.model, answer))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> "DirectClient":
        async with self._loading:
            if self._client is None:
                made = await asyncio.to_thread(_client_class)
                self._client = made(self._environment)
        return self._client


def _client_class() -> "type[DirectClient]":
    """Load aiohttp, which takes a tenth of a second."""
    from mcp_tef.provider_http.direct_client import DirectClient

    return DirectClient
