"""Calls to litellm over one guarded HTTP pool; import this module only through `litellm_loader`."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import litellm
import openai
from litellm._internal_context import is_internal_call
from litellm.constants import openai_compatible_providers
from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
from openai import AsyncOpenAI

from mcp_tef.llm.completion import Breakdown, Completion, Request
from mcp_tef.llm.providers import LOCAL
from mcp_tef.llm.usage import UsageCheck, known_cost
from mcp_tef.model.secrets import Secret
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.litellm_clients import UNGUARDED_PROVIDERS, close_transports, guard_litellm, silence_pydantic

NO_KEY = "no-key"

# litellm reaches these through its own HTTP handler; other OpenAI-compatible ones through OpenAI's client.
_BY_HANDLER = frozenset({
    "anthropic", "azure_ai", "bedrock", "bedrock_mantle", "cohere", "cohere_chat", "cometapi", "compactifai",
    "databricks", "datarobot", "deepseek", "edenai", "fireworks_ai", "gemini", "groq", "heroku", "hosted_vllm",
    "huggingface", "lemonade", "minimax", "mistral", "ollama", "ollama_chat", "openrouter", "ovhcloud", "ragflow",
    "snowflake", "together_ai", "vercel_ai_gateway", "vertex_ai", "watsonx", "xai",
})  # fmt: skip
_BY_OPENAI = frozenset({"openai", "text-completion-openai"})


class LitellmHttpPool:
    """The pool, and one OpenAI client for each key and address; a key lives here until `close`."""

    def __init__(self) -> None:
        guard_litellm()
        self._handler = AsyncHTTPHandler(follow_redirects=False)
        self._clients: dict[tuple[str | None, Secret | None], AsyncOpenAI] = {}

    def client(self, provider: str, base_url: str | None, key: Secret | None) -> AsyncOpenAI | AsyncHTTPHandler | None:
        """What litellm should call this provider through; None where it must make its own."""
        if provider in _BY_HANDLER:
            return self._handler
        if provider in _BY_OPENAI or provider in openai_compatible_providers:
            return self._openai(base_url, key)
        return None

    async def close(self) -> None:
        """Close the pool and forget every key, also in litellm's own cache."""
        self._clients.clear()
        await self._handler.client.aclose()
        await close_transports()
        await close_litellm_async_clients()  # type: ignore[no-untyped-call]  # litellm annotates no return
        litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]  # litellm annotates no return

    def _openai(self, base_url: str | None, key: Secret | None) -> AsyncOpenAI:
        found = self._clients.get((base_url, key))
        if found is None:
            shown = key.reveal() if key else NO_KEY
            found = AsyncOpenAI(api_key=shown, base_url=base_url, http_client=self._handler.client, max_retries=0)
            self._clients[base_url, key] = found
        return found


def warm_openai() -> None:
    """Load the parts of OpenAI's library that it loads when they are first touched."""
    assert AsyncOpenAI(api_key=NO_KEY).chat.completions.with_raw_response


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
        self._wire = LitellmHttpPool()

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
