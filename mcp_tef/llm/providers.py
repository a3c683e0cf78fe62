"""Providers that are asked directly: which models, at which addresses, with which key variables; the source of each.

Each was compared with litellm 1.106.2: it asks them at the same address with the same body, apart from what
`direct_chat` does for OpenAI's and Mistral's models. `tests/mcp_tef/llm/test_direct_equality.py` compares again.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mcp_tef.llm.model_table import ModelTable
from mcp_tef.model.addresses import (
    OWN_CREDENTIALS,
    allowed_origins,
    environment_address,
    host_of,
    is_custom,
    own_origins,
    providers_with_address,
)
from mcp_tef.model.runs import OFFLINE_PROVIDER, ModelSettings


class DirectProvider(NamedTuple):
    """A provider that speaks OpenAI's protocol. Without an `address` it is asked only where one is given."""

    address: str
    source: str
    variables: tuple[str, ...] = ()


DIRECT_PROVIDERS: Mapping[str, DirectProvider] = {
    "ai21_chat": DirectProvider("https://api.ai21.com/studio/v1", "docs.ai21.com", ("AI21_API_KEY",)),
    "aiml": DirectProvider("https://api.aimlapi.com/v1", "docs.aimlapi.com"),
    "baseten": DirectProvider("https://inference.baseten.co/v1", "docs.baseten.co"),
    "cerebras": DirectProvider("https://api.cerebras.ai/v1", "inference-docs.cerebras.ai"),
    "dashscope": DirectProvider(
        "https://dashscope.aliyuncs.com/compatible-mode/v1", "help.aliyun.com/zh/model-studio", ("DASHSCOPE_API_KEY",)
    ),
    "deepseek": DirectProvider("https://api.deepseek.com/beta", "api-docs.deepseek.com"),
    "docker_model_runner": DirectProvider("http://localhost:22088/engines/llama.cpp", "docs.docker.com/ai"),
    "friendliai": DirectProvider("https://api.friendli.ai/serverless/v1", "friendli.ai/docs"),
    "github": DirectProvider("https://models.inference.ai.azure.com", "docs.github.com/github-models"),
    "groq": DirectProvider("https://api.groq.com/openai/v1", "console.groq.com/docs/openai"),
    "hosted_vllm": DirectProvider("http://localhost:8000/v1", "docs.vllm.ai"),
    "hyperbolic": DirectProvider("https://api.hyperbolic.xyz/v1", "docs.hyperbolic.xyz"),
    "lambda_ai": DirectProvider("https://api.lambda.ai/v1", "docs.lambda.ai"),
    "lemonade": DirectProvider("http://localhost:8000/api/v1", "lemonade-server.ai/docs"),
    "litellm_proxy": DirectProvider("", "docs.litellm.ai/docs/simple_proxy"),
    "llama.cpp": DirectProvider("http://localhost:8080/v1", "github.com/ggml-org/llama.cpp/tree/master/tools/server"),
    "llamacpp": DirectProvider("http://localhost:8080/v1", "github.com/ggml-org/llama.cpp/tree/master/tools/server"),
    "llamafile": DirectProvider("http://localhost:8080/v1", "github.com/mozilla-ai/llamafile"),
    "lm_studio": DirectProvider("http://localhost:1234/v1", "lmstudio.ai/docs/app/api/endpoints/openai"),
    "lmstudio": DirectProvider("http://localhost:1234/v1", "lmstudio.ai/docs/app/api/endpoints/openai"),
    "mistral": DirectProvider("https://api.mistral.ai/v1", "docs.mistral.ai/api"),
    "modelscope": DirectProvider("https://api-inference.modelscope.cn/v1", "modelscope.cn/docs"),
    "nebius": DirectProvider("https://api.studio.nebius.ai/v1", "docs.nebius.com/studio"),
    "nvidia_nim": DirectProvider("https://integrate.api.nvidia.com/v1", "docs.api.nvidia.com/nim"),
    "openai": DirectProvider("https://api.openai.com/v1", "platform.openai.com/docs/api-reference"),
    "openrouter": DirectProvider(
        "https://openrouter.ai/api/v1", "openrouter.ai/docs/api-reference", ("OPENROUTER_API_KEY", "OR_API_KEY")
    ),
    "ovhcloud": DirectProvider("https://oai.endpoints.kepler.ai.cloud.ovh.net/v1", "help.ovhcloud.com"),
    "qwencloud": DirectProvider(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "alibabacloud.com/help/en/model-studio",
        ("QWENCLOUD_API_KEY", "DASHSCOPE_API_KEY"),
    ),
    "tencent": DirectProvider("https://tokenhub-intl.tencentcloudmaas.com/v1", "intl.cloud.tencent.com"),
    "together_ai": DirectProvider(
        "https://api.together.ai/v1",
        "docs.together.ai/docs/openai-api-compatibility",
        ("TOGETHERAI_API_KEY", "TOGETHER_AI_TOKEN", "TOGETHER_API_KEY"),
    ),
    "vllm": DirectProvider("http://localhost:8000/v1", "docs.vllm.ai"),
    "wandb": DirectProvider("https://api.inference.wandb.ai/v1", "docs.wandb.ai/inference"),
    "xai": DirectProvider("https://api.x.ai/v1", "docs.x.ai/docs/api-reference"),
    "xinference": DirectProvider("http://localhost:9997/v1", "inference.readthedocs.io"),
}
"""By the name that people write. A provider under any other name is asked so where only its address is given."""

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
    """A model as litellm names it, and its address; no address where the provider has its own.

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


PATH = "/chat/completions"
LITELLM = "litellm"
KEEPS_REFERENCES = LOCAL | {
    "anthropic", "azure", "cohere", "cohere_chat", "deepseek", "groq", "mistral", "openai", "openrouter", "xai",
}  # fmt: skip
"""Providers to which litellm sends schemas as they are; for all others `$ref` may be written out."""
OPENAI = DIRECT_PROVIDERS["openai"].address


_SERIES = re.compile(r"(?:.*/)?gpt-(\d+)(?:\.(\d+))?")
_NEEDS_A_RULE = re.compile(r"gpt-[56]|^responses/")
_FIRST_BY_RESPONSES = (5, 4)
_NO_ROW: Mapping[str, Any] = {}


def directly(aim: Target, table: ModelTable) -> Target:
    """Return a target with the address at which it is asked directly; unchanged where only litellm can ask it.

    litellm asks some models by another interface of OpenAI's, and those of the series GPT-5 that it does not know by
    their names.
    """
    row = table.rows.get(f"{aim.provider}/{aim.model}", _NO_ROW)
    # Prices that depend on the hour or on the length of the prompt are computed by litellm only.
    is_priced_there = "special_prices" in row and not is_custom(aim.provider, aim.address)
    if row.get("mode") == "responses" or is_priced_there:
        return aim
    rules = table.openai_rules.get(aim.model, "") if aim.provider == "openai" else ""
    if aim.provider == "openai" and not _can_be_asked(aim, rules):
        return aim
    return replace(aim, chat_url=chat_url(aim.provider, aim.address), rules=rules)


def _can_be_asked(aim: Target, rules: str) -> bool:
    """Return True if the rules of a model of OpenAI's are known, and litellm is not among them."""
    return rules != LITELLM and (not _NEEDS_A_RULE.search(aim.model) or _has_rule(aim, rules))


def _has_rule(aim: Target, rules: str) -> bool:
    """Return True if the table says how a model of the series GPT-5 is asked where this one is.

    At OpenAI's own address the later ones take tools by another interface only.
    """
    series = _SERIES.match(aim.model)
    later = series is not None and (int(series[1]), int(series[2] or 0)) >= _FIRST_BY_RESPONSES
    return bool(rules) and not (later and host_of(aim.address or OPENAI).endswith(".openai.com"))


def chat_url(provider: str, address: str | None) -> str:
    """Return where chats with a provider are sent; empty where they cannot be asked for directly.

    Addresses with a query belong to other protocols, and litellm knows how to ask there.
    """
    known = DIRECT_PROVIDERS.get(provider)
    if known is None:
        return ""
    base = (address or known.address).rstrip("/")
    if not base or set(base) & set("?#"):
        return ""
    needs_version = provider == "mistral" and not base.endswith(("/v1", PATH))
    whole = f"{base}/v1" if needs_version else base
    return whole if whole.endswith(PATH) else whole + PATH
