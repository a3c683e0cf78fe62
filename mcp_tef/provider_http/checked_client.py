"""Client of httpx that connects to names at checked addresses only; import it lazily."""

from typing import Any

import httpx

from mcp_tef.trust.connections import CheckedSyncBackend, check_names


def checked_client(**options: Any) -> httpx.AsyncClient:
    """Return a client of httpx; where the environment names a proxy, that resolves the names."""
    client = httpx.AsyncClient(**options)
    check_names(client._transport)  # noqa: SLF001  # a given one would end proxies
    return client


def checked_sync_transport(proxy: str | None) -> httpx.HTTPTransport:
    """Return a transport for requests without asyncio."""
    transport = httpx.HTTPTransport(proxy=proxy)
    pool: Any = transport._pool  # noqa: SLF001  # httpx takes no backend
    pool._network_backend = CheckedSyncBackend(pool._network_backend)  # noqa: SLF001
    return transport
