"""The one place that calls litellm; import it through `loading`, which sets the scene first."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import litellm
import openai
from litellm._internal_context import is_internal_call

from mcp_tef.llm.exchange import Breakdown, Completion, Request
from mcp_tef.llm.providers import LOCAL
from mcp_tef.llm.usage import UsageCheck, known_cost
from mcp_tef.llm.wire import NO_KEY, Wire, warm_openai
from mcp_tef.prompts.reading import WrittenCall
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.litellm_clients import UNGUARDED_PROVIDERS, silence_pydantic

_MODEL = "openai/gpt-4o"
_HELLO = [{"role": "user", "content": "Hello."}]
_TOOLS = [{"type": "function", "function": {"name": "greet", "parameters": {"type": "object", "properties": {}}}}]
PROVIDERS = frozenset(str(getattr(name, "value", name)) for name in litellm.provider_list) - UNGUARDED_PROVIDERS
FOREIGN_ERRORS = (
    openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError, LookupError, ValueError, TypeError, AttributeError,
    ImportError, AssertionError, ArithmeticError, RuntimeError,
)  # fmt: skip
GRACE_SECONDS = 2.0
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai")


class Backend:
    """litellm with its printing, telemetry, retries and callbacks off."""

    providers = PROVIDERS

    def __init__(self) -> None:
        self._wire = Wire()

    async def complete(self, request: Request, exchange: Exchange) -> Completion | Breakdown:
        """One attempt, no retries; what goes over the wire is written down in `exchange`.

        Errors come back as their words, because the exceptions themselves hold the key in their frames.
        """
        silence_pydantic()
        usage = UsageCheck()
        exchange.rewrite = usage.clean
        try:
            with under_way(exchange), _unlogged():
                async with asyncio.timeout(request.timeout + GRACE_SECONDS):
                    answer = await litellm.acompletion(**self._arguments(request))
            return _completion(answer, request, usage, watched=bool(exchange.received))
        except (TimeoutError, openai.APITimeoutError) as error:
            return Breakdown(str(error), timed_out=True)
        except FOREIGN_ERRORS as error:
            return Breakdown(str(error), status=_status(error), headers=_headers(error))

    async def close(self) -> None:
        """Give back connections and forget keys."""
        await self._wire.close()

    def _arguments(self, request: Request) -> dict[str, Any]:
        """What litellm is given. To a direct target the tools go as they are.

        OpenAI's library would spend a third of the time of a call on walking through their schemas.
        """
        address = request.target.address
        tools = list(request.tools) or None
        key = request.key.reveal() if request.key else NO_KEY if address else None
        arguments: dict[str, Any] = {
            "model": request.target.label,
            "messages": list(request.messages),
            "temperature": request.temperature,
            "timeout": request.timeout,
            "api_key": key,
            "base_url": address,
            "client": self._wire.client(request.target.provider, address or _home(request), request.key),
            "tools": None if request.target.direct else tools,
            "extra_body": {"tools": tools} if request.target.direct and tools else None,
            "response_format": {"type": "json_object"} if request.json_only else None,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        return {name: value for name, value in arguments.items() if value is not None}


def _status(error: Exception) -> int | None:
    """The status of the answer; None where litellm made one up for a connection that failed."""
    status = getattr(error, "status_code", None)
    return None if not isinstance(status, int) or "Connection error" in str(error) else status


def _headers(error: Exception) -> Mapping[str, str]:
    """The headers of the answer as litellm kept them, names in lower case."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _home(request: Request) -> str | None:
    """The provider's own address, for the client that is handed to litellm."""
    address: str | None = litellm.get_llm_provider(request.target.label)[3]
    return address


def _completion(answer: object, request: Request, usage: UsageCheck, *, watched: bool) -> Completion:
    if not isinstance(answer, litellm.ModelResponse) or not answer.choices:
        raise TypeError("the answer is not a chat completion")
    message: Any = answer.choices[0].message
    reported: Any = getattr(answer, "usage", None)
    tokens_in, tokens_out = (
        usage.count(name, getattr(reported, name, None)) for name in ("prompt_tokens", "completion_tokens")
    )
    return Completion(
        text=_said(message),
        calls=tuple(_written(call) for call in message.tool_calls or ()),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        # litellm computes the cost from the usage, so doubtful usage has no cost.
        cost_usd=None if usage.notes else known_cost(_cost(answer, request.target.provider)),
        notes=usage.notes,
        raw=None if watched else answer.model_dump(mode="json"),
    )


def _said(message: Any) -> str:
    """What was answered in words; providers keep a refusal apart, with no other words beside it."""
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return next((text for text in (message.content, refusal) if isinstance(text, str) and text), "")


def _written(call: Any) -> WrittenCall:
    return WrittenCall(call.function.name or "", call.function.arguments)


def _cost(answer: litellm.ModelResponse, provider: str) -> float | None:
    """In US dollars; litellm's 0 means unknown, except for models that run on the user's own machine."""
    cost = answer._hidden_params.get("response_cost")  # noqa: SLF001  # litellm's documented place for it
    return float(cost) if cost or (cost is not None and provider in LOCAL) else None


def prepare() -> None:
    """Turn off what litellm says and tells, and load what it would load during the first call."""
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _unlogged():
        litellm.completion(model=_MODEL, messages=_HELLO, mock_response="Hello.")
    warm_openai()


def prepare_tools() -> None:
    """Load what litellm would load during the first call with tools."""
    with _unlogged():
        litellm.completion(model=_MODEL, messages=_HELLO, tools=_TOOLS, mock_response="Hello.")


@contextmanager
def _unlogged() -> Iterator[None]:
    """Spare the call litellm's success callbacks, which would run in tasks of their own."""
    token = is_internal_call.set(True)
    try:
        yield
    finally:
        is_internal_call.reset(token)
