"""Proxies, exceptions from them and private authorities, as the environment sets them, over both paths to a model."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.errors import ModelError
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from tests.support.model_questions import question
from tests.support.model_stub import ModelStub
from tests.support.private_network import PrivateNetwork, certificate


@pytest.fixture
async def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PrivateNetwork]:
    authority, server = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    with ModelStub() as stub, PrivateNetwork(stub, server) as network:
        monkeypatch.setenv("HTTPS_PROXY", network.proxy)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield network


@pytest.mark.parametrize("path", ["", "litellm"])
async def test_a_call_goes_through_the_proxy_and_trusts_the_private_authority(
    network: PrivateNetwork, path: str
) -> None:
    selector = LitellmSelector(LitellmCatalogue(), dict(os.environ), through=lambda: path)
    answer = await selector.select(question(network.url))
    await selector.close()
    assert answer.calls
    assert network.connects == [network.url.removeprefix("https://").removesuffix("/v1")]


@pytest.mark.parametrize("path", ["", "litellm"])
async def test_a_host_of_no_proxy_is_reached_by_itself(
    network: PrivateNetwork, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "example.com,localhost")
    selector = LitellmSelector(LitellmCatalogue(), dict(os.environ), through=lambda: path)
    answer = await selector.select(question(network.url))
    await selector.close()
    assert answer.calls
    assert network.connects == []


async def test_an_unknown_authority_is_refused_before_the_key_is_sent(
    network: PrivateNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    selector = LitellmSelector(LitellmCatalogue(), dict(os.environ))
    with pytest.raises(ModelError, match="is not the address of a model's API"):
        await selector.select(question(network.url))
    await selector.close()
