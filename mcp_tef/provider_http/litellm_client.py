"""Client of litellm for chats and embeddings over one guarded HTTP pool; import it only through `litellm_loader`."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import httpx
import litellm
import openai
from openai import AsyncOpenAI

from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall, under_way
from mcp_tef.provider_http.litellm_internals import (
    OPENAI_COMPATIBLE,
    UNGUARDED_PROVIDERS,
    AsyncHTTPHandler,
    close_clients,
    guard_litellm,
    reported_cost,
    silence_pydantic,
    without_callbacks,
)

Answer = TypeVar("Answer")

NO_KEY = "no-key"
PROVIDERS = frozenset(str(getattr(name, "value", name)) for name in litellm.provider_list) - UNGUARDED_PROVIDERS

# litellm takes a client of ours only if it is of the kind that a provider's code expects, and that differs between
# chats and embeddings. For all other providers it makes a client of its own.
_CHAT_BY_HANDLER = frozenset({
    "anthropic", "azure_ai", "bedrock", "bedrock_mantle", "cohere", "cohere_chat", "cometapi", "compactifai",
    "databricks", "datarobot", "deepseek", "edenai", "fireworks_ai", "gemini", "groq", "heroku", "hosted_vllm",
    "huggingface", "lemonade", "minimax", "mistral", "ollama", "ollama_chat", "openrouter", "ovhcloud", "ragflow",
    "snowflake", "together_ai", "vercel_ai_gateway", "vertex_ai", "watsonx", "xai",
})  # fmt: skip
_CHAT_BY_OPENAI = frozenset({"openai", "text-completion-openai", *OPENAI_COMPATIBLE})
_EMBEDDING_BY_OPENAI = frozenset({
    "openai", "together_ai", "nvidia_nim", "litellm_proxy", "mistral", "fireworks_ai", "nebius", "wandb", "xinference",
    *OPENAI_COMPATIBLE,
})  # fmt: skip
_EMBEDDING_BY_ITSELF = frozenset({"azure", "bedrock", "ollama", "oobabooga", "sagemaker"})

# Besides its own errors, litellm lets these through for answers in an unexpected shape and for missing libraries.
_FOREIGN_ERRORS = (
    openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError, LookupError, ValueError, TypeError, AttributeError,
    ImportError, AssertionError, ArithmeticError, RuntimeError,
)  # fmt: skip
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai")


class LitellmClient:
    """litellm with its printing, telemetry, retries and callbacks off. Keys live here until `close`."""

    providers = PROVIDERS

    def __init__(self) -> None:
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        guard_litellm()
        self._handler = AsyncHTTPHandler(follow_redirects=False)
        self._clients: dict[tuple[str | None, Secret | None], AsyncOpenAI] = {}

    async def complete(
        self,
        call: ModelCall,
        exchange: Exchange,
        read: Callable[[litellm.ModelResponse, float | None], Answer],
        options: Mapping[str, Any],
    ) -> Answer | FailedCall:
        """Make one attempt at a chat completion, and read the answer with the cost that litellm reports for it.

        `options` are named as litellm names them.
        """

        async def send() -> Answer:
            answer = await self._completion(call, options)
            return read(answer, reported_cost(answer))

        return await _attempt(exchange, call.seconds, send)

    async def embed(self, call: ModelCall, exchange: Exchange, texts: list[str]) -> list[dict[str, Any]] | FailedCall:
        """Make one attempt at embedding texts; return the rows of the answer (`index`, `embedding`) as they came."""
        return await _attempt(exchange, call.seconds, lambda: self._embedding(call, texts))

    async def close(self) -> None:
        """Close the pool and what litellm opened beside it, and forget every key."""
        self._clients.clear()
        await self._handler.client.aclose()
        await close_clients()

    async def _completion(self, call: ModelCall, options: Mapping[str, Any]) -> litellm.ModelResponse:
        client: AsyncOpenAI | AsyncHTTPHandler | None = None
        if call.provider in _CHAT_BY_HANDLER:
            client = self._handler
        elif call.provider in _CHAT_BY_OPENAI:
            client = self._openai(call)
        arguments = {**_arguments(call), **options, "base_url": call.address, "client": client}
        answer = await litellm.acompletion(**_given(arguments), drop_params=True)
        if not isinstance(answer, litellm.ModelResponse) or not answer.choices:
            raise TypeError("the answer is not a chat completion")
        return answer

    async def _embedding(self, call: ModelCall, texts: list[str]) -> list[dict[str, Any]]:
        client: AsyncOpenAI | AsyncHTTPHandler | None = None
        by_openai = call.provider in _EMBEDDING_BY_OPENAI
        if by_openai and (call.key or call.address):
            client = self._openai(call)
        elif not by_openai and call.provider not in _EMBEDDING_BY_ITSELF:
            client = self._handler
        arguments = {**_arguments(call), "api_base": call.address, "client": client}
        arguments["encoding_format"] = "float" if by_openai else None
        answer = await litellm.aembedding(**_given(arguments), input=texts)
        return [dict(row) for row in answer.data or ()]

    def _openai(self, call: ModelCall) -> AsyncOpenAI:
        """Return the client of OpenAI's library for a key and an address, the provider's own if none was given."""
        address = call.address or litellm.get_llm_provider(call.label)[3]
        if (address, call.key) not in self._clients:
            self._clients[address, call.key] = AsyncOpenAI(
                api_key=call.key.reveal() if call.key else NO_KEY,
                base_url=address,
                http_client=self._handler.client,
                max_retries=0,
            )
        return self._clients[address, call.key]


async def _attempt(exchange: Exchange, seconds: float, send: Callable[[], Awaitable[Answer]]) -> Answer | FailedCall:
    """Return an answer, or its failure as text: the exceptions themselves hold the key in their frames."""
    silence_pydantic()
    try:
        with under_way(exchange), without_callbacks():
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                return await send()
    except (TimeoutError, openai.APITimeoutError) as error:
        return FailedCall(str(error), timed_out=True)
    except _FOREIGN_ERRORS as error:
        return FailedCall(str(error), status=_status(error), headers=_headers(error))


_GRACE_SECONDS = 2.0
"""The library's own timeout comes first, and closes its connection properly."""


def rehearse_chat(*, tools: bool) -> None:
    """Load what litellm and OpenAI's library load during the first call; nothing is sent."""
    asked = {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": "Hello."}], "mock_response": "Hello."}
    parameters = {"type": "object", "properties": {}}
    offered = [{"type": "function", "function": {"name": "greet", "parameters": parameters}}] if tools else None
    with without_callbacks():
        litellm.completion(**asked, **_given({"tools": offered}))
    assert AsyncOpenAI(api_key=NO_KEY).chat.completions.with_raw_response


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _arguments(call: ModelCall) -> dict[str, Any]:
    """Return what chats and embeddings share. litellm demands a key for every address, so a made-up one stands in."""
    made_up = NO_KEY if call.address else None
    key = call.key.reveal() if call.key else made_up
    return {"model": call.label, "api_key": key, "timeout": call.seconds, "num_retries": 0, "max_retries": 0}


def _status(error: Exception) -> int | None:
    """Return the status of the answer; None where litellm made one up for a connection that failed."""
    status = getattr(error, "status_code", None)
    return None if not isinstance(status, int) or "Connection error" in str(error) else status


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the headers of the answer as litellm kept them, names in lower case."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    return {str(name).lower(): str(value) for name, value in headers.items()}
