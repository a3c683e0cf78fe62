"""Every HTTP client of litellm goes through our transport, which refuses other origins before a key leaves."""

from contextvars import ContextVar

import httpx
import litellm
import pytest
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, get_async_httpx_client, get_httpx_client
from litellm.llms.openai.common_utils import BaseOpenAILLM

from mcp_tef.embedding.remote_embedders import LitellmConnection, LitellmEmbedder
from mcp_tef.errors import EmbeddingError, ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.guard import RefusedRequestError
from mcp_tef.provider_http.litellm_internals import (
    GuardedSyncTransport,
    GuardedTransport,
    guard_litellm,
    reported_cost,
    silence_pydantic,
    without_callbacks,
)
from tests.support.model_questions import KEY, question
from tests.support.model_stub import ModelStub


async def test_every_client_that_litellm_makes_has_our_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISABLE_AIOHTTP_TRANSPORT", "True")
    guard_litellm()
    by_openai = BaseOpenAILLM._get_async_http_client()
    assert by_openai is not None
    clients = (AsyncHTTPHandler().client, get_async_httpx_client(llm_provider="gemini").client, by_openai)
    for client in clients:
        assert isinstance(client._transport, GuardedTransport)
        assert not any(client._mounts.values())
        await client.aclose()
    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]  # litellm annotates no return
    assert isinstance(get_httpx_client().client._transport, GuardedSyncTransport)


def test_litellm_asks_the_variable_that_we_set_before_it_runs_callbacks() -> None:
    asked: ContextVar[bool] = vars(litellm.utils)["is_internal_call"]
    with without_callbacks():
        assert asked.get()
    assert not asked.get()


def test_litellm_reports_the_cost_of_an_answer() -> None:
    silence_pydantic()
    with without_callbacks():
        answer = litellm.completion("openai/gpt-4o", [{"role": "user", "content": "Hi"}], mock_response="Hello.")
    assert isinstance(answer, litellm.ModelResponse)
    assert (reported_cost(answer) or 0.0) > 0.0


async def test_nothing_is_sent_outside_of_a_call() -> None:
    guard_litellm()
    handler = AsyncHTTPHandler()
    with ModelStub() as stub:
        with pytest.raises(RefusedRequestError):
            await handler.client.post(stub.url, json={})
        assert stub.connections == 0
    await handler.client.aclose()


def test_a_request_without_asyncio_is_bounded_as_well() -> None:
    with ModelStub() as stub, httpx.Client(transport=GuardedSyncTransport()) as client:
        origin = stub.url.removesuffix("/v1")
        with under_way(Exchange(origins=frozenset({origin}), most_bytes=10)), pytest.raises(httpx.DecodingError):
            client.post(f"{origin}/v1/chat/completions", json={"model": "m", "messages": []})
        with under_way(Exchange(origins=frozenset({origin}))):
            assert client.post(f"{origin}/v1/chat/completions", json={"model": "m", "messages": []}).json()["choices"]
        with pytest.raises(RefusedRequestError):
            client.post(stub.url, json={})
        with under_way(Exchange(origins=frozenset({"https://api.openai.com"}))), pytest.raises(RefusedRequestError):
            client.post(stub.url, json={})
        assert stub.connections == 2


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"provider": "azure"}, "The address of azure is not known."),
        ({"provider": "litellm_proxy"}, "The address of litellm_proxy is not known."),
        ({"provider": "custom_openai"}, "The address of custom_openai is not known."),
        (
            {"provider": "huggingface", "model": "https://evil.example/v1"},
            "The name of the model https://evil.example/v1 holds an address.",
        ),
    ],
)
async def test_a_model_without_a_sound_address_is_refused_in_one_sentence(
    settings: dict[str, str], sentence: str
) -> None:
    selector = LitellmSelector(LitellmCatalogue())
    with pytest.raises(ModelError) as raised:
        await selector.select(question(None, **settings))
    await selector.close()
    assert raised.value.message == sentence
    assert "base URL" in raised.value.hint


async def test_a_provider_that_ignores_the_address_gets_nothing() -> None:
    selector = LitellmSelector(LitellmCatalogue())
    with ModelStub() as stub, pytest.raises(ModelError) as raised:
        await selector.select(question(stub.url, provider="bytez", model="m"))
    await selector.close()
    assert raised.value.fault is ModelFault.ADDRESS_REFUSED
    assert raised.value.message == (
        "The call of bytez/m would have gone on to https://api.bytez.com, so nothing was sent there."
    )


async def test_an_address_of_the_environment_is_where_calls_go() -> None:
    with ModelStub() as stub:
        environment = {"OPENAI_BASE_URL": stub.url}
        selector = LitellmSelector(LitellmCatalogue(), environment)
        await selector.select(question(None))
        await selector.close()
        assert [request.key for request in stub.requests] == [KEY]


@pytest.mark.parametrize(("model", "reason"), [("azure/m", "address of its provider"), ("openai/http://x", "holds an")])
async def test_an_embedder_without_a_sound_address_is_refused_in_one_sentence(model: str, reason: str) -> None:
    with pytest.raises(EmbeddingError, match=reason):
        await LitellmEmbedder(LitellmConnection(), model, key=Secret(KEY)).embed(["x"])
