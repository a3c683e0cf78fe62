"""The table of providers' addresses against litellm, for the providers that most people use."""

from mcp_tef.model.addresses import own_origins
from mcp_tef.provider_http.litellm_loader import new_client
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
    client = await new_client()
    for provider in USUAL:
        found = await origins_of(provider, client)
        assert found
        assert found <= own_origins(provider)
    assert await variables_without_effect("anthropic", client) == set()
    await client.close()
