"""The one module that reaches into litellm's internals. Every HTTP client that litellm makes gets our transport here.

litellm takes a client of ours for some calls only (BerriAI/litellm#27213). For azure, for embeddings of gemini and
ollama and for others it makes its own, which follow redirects (BerriAI/litellm#11946) and read answers of any size.
They all get their transport from the two places that `guard_litellm` replaces.
`tests/mcp_tef/provider_http/test_litellm_internals.py` fails if a release of litellm moves any of this.
"""

import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import litellm
from aiohttp import ClientSession, TCPConnector
from litellm._internal_context import is_internal_call
from litellm.constants import openai_compatible_providers
from litellm.llms.custom_httpx import aiohttp_transport, http_handler
from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport
from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

from mcp_tef.provider_http.checked_client import checked_sync_transport
from mcp_tef.provider_http.checked_resolver import CheckedResolver, refusal_of
from mcp_tef.provider_http.exchange import current_exchange
from mcp_tef.provider_http.guard import accept, admit, answered, is_error, read_body, read_body_at_once

__all__ = [
    "OPENAI_COMPATIBLE",
    "UNGUARDED_PROVIDERS",
    "AsyncHTTPHandler",
    "GuardedSyncTransport",
    "GuardedTransport",
    "close_clients",
    "guard_litellm",
    "reported_cost",
    "silence_pydantic",
    "without_callbacks",
]

OPENAI_COMPATIBLE = frozenset(openai_compatible_providers)
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
        try:
            response = await super().handle_async_request(request)
        except httpx.ConnectError as error:
            exchange.refusal = refusal_of(error)
            raise
        try:
            decoder = accept(response, exchange)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            body = await read_body(response.stream, decoder, exchange, is_error=is_error(response))
        finally:
            await response.aclose()
        return answered(response, exchange.rewrite(body))

    def get_valid_client_session(self) -> ClientSession:
        """Return the session of this loop, which connects to checked addresses only."""
        return _checked(super().get_valid_client_session())

    def _rebuild_session(self) -> ClientSession:
        return _checked(super()._rebuild_session())


def _checked(session: ClientSession) -> ClientSession:
    connector = session.connector
    if isinstance(connector, TCPConnector) and not isinstance(connector._resolver, CheckedResolver):  # noqa: SLF001
        connector._resolver = CheckedResolver()  # noqa: SLF001  # litellm makes the connector, without a choice
    return session


class GuardedSyncTransport(httpx.BaseTransport):
    """The same for the few requests that litellm makes without asyncio, on the threads of its own."""

    def __init__(self) -> None:
        self._transports: dict[str | None, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; RefusedRequestError or UnreadableAnswerError if it goes or comes back otherwise."""
        exchange = admit(request)
        response = self._transport_for(request.url).handle_request(request)
        try:
            decoder = accept(response, exchange)
            assert isinstance(response.stream, httpx.SyncByteStream)
            body = read_body_at_once(iter(response.stream), decoder, exchange, is_error=is_error(response))
        finally:
            response.close()
        return answered(response, body)

    def close(self) -> None:
        """Close the connections."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            transport.close()

    def _transport_for(self, url: httpx.URL) -> httpx.HTTPTransport:
        proxies = {} if urllib.request.proxy_bypass(url.host) else urllib.request.getproxies()
        proxy = proxies.get(url.scheme) or proxies.get("all")
        if proxy not in self._transports:
            self._transports[proxy] = checked_sync_transport(proxy)
        return self._transports[proxy]


def silence_pydantic() -> None:
    """Keep pydantic from writing warnings about litellm's own types to stderr (BerriAI/litellm#11759).

    Set for every call, because the filters belong to the whole process and others set them as well.
    """
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic\.")


@contextmanager
def without_callbacks() -> Iterator[None]:
    """Spare calls litellm's success callbacks, which run in tasks that are left alone (BerriAI/litellm#8842)."""
    token = is_internal_call.set(True)
    try:
        yield
    finally:
        is_internal_call.reset(token)


def reported_cost(answer: litellm.ModelResponse) -> float | None:
    """Return the cost in US dollars that litellm computed; 0 means that it knows no price."""
    cost: float | None = answer._hidden_params.get("response_cost")  # noqa: SLF001  # litellm's documented place
    return cost


async def close_clients() -> None:
    """Close the connections of all clients that litellm made by itself, and forget the keys in its cache."""
    while _made_in_calls:
        await _made_in_calls.pop().aclose()
    await close_litellm_async_clients()  # type: ignore[no-untyped-call]  # litellm annotates no return
    litellm.in_memory_llm_clients_cache.flush_cache()  # type: ignore[no-untyped-call]  # litellm annotates no return


def guard_litellm() -> None:
    """Have every HTTP client of litellm use our transports, from now on."""
    aiohttp_transport.LiteLLMAiohttpTransport = GuardedTransport  # type: ignore[misc]
    # A variable of the environment could choose a transport that is not ours.
    http_handler.AsyncHTTPHandler.should_use_aiohttp_transport = staticmethod(lambda: True)  # type: ignore[method-assign]
    if not isinstance(getattr(litellm, "sync_transport", None), GuardedSyncTransport):
        litellm.sync_transport = GuardedSyncTransport()
