"""Providers with credentials of their own are reached at their own hosts only, whatever the name of a model says."""

import httpx
import pytest

from mcp_tef.model.addresses import allowed_origins
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.guard import RefusedRequestError, admit

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
