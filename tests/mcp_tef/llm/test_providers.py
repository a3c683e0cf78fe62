"""How litellm is told of each provider, and where it is sought."""

import pytest

from mcp_tef.llm.providers import Target, target
from mcp_tef.model.addresses import _ADDRESSES, is_unencrypted, origin_of
from mcp_tef.model.runs import ModelSettings

KNOWN = frozenset({"openai", "anthropic", "lm_studio", "ollama_chat", "ollama", "vllm", "groq"})


@pytest.mark.parametrize(
    ("provider", "base_url", "told"),
    [
        ("openai", None, Target("openai", "m")),
        ("openai", "http://h/v1", Target("openai", "m", "http://h/v1")),
        ("anthropic", "http://h", Target("anthropic", "m", "http://h")),
        ("ollama", None, Target("ollama_chat", "m", "http://localhost:11434")),
        ("ollama", "http://h:11434", Target("ollama_chat", "m", "http://h:11434")),
        ("ollama", "http://h:11434/v1/", Target("openai", "m", "http://h:11434/v1/")),
        ("lm_studio", None, Target("lm_studio", "m", "http://localhost:1234/v1")),
        ("llama.cpp", None, Target("openai", "m", "http://localhost:8080/v1")),
        ("vllm", None, Target("openai", "m", "http://localhost:8000/v1")),
        ("my-server", "http://h/v1", Target("openai", "m", "http://h/v1")),
        ("my-server", None, Target("my-server", "m")),
        ("groq", None, Target("groq", "m")),
    ],
)
def test_each_provider_is_told_in_litellms_words(provider: str, base_url: str | None, told: Target) -> None:
    aim = target(ModelSettings(provider=provider, model="m", base_url=base_url), KNOWN)
    assert (aim.provider, aim.model, aim.address) == (told.provider, told.model, told.address)


@pytest.mark.parametrize(
    ("provider", "base_url", "origins"),
    [
        ("openai", None, {"https://api.openai.com"}),
        ("openai", "http://H:80/v1", {"http://h"}),
        ("openai", "https://h:8443/v1", {"https://h:8443"}),
        ("cohere_chat", None, {"https://api.cohere.com", "https://api.cohere.ai"}),
        ("ollama", None, {"http://localhost:11434"}),
        ("azure", None, set()),
        ("azure", "https://mine.openai.azure.com", {"https://mine.openai.azure.com"}),
        ("watsonx", "https://eu-de.ml.cloud.ibm.com", {"https://eu-de.ml.cloud.ibm.com", "https://iam.cloud.ibm.com"}),
        ("my-server", None, set()),
        ("bedrock", None, {"*.amazonaws.com", "*.amazonaws.com.cn", "*.api.aws"}),
        ("bedrock", "http://h", {"http://h"}),
    ],
)
def test_a_call_may_reach_the_origin_of_its_address_or_else_the_providers_own(
    provider: str, base_url: str | None, origins: set[str]
) -> None:
    assert target(ModelSettings(provider=provider, model="m", base_url=base_url), KNOWN).origins == origins


@pytest.mark.parametrize(
    ("environment", "base_url", "address"),
    [
        ({}, None, None),
        ({"OPENAI_API_BASE": "http://old/v1"}, None, "http://old/v1"),
        ({"OPENAI_API_BASE": "http://old/v1", "OPENAI_BASE_URL": " http://new/v1 "}, None, "http://new/v1"),
        ({"OPENAI_BASE_URL": "http://new/v1"}, "http://typed/v1", "http://typed/v1"),
        ({"ANTHROPIC_BASE_URL": "http://other"}, None, None),
    ],
)
def test_an_address_in_the_environment_counts_like_one_that_was_typed(
    environment: dict[str, str], base_url: str | None, address: str | None
) -> None:
    aim = target(ModelSettings(provider="openai", model="m", base_url=base_url), KNOWN, environment)
    assert aim.address == address
    assert aim.origins == frozenset({origin_of(address)} if address else {"https://api.openai.com"})


def test_every_origin_in_the_table_is_exact_and_encrypted_unless_it_is_this_machine() -> None:
    origins = [origin for rows, _ in _ADDRESSES.values() for origin in rows]
    assert len(origins) > 90
    assert [origin for origin in origins if origin_of(origin) != origin or is_unencrypted(origin)] == []
