"""Embedding calls through litellm; import this module only through `provider`, which sets up litellm first."""

import asyncio
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import litellm
import openai
from litellm._internal_context import is_internal_call
from litellm.constants import openai_compatible_providers
from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from mcp_tef.embedding.vector_validation import rows_of
from mcp_tef.model.secrets import Secret
from mcp_tef.model.variables import size_words
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.litellm_clients import UNGUARDED_PROVIDERS, close_transports, guard_litellm, silence_pydantic

TIMEOUT_SECONDS = 60.0
NO_KEY = "no-key"

_PROVIDERS = frozenset(str(getattr(name, "value", name)) for name in litellm.provider_list) - UNGUARDED_PROVIDERS
_OWN_SERVERS = frozenset({"llama.cpp", "llamacpp", "llamafile", "lm_studio", "lmstudio", "local", "vllm"})
_BY_OPENAI = frozenset({
    "openai", "together_ai", "nvidia_nim", "litellm_proxy", "mistral", "fireworks_ai", "nebius", "wandb", "xinference",
    *openai_compatible_providers,
})  # fmt: skip
_BY_ITSELF = frozenset({"azure", "bedrock", "ollama", "oobabooga", "sagemaker"})
_FOREIGN_ERRORS = (
    openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, OSError, LookupError, ValueError, TypeError, AttributeError,
    ImportError, AssertionError, ArithmeticError, RuntimeError,
)  # fmt: skip
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "httpcore", "openai")
_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w*(?:Error|Exception|Timeout)\s*(?::|-)\s*)+")


@dataclass(frozen=True, slots=True)
class Failure:
    """A call without an answer: the status, None where there was none, and what was said."""

    status: int | None
    detail: str


class Calls:
    """litellm with its printing, telemetry, retries and callbacks off, over a pool of our own."""

    def __init__(self) -> None:
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        guard_litellm()
        self._handler = AsyncHTTPHandler(timeout=TIMEOUT_SECONDS, follow_redirects=False)

    async def embed(
        self, model: str, texts: Sequence[str], base_url: str, key: Secret | None, exchange: Exchange
    ) -> list[Any] | Failure:
        """The vectors as they came. Errors come back as words: the exceptions hold the key in their frames."""
        silence_pydantic()
        try:
            with under_way(exchange), _unlogged():
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    answer = await litellm.aembedding(**self._arguments(model, texts, base_url, key))
            rows: list[Any] = rows_of({"data": [dict(row) for row in answer.data or ()]})
            return rows
        except (TimeoutError, openai.APITimeoutError):
            return Failure(None, f"it did not answer within {TIMEOUT_SECONDS:g} seconds")
        except _FOREIGN_ERRORS as error:
            if exchange.refused_origin:
                return Failure(None, f"the call would have gone on to {exchange.refused_origin}")
            if exchange.too_large:
                return Failure(None, f"its answer is larger than {size_words(exchange.most_bytes)}")
            return Failure(_status(error), _PREFIX.sub("", str(error)).partition("Traceback (most")[0])

    async def close(self) -> None:
        """Close the pool and what litellm opened beside it, and forget every key, also in litellm's own cache."""
        await self._handler.client.aclose()
        await close_transports()
        await close_litellm_async_clients()  # type: ignore[no-untyped-call]  # litellm annotates no return
        litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]  # litellm annotates no return

    def _arguments(self, model: str, texts: Sequence[str], base_url: str, key: Secret | None) -> dict[str, Any]:
        provider, name = _spoken(model, base_url)
        shown = key.reveal() if key else NO_KEY if base_url else None
        arguments: dict[str, Any] = {
            "model": f"{provider}/{name}",
            "input": list(texts),
            "api_key": shown,
            "api_base": base_url or None,
            "client": self._client(provider, f"{provider}/{name}", base_url, shown),
            "encoding_format": "float" if provider in _BY_OPENAI else None,
            "timeout": TIMEOUT_SECONDS,
            "num_retries": 0,
            "max_retries": 0,
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def _client(self, provider: str, label: str, base_url: str, key: str | None) -> Any:
        """What litellm should call this provider through; None where it must make its own."""
        if provider in _BY_OPENAI and key:
            address = base_url or litellm.get_llm_provider(label)[3]
            return openai.AsyncOpenAI(api_key=key, base_url=address, http_client=self._handler.client, max_retries=0)
        return None if provider in _BY_OPENAI | _BY_ITSELF else self._handler


def _spoken(model: str, base_url: str) -> tuple[str, str]:
    """Provider and model as litellm knows them; a name of its own with an address is an OpenAI-compatible server."""
    provider, _, name = model.partition("/")
    foreign = provider not in _PROVIDERS or provider in _OWN_SERVERS
    return ("openai", name or provider) if base_url and foreign else (provider, name)


def _status(error: Exception) -> int | None:
    """The status of the answer; None where litellm made one up for a connection that failed."""
    status = getattr(error, "status_code", None)
    return None if not isinstance(status, int) or "Connection error" in str(error) else status


@contextmanager
def _unlogged() -> Iterator[None]:
    """Spare the call litellm's success callbacks, which would run in tasks of their own."""
    token = is_internal_call.set(True)
    try:
        yield
    finally:
        is_internal_call.reset(token)
