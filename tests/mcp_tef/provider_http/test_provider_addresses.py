"""The table of providers' addresses against litellm: no key goes elsewhere, follows a redirect or a model's name."""

import itertools

import httpx
import pytest
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from mcp_tef.embedding.remote_embedders import litellm_name
from mcp_tef.llm.providers import target
from mcp_tef.model.addresses import _ADDRESSES, allowed_origins, own_origins
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall, under_way
from mcp_tef.provider_http.guard import RefusedRequestError, admit
from mcp_tef.provider_http.litellm_internals import guard_litellm
from mcp_tef.provider_http.litellm_loader import new_client
from tests.support.hostile_http_servers import RedirectingServer
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


EVIL = "https://bedrock-agentcore.evil.example/#.amazonaws.com/x"


@pytest.mark.parametrize(
    "url", [EVIL, "https://amazonaws.com.evil.example", "http://x.amazonaws.com", "https://x.amazonaws.com:8443"]
)
def test_a_host_that_only_looks_like_the_providers_is_refused(url: str) -> None:
    with under_way(Exchange(origins=allowed_origins("bedrock", None))), pytest.raises(RefusedRequestError):
        admit(httpx.Request("POST", url))


def test_the_providers_own_hosts_are_reached() -> None:
    with under_way(Exchange(origins=allowed_origins("bedrock", None))) as _:
        assert admit(httpx.Request("POST", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/x")).origin


CODES = (301, 302, 303, 307, 308)
KEY = Secret("sk-marker-0123456789")
ASKED = {"messages": [{"role": "user", "content": "Hello."}]}
EMBEDS = {
    "azure", "azure_ai", "cohere", "cohere_chat", "cometapi", "dashscope", "databricks", "edenai", "gemini",
    "hosted_vllm", "jina_ai", "litellm_proxy", "llamafile", "lm_studio", "mistral", "nebius", "nvidia_nim", "ollama",
    "openai", "openai_like", "openrouter", "ovhcloud", "perplexity", "qwen_ai_platform", "qwencloud", "together_ai",
    "vercel_ai_gateway", "volcengine", "voyage", "wandb", "xinference",
}  # fmt: skip
# They ask for an account, a library or an address of another form before they send anything, or they only embed.
NEVER_ASKED = {
    "bytez", "clarifai", "gdc", "jina_ai", "nlp_cloud", "openai_like", "predibase", "ragflow", "replicate",
    "vercel_ai_gateway", "voyage", "watsonx", "watsonx_text",
}  # fmt: skip


async def test_no_provider_follows_a_redirect() -> None:
    """Each meets one of the codes in turn; our transport, below them all, meets each code further down."""
    client = await new_client()
    never_asked = set[str]()
    with RedirectingServer() as server:
        reached = frozenset({server.url})
        for provider, server.code in zip(_ADDRESSES, itertools.cycle(CODES), strict=False):
            call = _call(provider, server.url, client.providers)
            before = len(server.asked)
            outcome = await client.complete(call, Exchange(origins=reached), lambda answer, _cost: answer, ASKED)
            assert isinstance(outcome, FailedCall)
            if len(server.asked) == before:
                never_asked.add(provider)
            if provider in EMBEDS:
                before = len(server.asked)
                name = litellm_name(f"{provider}/m", server.url, client.providers)
                call = ModelCall(*name, server.url, KEY, 30.0)
                answer = await client.embed(call, Exchange(origins=reached), ["x"])
                assert isinstance(answer, FailedCall)
                assert len(server.asked) > before, provider
            assert server.arrived == [], f"{provider} followed {server.code}"
    await client.close()
    assert never_asked == NEVER_ASKED


def _call(provider: str, url: str, known: frozenset[str]) -> ModelCall:
    aim = target(ModelSettings(provider=provider, model="m", base_url=url), known)
    return ModelCall(aim.provider, aim.model, aim.address, KEY, 30.0)


@pytest.mark.parametrize("code", CODES)
async def test_our_transport_takes_away_what_a_client_would_follow(code: int) -> None:
    guard_litellm()
    handler = AsyncHTTPHandler(follow_redirects=True)
    with RedirectingServer() as server:
        server.code = code
        exchange = Exchange(origins=frozenset({server.url}))
        with under_way(exchange):
            answer = await handler.client.post(f"{server.url}/v1", headers={"api-key": KEY.reveal()}, json={})
        assert (answer.status_code, server.arrived, len(server.asked)) == (code, [], 1)
        assert exchange.headers["location"]
    await handler.client.aclose()
