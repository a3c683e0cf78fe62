"""Providers that are asked directly: their default addresses, key variables and the source of both.

Each was compared with litellm 1.106.2: it asks them at the same address with the same body, apart from what
`direct_requests` does for OpenAI's and Mistral's models. `tests/mcp_tef/llm/test_direct_equality.py` compares again.
"""

from collections.abc import Mapping
from typing import NamedTuple


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
