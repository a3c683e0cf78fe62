"""How litellm is told of each provider, and where it is sought."""

import pytest

from mcp_tef.llm.providers import Target, target
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
    assert target(ModelSettings(provider=provider, model="m", base_url=base_url), KNOWN) == told
