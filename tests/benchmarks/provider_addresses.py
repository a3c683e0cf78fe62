"""The whole table of providers' addresses against litellm: where it goes by itself, and what moves it.

Limits: no request of a provider with origins of its own goes anywhere else, but for those that our own addresses or
clients keep from doing so. Run as `python -m tests.benchmarks.provider_addresses`.
"""

import asyncio

from mcp_tef.model.addresses import _ADDRESSES, own_origins
from mcp_tef.provider_http.litellm_loader import new_client
from tests.support.litellm_addresses import origins_of, variables_without_effect

# Without an address litellm falls back to OpenAI's for them; ours are always given their usual local address.
LOCAL_FALLBACKS = {"hosted_vllm", "lm_studio", "xinference"}


async def compare() -> dict[str, set[str]]:
    """Print a row for each provider; the foreign origins, by provider."""
    client = await new_client()
    foreign = dict[str, set[str]]()
    print(f"{'provider':28} {'goes to':60} variables without effect")
    for provider in _ADDRESSES:
        reached = await origins_of(provider, client)
        unmoved = await variables_without_effect(provider, client)
        print(f"{provider:28} {', '.join(sorted(reached)) or '–':60} {', '.join(sorted(unmoved))}")
        if own_origins(provider) and reached - own_origins(provider):
            foreign[provider] = reached - own_origins(provider)
    await client.close()
    return foreign


def main() -> None:
    """Compare, and fail if a provider goes elsewhere."""
    foreign = asyncio.run(compare())
    assert set(foreign) <= LOCAL_FALLBACKS, f"origins that are not in the table: {foreign}"


if __name__ == "__main__":
    main()
