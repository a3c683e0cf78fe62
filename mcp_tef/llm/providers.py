"""Facts about providers: key variables, providers without keys, and how litellm addresses each."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_tef.llm.direct_providers import DIRECT_PROVIDERS
from mcp_tef.model.addresses import (
    OWN_CREDENTIALS,
    allowed_origins,
    environment_address,
    own_origins,
    providers_with_address,
)
from mcp_tef.model.runs import OFFLINE_PROVIDER, ModelSettings

LOCAL = frozenset({
    "docker_model_runner", "hosted_vllm", "lemonade", "llama.cpp", "llamacpp", "llamafile", "lm_studio", "lmstudio",
    "local", "ollama", "ollama_chat", "oobabooga", "petals", "triton", "vllm", "xinference",
})  # fmt: skip

_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "anthropic_text": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "azure_ai": ("AZURE_AI_API_KEY",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
    "exa_ai": ("EXA_API_KEY", "EXA_AI_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "huggingface": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "meta_llama": ("LLAMA_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "qwen_ai_platform": ("QWEN_AI_PLATFORM_API_KEY", "DASHSCOPE_API_KEY"),
    "replicate": ("REPLICATE_API_KEY", "REPLICATE_API_TOKEN"),
    "watsonx": ("WATSONX_API_KEY", "WATSONX_APIKEY"),
}
_NO_VARIABLES: Mapping[str, str] = {}
_OPENAI_COMPATIBLE = frozenset({"llama.cpp", "llamacpp", "lmstudio", "local", "vllm"})


_USUAL_ADDRESS: Mapping[str, str] = {
    **{name: known.address for name, known in DIRECT_PROVIDERS.items() if name in LOCAL and known.address},
    "ollama": "http://localhost:11434",
    "ollama_chat": "http://localhost:11434",
}


KNOWN = frozenset({OFFLINE_PROVIDER}) | LOCAL | OWN_CREDENTIALS | frozenset(_VARIABLES) | providers_with_address()


@dataclass(frozen=True, slots=True)
class Target:
    """A model as litellm is told of it, and where; no address where the provider has its own.

    `origins` may be reached by calls: that of the address, else the provider's own. An empty set means that the
    provider has no known address. `chat_url` is where it is asked directly; empty where litellm asks it. `rules` are
    those of the table of models for its requests.
    """

    provider: str
    model: str
    address: str | None = None
    origins: frozenset[str] = frozenset()
    chat_url: str = ""
    rules: str = ""

    @property
    def label(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def direct(self) -> bool:
        """True if it is an OpenAI-compatible server of the user's own, which takes tools as they are."""
        return self.provider == "openai" and self.address is not None


def key_variables(provider: str) -> tuple[str, ...]:
    """Return the environment variables that may hold a provider's key, the usual one first; none for local ones."""
    if provider == OFFLINE_PROVIDER:
        return ()
    plain = "".join(char if char.isalnum() else "_" for char in provider).upper()
    known = DIRECT_PROVIDERS.get(provider)
    return _VARIABLES.get(provider) or (known and known.variables) or (f"{plain}_API_KEY",)


def wants_key(settings: ModelSettings) -> bool:
    """Return True if a call to this model is bound to fail without a key: a cloud provider at its own address."""
    return not (
        settings.offline or settings.base_url or settings.provider in LOCAL or settings.provider in OWN_CREDENTIALS
    )


def target(settings: ModelSettings, known: frozenset[str], environment: Mapping[str, str] = _NO_VARIABLES) -> Target:
    """Return a model as litellm addresses it; `known` are litellm's providers.

    An address that the environment sets for the provider is given to litellm like one that was typed, so that no
    address is left for litellm to find by itself.

    Ollama is asked by its chat interface, which has tool calling; a local or unknown name with an address
    is an OpenAI-compatible server. Local servers without a base url are sought at their usual port.
    """
    set_here = environment_address(settings.provider, environment)
    address = settings.base_url or set_here or _USUAL_ADDRESS.get(settings.provider)
    spoken = _spoken(settings.provider, address, known)
    return Target(spoken, settings.model, address, _origins(settings.provider, spoken, address))


def _origins(provider: str, spoken: str, address: str | None) -> frozenset[str]:
    return allowed_origins(provider, address) or own_origins(spoken)


def _spoken(provider: str, address: str | None, known: frozenset[str]) -> str:
    if provider in ("ollama", "ollama_chat"):
        return "openai" if address and address.rstrip("/").endswith("/v1") else "ollama_chat"
    foreign = provider not in known or provider in _OPENAI_COMPATIBLE
    return "openai" if address and foreign else provider
