"""Origins (scheme, host and port) to which keys are bound, and the addresses of known providers.

The provider table is derived from the code of litellm 1.106.2 by running each provider with a key: the origins are
those of its chat and embedding requests, and the variables are those that it reads and that move these requests.
`tests/benchmarks/provider_addresses.py` derives the table again and prints the differences.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mcp_tef.errors import InputError

Network = IPv4Network | IPv6Network
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Destination(NamedTuple):
    """Provider and address that a key would be sent to; no address means the provider's own."""

    provider: str
    base_url: str | None = None


@lru_cache(maxsize=1024)
def origin_of(url: str) -> str:
    """Return `scheme://host[:port]` in lower case, without user info and without the scheme's default port.

    Returns:
        The origin, or an empty string if the text is not an http or https address with a host in ASCII letters.
    """
    parts = _split(url)
    if parts is None or not parts.hostname or parts.scheme not in _DEFAULT_PORTS:
        return ""
    host = parts.hostname.rstrip(".")
    if not host.isascii():
        return ""  # Libraries encode such names in different ways (IDNA 2003 and 2008), so none is taken for another.
    shown = f"[{host}]" if ":" in host else host
    port = parts.port
    return f"{parts.scheme}://{shown}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def is_loopback(url: str) -> bool:
    """Return True if an address or origin leads to this machine."""
    host = host_of(url)
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def is_unencrypted(url: str, trusted: Sequence[Network] = ()) -> bool:
    """Return True if a secret sent to this address could be read on the way: plain http to another machine.

    Args:
        url: address or origin.
        trusted: networks that the user chose to trust; hosts given by IP address in them count as safe.
    """
    if not url.lower().startswith("http://") or is_loopback(url):
        return False
    try:
        host = ip_address(host_of(url))
    except ValueError:
        return True
    return not any(host in network for network in trusted)


def host_of(url: str) -> str:
    """Return the host of an address in lower case; an empty string if there is none."""
    parts = _split(url)
    return parts.hostname.rstrip(".") if parts is not None and parts.hostname else ""


def has_user_info(url: str) -> bool:
    """Return True if an address holds a user name or password (`https://user:password@host`)."""
    parts = _split(url)
    return parts is not None and "@" in parts.netloc


def without_user_info(url: str) -> str:
    """Return the address without user name and password; other texts stay as they are."""
    parts = _split(url)
    if parts is None or "@" not in parts.netloc:
        return url
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def required_origin(address: str) -> str:
    """Return the origin of an address that keys may be bound to; InputError where it has none."""
    origin = origin_of(address)
    if not origin:
        raise InputError(
            f"{address!a} is no address of a model.",
            hint="Write one that begins with https:// or http://, with a host in plain letters.",
        )
    return origin


def _split(url: str) -> SplitResult | None:
    """Parse an address; None if it is malformed, its port included."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


OWN_CREDENTIALS = frozenset({
    "bedrock", "bedrock_converse", "bedrock_mantle", "chatgpt", "gigachat", "github_copilot", "oci", "sagemaker",
    "sagemaker_chat", "sap", "snowflake", "vertex_ai", "vertex_ai_beta",
})  # fmt: skip
"""Providers that sign in by credentials of their own, with no key of ours."""

SENDS_CREDENTIALS = OWN_CREDENTIALS | {"databricks", "watsonx", "watsonx_text"}
"""Providers whose requests carry credentials that litellm finds by itself, whether there is a key or not."""

_AWS = frozenset({"*.amazonaws.com", "*.amazonaws.com.cn", "*.api.aws"})
_CREDENTIAL_HOSTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("bedrock", "bedrock_converse", "bedrock_mantle", "sagemaker", "sagemaker_chat"), _AWS),
    **dict.fromkeys(("vertex_ai", "vertex_ai_beta"), frozenset({"*.googleapis.com"})),
    "chatgpt": frozenset({"https://chatgpt.com", "*.chatgpt.com", "*.openai.com"}),
    "gigachat": frozenset({"*.sberbank.ru"}),
    "github_copilot": frozenset({"https://github.com", "https://api.github.com", "*.githubcopilot.com"}),
    "oci": frozenset({"*.oraclecloud.com"}),
    "sap": frozenset({"*.hana.ondemand.com"}),
    "snowflake": frozenset({"*.snowflakecomputing.com"}),
}

# Left out: providers whose host depends on an account or a region (azure, databricks, watsonx) and those for which
# litellm falls back to OpenAI's address (custom_openai, litellm_proxy) have no origin of their own. Local servers have
# the address at which they usually listen.
_ADDRESSES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ai21": ((), ("AI21_API_BASE",)),
    "ai21_chat": (("https://api.ai21.com",), ("AI21_API_BASE",)),
    "aiml": (("https://api.aimlapi.com",), ("AIML_API_BASE",)),
    "amazon_nova": (("https://api.nova.amazon.com",), ("AMAZON_NOVA_API_BASE",)),
    "anthropic": (("https://api.anthropic.com",), ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")),
    "anthropic_text": (("https://api.anthropic.com",), ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")),
    "apertis": (("https://api.stima.tech",), ()),
    "assemblyai": (("https://llm-gateway.assemblyai.com",), ()),
    "azure": ((), ("AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT")),
    "azure_ai": ((), ("AZURE_AI_API_BASE",)),
    "azure_text": ((), ("AZURE_API_BASE",)),
    "baseten": (("https://inference.baseten.co",), ("BASETEN_API_BASE",)),
    "bytez": (("https://api.bytez.com",), ()),
    "cerebras": (("https://api.cerebras.ai",), ("CEREBRAS_API_BASE",)),
    "charity_engine": (("https://api.charityengine.services",), ()),
    "chutes": (("https://llm.chutes.ai",), ()),
    "clarifai": (("https://api.clarifai.com",), ()),
    "cloudflare": (("https://api.cloudflare.com",), ("CLOUDFLARE_API_BASE",)),
    "codestral": (("https://codestral.mistral.ai",), ("CODESTRAL_API_BASE",)),
    "cognition": (("https://api.cognition.ai",), ("COGNITION_API_BASE",)),
    "cohere": (("https://api.cohere.com", "https://api.cohere.ai"), ("COHERE_API_BASE",)),
    "cohere_chat": (("https://api.cohere.com", "https://api.cohere.ai"), ("COHERE_API_BASE",)),
    "cometapi": (("https://api.cometapi.com",), ("COMETAPI_API_BASE",)),
    "compactifai": (("https://api.compactif.ai",), ()),
    "cortecs": (("https://api.cortecs.ai",), ("CORTECS_API_BASE",)),
    "darkbloom": (("https://api.darkbloom.dev",), ("DARKBLOOM_API_BASE",)),
    "dashscope": (("https://dashscope.aliyuncs.com",), ("DASHSCOPE_API_BASE",)),
    "databricks": ((), ("DATABRICKS_API_BASE",)),
    "datarobot": (("https://app.datarobot.com",), ("DATAROBOT_ENDPOINT",)),
    "deepinfra": (("https://api.deepinfra.com",), ("DEEPINFRA_API_BASE",)),
    "deepseek": (("https://api.deepseek.com",), ("DEEPSEEK_API_BASE",)),
    "docker_model_runner": (("http://localhost:22088",), ("DOCKER_MODEL_RUNNER_API_BASE",)),
    "edenai": (("https://api.edenai.run",), ("EDENAI_API_BASE",)),
    "empower": (("https://app.empower.dev",), ("EMPOWER_API_BASE",)),
    "featherless_ai": (("https://api.featherless.ai",), ("FEATHERLESS_AI_API_BASE", "FEATHERLESS_API_BASE")),
    "fireworks_ai": (("https://api.fireworks.ai",), ("FIREWORKS_API_BASE",)),
    "friendliai": (("https://api.friendli.ai",), ("FRIENDLI_API_BASE",)),
    "galadriel": (("https://api.galadriel.com",), ("GALADRIEL_API_BASE",)),
    "gdc": ((), ("GDC_API_BASE",)),
    "gemini": (("https://generativelanguage.googleapis.com",), ("GEMINI_API_BASE",)),
    "github": (("https://models.inference.ai.azure.com",), ("GITHUB_API_BASE",)),
    "gradient_ai": (("https://inference.do-ai.run",), ("GRADIENT_AI_AGENT_ENDPOINT",)),
    "groq": (("https://api.groq.com",), ("GROQ_API_BASE",)),
    "helicone": (("https://ai-gateway.helicone.ai",), ()),
    "heroku": ((), ("HEROKU_API_BASE",)),
    "hosted_vllm": (("http://localhost:8000",), ("HOSTED_VLLM_API_BASE",)),
    "huggingface": (
        ("https://router.huggingface.co", "https://huggingface.co"),
        ("HF_API_BASE", "HUGGINGFACE_API_BASE"),
    ),
    "hyperbolic": (("https://api.hyperbolic.xyz",), ("HYPERBOLIC_API_BASE",)),
    "inception": (("https://api.inceptionlabs.ai",), ("INCEPTION_API_BASE",)),
    "jina_ai": (("https://api.jina.ai",), ("JINA_AI_API_BASE",)),
    "lambda_ai": (("https://api.lambda.ai",), ("LAMBDA_API_BASE",)),
    "langflow": (("http://localhost:7860",), ("LANGFLOW_API_BASE",)),
    "langgraph": (("http://localhost:2024",), ("LANGGRAPH_API_BASE",)),
    "lemonade": (("http://localhost:8000",), ("LEMONADE_API_BASE",)),
    "libertai": (("https://api.libertai.io",), ("LIBERTAI_API_BASE",)),
    "litellm_proxy": ((), ("LITELLM_PROXY_API_BASE",)),
    "llama.cpp": (("http://localhost:8080",), ()),
    "llamacpp": (("http://localhost:8080",), ()),
    "llamafile": (("http://localhost:8080", "http://127.0.0.1:8080"), ("LLAMAFILE_API_BASE",)),
    "lm_studio": (("http://localhost:1234",), ("LM_STUDIO_API_BASE",)),
    "lmstudio": (("http://localhost:1234",), ("LM_STUDIO_API_BASE",)),
    "maritalk": (("https://chat.maritaca.ai",), ("MARITALK_API_BASE",)),
    "meta": (("https://api.meta.ai",), ("META_API_BASE",)),
    "meta_llama": (("https://api.llama.com",), ("LLAMA_API_BASE",)),
    "minimax": (("https://api.minimax.io",), ("MINIMAX_API_BASE",)),
    "mistral": (("https://api.mistral.ai",), ("MISTRAL_AZURE_API_BASE",)),
    "modelscope": (("https://api-inference.modelscope.cn",), ("MODELSCOPE_API_BASE",)),
    "moonshot": (("https://api.moonshot.ai",), ("MOONSHOT_API_BASE",)),
    "morph": (("https://api.morphllm.com",), ("MORPH_API_BASE",)),
    "nadir": (("https://api.getnadir.com",), ("NADIR_API_BASE",)),
    "nano-gpt": (("https://nano-gpt.com",), ()),
    "nebius": (("https://api.studio.nebius.ai",), ("NEBIUS_API_BASE",)),
    "neosantara": (("https://api.neosantara.xyz",), ("NEOSANTARA_API_BASE",)),
    "nlp_cloud": (("https://api.nlpcloud.io",), ("NLP_CLOUD_API_BASE",)),
    "novita": (("https://api.novita.ai",), ("NOVITA_API_BASE",)),
    "nscale": (("https://inference.api.nscale.com",), ("NSCALE_API_BASE",)),
    "nvidia_nim": (("https://integrate.api.nvidia.com",), ("NVIDIA_NIM_API_BASE",)),
    "ollama": (("http://localhost:11434",), ("OLLAMA_API_BASE",)),
    "ollama_chat": (("http://localhost:11434",), ("OLLAMA_API_BASE",)),
    "openai": (("https://api.openai.com",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "openai_like": ((), ("OPENAI_LIKE_API_BASE",)),
    "openrouter": (("https://openrouter.ai",), ("OPENROUTER_API_BASE",)),
    "ovhcloud": (("https://oai.endpoints.kepler.ai.cloud.ovh.net",), ("OVHCLOUD_API_BASE",)),
    "parasail": (("https://api.parasail.io",), ("PARASAIL_API_BASE",)),
    "perplexity": (("https://api.perplexity.ai",), ("PERPLEXITY_API_BASE",)),
    "pinstripes": (("https://pinstripes.io",), ("PINSTRIPES_API_BASE",)),
    "poe": (("https://api.poe.com",), ()),
    "predibase": (("https://serving.app.predibase.com",), ("PREDIBASE_API_BASE",)),
    "prism": (("https://api.prisminference.com",), ("PRISM_API_BASE",)),
    "publicai": (("https://api.publicai.co",), ("PUBLICAI_API_BASE",)),
    "qwen_ai_platform": (("https://dashscope.aliyuncs.com",), ("QWEN_AI_PLATFORM_API_BASE",)),
    "qwencloud": (("https://dashscope-intl.aliyuncs.com",), ("QWENCLOUD_API_BASE",)),
    "ragflow": ((), ("RAGFLOW_API_BASE",)),
    "reka": (("https://api.reka.ai",), ("REKA_API_BASE",)),
    "replicate": (("https://api.replicate.com",), ("REPLICATE_API_BASE",)),
    "sail": (("https://api.sailresearch.com",), ("SAIL_API_BASE",)),
    "sambanova": (("https://api.sambanova.ai",), ("SAMBANOVA_API_BASE",)),
    "scaleway": (("https://api.scaleway.ai",), ()),
    "scx-ai": (("https://api.scx.ai",), ("SCX_API_BASE",)),
    "synthetic": (("https://api.synthetic.new",), ()),
    "tencent": (("https://tokenhub-intl.tencentcloudmaas.com",), ("TENCENT_API_BASE",)),
    "tensormesh": (("https://serverless.tensormesh.ai",), ("TENSORMESH_SERVERLESS_BASE_URL",)),
    "text-completion-codestral": (("https://codestral.mistral.ai",), ()),
    "text-completion-inception": (("https://api.inceptionlabs.ai",), ("INCEPTION_API_BASE",)),
    "text-completion-openai": (("https://api.openai.com",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "together_ai": (("https://api.together.ai",), ("TOGETHER_AI_API_BASE",)),
    "v0": (("https://api.v0.dev",), ("V0_API_BASE",)),
    "vercel_ai_gateway": (("https://ai-gateway.vercel.sh",), ("VERCEL_AI_GATEWAY_API_BASE",)),
    "vllm": (("http://localhost:8000",), ()),
    "volcengine": (("https://ark.cn-beijing.volces.com",), ("VOLCENGINE_API_BASE",)),
    "voyage": (("https://api.voyageai.com",), ()),
    "wandb": (("https://api.inference.wandb.ai",), ("WANDB_API_BASE",)),
    "watsonx": ((), ("WATSONX_API_BASE", "WATSONX_URL", "WX_URL", "WML_URL")),
    "watsonx_text": ((), ("WATSONX_API_BASE", "WATSONX_URL", "WX_URL", "WML_URL")),
    "xai": (("https://api.x.ai",), ("XAI_API_BASE",)),
    "xiaomi_mimo": (("https://api.xiaomimimo.com",), ()),
    "xinference": (("http://localhost:9997", "http://127.0.0.1:9997"), ("XINFERENCE_API_BASE",)),
    "zai": (("https://api.z.ai",), ("ZAI_API_BASE",)),
}

_SIGN_IN: Mapping[str, frozenset[str]] = {
    "watsonx": frozenset({"https://iam.cloud.ibm.com"}),
    "watsonx_text": frozenset({"https://iam.cloud.ibm.com"}),
}


def providers_with_address() -> frozenset[str]:
    """Return the providers whose address is known, or the variables that may hold it."""
    return frozenset(_ADDRESSES)


def own_origins(provider: str) -> frozenset[str]:
    """Return the origins that belong to a provider; none if they are unknown or depend on an account."""
    return frozenset(_ADDRESSES.get(provider, ((), ()))[0])


def is_custom(provider: str, address: str | None) -> bool:
    """Return True for an address that is not the provider's own, so that the provider's prices do not apply there.

    Models on Azure have an address of their own for each account.
    """
    return bool(address) and not provider.startswith("azure") and origin_of(address or "") not in own_origins(provider)


def credential_hosts(provider: str) -> frozenset[str]:
    """Return where a provider with credentials of its own is reached: origins, and `*.DOMAIN` for https hosts in it."""
    return _CREDENTIAL_HOSTS.get(provider, frozenset())


def sign_in_origins(provider: str) -> frozenset[str]:
    """Return the origins at which a provider exchanges a key for a token, wherever its models are."""
    return _SIGN_IN.get(provider, frozenset())


def address_variables(provider: str) -> tuple[str, ...]:
    """Return the environment variables that may hold a provider's base address, in the order in which they count."""
    return _ADDRESSES.get(provider, ((), ()))[1]


def environment_address(provider: str, environment: Mapping[str, str]) -> str:
    """Return the base address that the environment sets for a provider; an empty string if it sets none."""
    given = (environment.get(name, "").strip() for name in address_variables(provider))
    return next((address for address in given if address), "")


def allowed_origins(provider: str, address: str | None) -> frozenset[str]:
    """Return where calls may go: to the address and where its key is exchanged, else to the provider itself."""
    if address:
        return frozenset({origin_of(address)}) | sign_in_origins(provider)
    return own_origins(provider) | credential_hosts(provider)
