"""Where litellm would send a request by itself: the origin that our transport refuses."""

import os
from typing import TYPE_CHECKING

from mcp_tef.embedding.provider import Providers
from mcp_tef.llm.completion import Request
from mcp_tef.llm.providers import Target
from mcp_tef.model.addresses import address_variables
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import Exchange

if TYPE_CHECKING:
    from mcp_tef.llm.litellm_backend import Backend

KEY = Secret("sk-marker-0123456789")
ELSEWHERE = "https://marker.example"


async def origins_of(provider: str, backend: "Backend", embedding: Providers) -> set[str]:
    """The origins of the requests for a chat and for an embedding; nothing is sent."""
    model = "claude-3-haiku-20240307" if provider == "anthropic" else "m"
    request = Request(
        target=Target(provider, model, None, frozenset()),
        messages=[{"role": "user", "content": "Hello."}],
        tools=(),
        temperature=0.0,
        timeout=5,
        key=KEY,
        origins=frozenset(),
    )
    chat, vectors = Exchange(), Exchange()
    await backend.complete(request, chat)
    await (await embedding.calls()).embed(f"{provider}/m", ["x"], "", KEY, vectors)
    assert (chat.sent, vectors.sent) == (b"", b"")
    return {chat.refused_origin, vectors.refused_origin} - {""}


async def variables_without_effect(provider: str, backend: "Backend", embedding: Providers) -> set[str]:
    """The provider's address variables that do not move its requests, each tried in the environment by itself."""
    found = set[str]()
    for name in address_variables(provider):
        before = os.environ.get(name)
        os.environ[name] = f"{ELSEWHERE}/v1"
        try:
            moved = ELSEWHERE in await origins_of(provider, backend, embedding)
        finally:
            os.environ.pop(name) if before is None else os.environ.update({name: before})
        found |= set() if moved else {name}
    return found
