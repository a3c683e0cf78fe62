"""The table of providers' addresses against litellm, for the providers that most people use."""

from mcp_tef.embedding.provider import Providers
from mcp_tef.llm.litellm_loader import new_backend
from mcp_tef.model.addresses import own_origins
from tests.support.litellm_addresses import origins_of, variables_without_effect

USUAL = (
    "anthropic",
    "cohere_chat",
    "deepseek",
    "gemini",
    "groq",
    "mistral",
    "openai",
    "openrouter",
    "together_ai",
    "xai",
)


async def test_litellm_goes_to_the_origins_of_the_table_and_is_moved_by_its_variables() -> None:
    backend, embedding = await new_backend(), Providers()
    for provider in USUAL:
        found = await origins_of(provider, backend, embedding)
        assert found
        assert found <= own_origins(provider)
    assert await variables_without_effect("anthropic", backend, embedding) == set()
    await backend.close()
    await embedding.close()
