"""One HTTP pool under litellm, guarded by our transport; imported only with litellm loaded."""

import litellm
from litellm.constants import openai_compatible_providers
from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
from openai import AsyncOpenAI

from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.litellm_clients import close_transports, guard_litellm

NO_KEY = "no-key"

# litellm reaches these through its own HTTP handler; other OpenAI-compatible ones through OpenAI's client.
_BY_HANDLER = frozenset({
    "anthropic", "azure_ai", "bedrock", "bedrock_mantle", "cohere", "cohere_chat", "cometapi", "compactifai",
    "databricks", "datarobot", "deepseek", "edenai", "fireworks_ai", "gemini", "groq", "heroku", "hosted_vllm",
    "huggingface", "lemonade", "minimax", "mistral", "ollama", "ollama_chat", "openrouter", "ovhcloud", "ragflow",
    "snowflake", "together_ai", "vercel_ai_gateway", "vertex_ai", "watsonx", "xai",
})  # fmt: skip
_BY_OPENAI = frozenset({"openai", "text-completion-openai"})


class Wire:
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
