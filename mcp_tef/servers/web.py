"""Reaches HTTP servers: the SDK's transports over a client that sees each answer's status and bounds its size."""

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from ipaddress import ip_address
from math import inf

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from mcp_tef.model.servers import Transport
from mcp_tef.servers.evidence import Evidence, HttpReply
from mcp_tef.servers.faults import Faults
from mcp_tef.servers.launch import Surroundings
from mcp_tef.servers.mending import WholeLines, mended
from mcp_tef.servers.older import older_streams

_READ_FOR_LIFE = httpx2.Timeout(None)
_READ_AT_ONCE = 64 * 1024
_SIGN_IN_STEPS = 20  # the client counts each request of a sign-in as a redirect


class _Watched(httpx2.AsyncBaseTransport):
    """Another transport, whose bodies may not flood and whose answers to the methods in `noted` are evidence."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, evidence: Evidence, noted: tuple[str, ...]) -> None:
        self._inner = inner
        self._evidence = evidence
        self._noted = noted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        self._note(request, response)
        if response.headers.get("content-encoding", "identity") != "identity":
            self._evidence.compressed = True
            await response.aclose()
            raise httpx2.DecodingError("The answer is compressed.", request=request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self._evidence),
            extensions=response.extensions,
        )

    def _note(self, request: httpx2.Request, response: httpx2.Response) -> None:
        if request.method not in self._noted or "sign_in" in request.extensions:
            return
        evidence, headers = self._evidence, response.headers
        location = _absolute(request.url, headers.get("location", ""))
        evidence.reply = HttpReply(response.status_code, headers.get("content-type", ""), location)
        evidence.redirects = evidence.redirects + 1 if 300 <= response.status_code < 400 else 0

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body whose bytes are counted and whose JSON can be read; one that is no stream of events is one message."""

    def __init__(self, response: httpx2.Response, evidence: Evidence) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream = response.stream
        self._evidence = evidence
        self._events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        self._lines = WholeLines(evidence.limits.message_bytes)
        self._most = inf if self._events else evidence.limits.message_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            self._evidence.take(chunk)
            self._evidence.require(size <= self._most)
            if self._events:
                self._evidence.count_messages(chunk.count(b"\n\n") + chunk.count(b"\r\n\r\n"))
            if lines := self._lines.feed(chunk):
                yield await _mended(lines)
        if lines := self._lines.rest():
            yield await _mended(lines)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _mended(lines: bytes) -> bytes:
    return mended(lines) if len(lines) < _READ_AT_ONCE else await asyncio.to_thread(mended, lines)


def _absolute(url: httpx2.URL, location: str) -> str:
    try:
        return str(url.join(location)) if location else ""
    except httpx2.InvalidURL:
        return location


@asynccontextmanager
async def connected(
    surroundings: Surroundings, evidence: Evidence, auth: httpx2.Auth | None = None
) -> AsyncIterator[TransportStreams]:
    """The message streams of an HTTP server; `auth` signs its requests, and may make some of its own."""
    url = address(surroundings)
    headers = surroundings.headers()
    evidence.secrets = surroundings.secrets
    older = surroundings.spec.transport is Transport.SSE
    inner = httpx2.AsyncHTTPTransport(verify=await _trust(url, signs_in=auth is not None), proxy=proxy_for(url))
    client = httpx2.AsyncClient(
        headers=headers | {"Accept-Encoding": "identity"},
        auth=auth,
        timeout=_READ_FOR_LIFE,
        transport=_Watched(inner, evidence, ("GET", "POST") if older else ("POST",)),
        max_redirects=evidence.limits.redirects + (_SIGN_IN_STEPS if auth else 0),
    )
    if older:
        async with client, older_streams(url, client, Faults(surroundings.spec, evidence)) as streams:
            yield streams
    else:
        async with (
            client,
            streamable_http_client(
                str(url), http_client=client, max_sse_event_size=evidence.limits.message_bytes
            ) as streams,
        ):
            yield streams


def address(surroundings: Surroundings) -> httpx2.URL:
    """The url to connect to; ServerError where it is none."""
    try:
        url = httpx2.URL(surroundings.url())
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise surroundings.fault(
            f"has the address “{surroundings.spec.url or ''}”, which is not a url",
            "Write one such as https://example.com/mcp.",
        )
    return url


def proxy_for(url: httpx2.URL) -> str | None:
    """The proxy that the environment asks for, if it asks for one; never for this machine itself."""
    if is_here(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


async def _trust(url: httpx2.URL, *, signs_in: bool) -> ssl.SSLContext:
    """Whom to trust. Loading the authorities takes 50 to 100 ms, so it is done once, off the loop."""
    if url.scheme == "http" and is_here(url.host) and not signs_in:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return await asyncio.to_thread(_authorities)


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
