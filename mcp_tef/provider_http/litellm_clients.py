"""The one place that reaches into litellm: every HTTP client that it makes goes through our transport.

litellm takes a client of ours for some providers only; for azure, for gemini's and ollama's embeddings and for others
it makes its own, which follow redirects and read answers of any size. They all get their transport from the two places
that are replaced here. `tests/mcp_tef/provider_http/test_litellm_clients.py` fails if a release of litellm moves them.
"""

import urllib.request
import warnings
from typing import Any

import httpx
import litellm
from litellm.llms.custom_httpx import aiohttp_transport, http_handler
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

from mcp_tef.provider_http.exchange import current_exchange
from mcp_tef.provider_http.guard import Body, accept, admit, answered, is_error, read_body

UNGUARDED_PROVIDERS = frozenset({"aiohttp_openai"})
"""Providers that litellm calls by clients of another library, which cannot be guarded here."""


_made_in_calls: "set[GuardedTransport]" = set()


class GuardedTransport(LiteLLMAiohttpTransport):
    """litellm's transport, for requests of a call that is under way, to its origins, with bounded answers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Only litellm makes clients during a call, and it does not close all of them.
        if current_exchange() is not None:
            _made_in_calls.add(self)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; RefusedRequestError or UnreadableAnswerError if it goes or comes back otherwise."""
        exchange = admit(request)
        exchange.sent = await request.aread()
        response = await super().handle_async_request(request)
        try:
            decoder = accept(response, exchange)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            body = await read_body(response.stream, decoder, exchange, is_error=is_error(response))
        finally:
            await response.aclose()
        return answered(response, exchange.rewrite(body))


class GuardedSyncTransport(httpx.BaseTransport):
    """The same for the few requests that litellm makes without asyncio, on the threads of its own."""

    def __init__(self) -> None:
        self._transports: dict[str | None, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; RefusedRequestError or UnreadableAnswerError if it goes or comes back otherwise."""
        exchange = admit(request)
        response = self._transport_for(request.url).handle_request(request)
        try:
            body = Body(accept(response, exchange), exchange, is_error=is_error(response))
            assert isinstance(response.stream, httpx.SyncByteStream)
            for chunk in response.stream:
                for piece in body.pieces(chunk):
                    body.add(piece)
                if body.is_full:
                    break
        finally:
            response.close()
        return answered(response, body.content())

    def close(self) -> None:
        """Close the connections."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            transport.close()

    def _transport_for(self, url: httpx.URL) -> httpx.HTTPTransport:
        proxies = {} if urllib.request.proxy_bypass(url.host) else urllib.request.getproxies()
        proxy = proxies.get(url.scheme) or proxies.get("all")
        if proxy not in self._transports:
            self._transports[proxy] = httpx.HTTPTransport(proxy=proxy)
        return self._transports[proxy]


def silence_pydantic() -> None:
    """Keep pydantic from writing to stderr what it thinks of types in answers, and of litellm's own.

    Set for every call, because the filters belong to the whole process and others set them as well.
    """
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\.")


async def close_transports() -> None:
    """Close the connections of all clients that litellm made by itself."""
    while _made_in_calls:
        await _made_in_calls.pop().aclose()


def guard_litellm() -> None:
    """Have every HTTP client of litellm use our transports, from now on."""
    aiohttp_transport.LiteLLMAiohttpTransport = GuardedTransport  # type: ignore[misc]
    # A variable of the environment could choose a transport that is not ours.
    http_handler.AsyncHTTPHandler.should_use_aiohttp_transport = staticmethod(_always)  # type: ignore[method-assign]
    if not isinstance(getattr(litellm, "sync_transport", None), GuardedSyncTransport):
        litellm.sync_transport = GuardedSyncTransport()


def _always() -> bool:
    return True
