"""Where litellm would send a request by itself: the origin that our transport refuses."""

import os
from typing import TYPE_CHECKING

from mcp_tef.model.addresses import address_variables
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange, ModelCall

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient

KEY = Secret("sk-marker-0123456789")
ELSEWHERE = "https://marker.example"


async def origins_of(provider: str, client: "LitellmClient") -> set[str]:
    """The origins of the requests for a chat and for an embedding; nothing is sent."""
    model = "claude-3-haiku-20240307" if provider == "anthropic" else "m"
    chat, vectors = Exchange(), Exchange()
    asked = {"messages": [{"role": "user", "content": "Hello."}]}
    await client.complete(ModelCall(provider, model, None, KEY, 5.0), chat, lambda answer, _cost: answer, asked)
    await client.embed(ModelCall(provider, "m", None, KEY, 5.0), vectors, ["x"])
    assert (chat.sent, vectors.sent) == (b"", b"")
    return {chat.refused_origin, vectors.refused_origin} - {""}


async def variables_without_effect(provider: str, client: "LitellmClient") -> set[str]:
    """The provider's address variables that do not move its requests, each tried in the environment by itself."""
    found = set[str]()
    for name in address_variables(provider):
        before = os.environ.get(name)
        os.environ[name] = f"{ELSEWHERE}/v1"
        try:
            moved = ELSEWHERE in await origins_of(provider, client)
        finally:
            os.environ.pop(name) if before is None else os.environ.update({name: before})
        found |= set() if moved else {name}
    return found
