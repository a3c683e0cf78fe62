"""Answers of OpenAI-compatible servers, read as litellm reads them."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef.llm.direct_requests import DirectRequests, headers
from mcp_tef.llm.model_table import answer_cost, model_table
from mcp_tef.llm.usage import Completion, Request, UsageCheck, shown_name
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.answer_body import FIRST_REDIRECT
from mcp_tef.provider_http.exchange import Exchange, FailedCall

if TYPE_CHECKING:
    from mcp_tef.provider_http.direct_client import DirectClient


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
        answer = json.loads(exchange.received)
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
    for use in json.loads(arguments)["tool_uses"]:
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
