"""HTTP transports of the SDK over a client that limits and repairs responses; the older SSE transport too.

Over SSE, server messages arrive as events, and client messages are posted to the address in the first event.
"""

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from ipaddress import ip_address
from math import inf
from types import TracebackType
from typing import Self

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from mcp_tef.model.servers import Transport
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.servers.mcp_internals import TransportStreams, request_within_origin, sse_within_origin
from mcp_tef.servers.message_parsing import message_in
from mcp_tef.servers.observations import HttpReply, Observations
from mcp_tef.servers.sanitizing import WholeLines, sanitized
from mcp_tef.trust.addresses import folder_of, is_within
from mcp_tef.trust.connections import check_names
from mcp_tef.trust.consents import used_names
from mcp_tef.trust.names import shown_address, shown_host


@asynccontextmanager
async def older_streams(
    url: httpx2.URL, client: httpx2.AsyncClient, errors: ServerErrors
) -> AsyncIterator[TransportStreams]:
    """The message streams of a server over a client that is open."""
    observations = errors.observations
    most = observations.limits.message_bytes
    async with sse_within_origin(client, str(url), max_event_size=most) as source:
        source.response.raise_for_status()
        events = aiter(source)
        posts = _Posts(client, await _endpoint(url, events, errors))
        heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with messages, anyio.create_task_group() as group:
            group.start_soon(_hear, events, heard, observations)
            yield messages, posts
            group.cancel_scope.cancel()


async def _endpoint(url: httpx2.URL, events: AsyncIterator[httpx2.ServerSentEvent], errors: ServerErrors) -> httpx2.URL:
    """Return the address for our messages; only on the server's own origin, for they carry the user's keys."""
    async for event in events:
        if event.event == "endpoint":
            there = url.join(event.data.strip())
            if (there.scheme, there.netloc) != (url.scheme, url.netloc):
                raise errors.elsewhere(f"{there.scheme}://{shown_host(there.host)}:{there.port or ''}".rstrip(":"))
            return there
    raise httpx2.RemoteProtocolError("The events ended before they named an address.")


async def _hear(
    events: AsyncIterator[httpx2.ServerSentEvent],
    heard: MemoryObjectSendStream[SessionMessage | Exception],
    observations: Observations,
) -> None:
    async with heard:
        async for event in events:
            data = event.data.encode() if event.event == "message" else b""
            message = message_in(data)
            if message is not None:
                await heard.send(message)
            elif data:
                observations.note_junk(data)


class _Posts:
    """Posts messages as the SDK's sessions write them; an answer that is no success raises."""

    def __init__(self, client: httpx2.AsyncClient, endpoint: httpx2.URL) -> None:
        self._client = client
        self._endpoint = endpoint

    async def send(self, item: SessionMessage, /) -> None:
        content = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        response = await request_within_origin(self._client, "POST", self._endpoint, json=content)
        response.raise_for_status()

    async def aclose(self) -> None:
        """The client is closed by who opened it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


_READ_FOR_LIFE = httpx2.Timeout(None)
_READ_AT_ONCE = 64 * 1024
_SIGN_IN_STEPS = 20  # the client counts each request of a sign-in as a redirect


class _Watched(httpx2.AsyncBaseTransport):
    """Another transport, whose bodies may not flood and whose answers to the methods in `noted` are observations."""

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        observations: Observations,
        noted: tuple[str, ...],
        errors: ServerErrors,
        place: str,
    ) -> None:
        self._inner = inner
        self._place = place
        self._errors = errors
        self._observations = observations
        self._noted = noted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._require_place(str(request.url), request)
        response = await self._inner.handle_async_request(request)
        self._note(request, response)
        if response.headers.get("content-encoding", "identity") != "identity":
            self._observations.compressed = True
            await response.aclose()
            raise httpx2.DecodingError("The answer is compressed.", request=request)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self._observations),
            extensions=response.extensions,
        )

    def _require_place(self, url: str, request: httpx2.Request) -> None:
        """Raise ServerError for a redirect to another tenant of a host: what is secret goes to the path agreed to."""
        spec, place = self._errors.spec, self._place
        if request.method == "POST" and spec.transport is Transport.SSE:
            place = folder_of(place)  # messages are posted beside the address of the events
        sends_values = self._observations.secrets or used_names(spec)
        if "sign_in" not in request.extensions and sends_values and not is_within(url, place):
            raise self._errors.elsewhere(shown_address(url.partition("?")[0]))

    def _note(self, request: httpx2.Request, response: httpx2.Response) -> None:
        if request.method not in self._noted or "sign_in" in request.extensions:
            return
        observations, headers = self._observations, response.headers
        location = _absolute(request.url, headers.get("location", ""))
        observations.reply = HttpReply(response.status_code, headers.get("content-type", ""), location)
        observations.redirects = observations.redirects + 1 if 300 <= response.status_code < 400 else 0

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bounded(httpx2.AsyncByteStream):
    """A body whose bytes are counted and whose JSON can be read; one that is no stream of events is one message."""

    def __init__(self, response: httpx2.Response, observations: Observations) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._stream = response.stream
        self._observations = observations
        self._events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        self._lines = WholeLines(observations.limits.message_bytes)
        self._most = inf if self._events else observations.limits.message_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            self._observations.take(chunk)
            self._observations.require(size <= self._most)
            if self._events:
                self._observations.count_messages(chunk.count(b"\n\n") + chunk.count(b"\r\n\r\n"))
            if lines := self._lines.feed(chunk):
                yield await _mended(lines)
        if lines := self._lines.rest():
            yield await _mended(lines)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _mended(lines: bytes) -> bytes:
    return sanitized(lines) if len(lines) < _READ_AT_ONCE else await asyncio.to_thread(sanitized, lines)


def _absolute(url: httpx2.URL, location: str) -> str:
    try:
        return str(url.join(location)) if location else ""
    except httpx2.InvalidURL:
        return location


@asynccontextmanager
async def connected(
    resolved: ResolvedSpec, observations: Observations, auth: httpx2.Auth | None = None
) -> AsyncIterator[TransportStreams]:
    """The message streams of an HTTP server; `auth` signs its requests, and may make some of its own."""
    url = address(resolved)
    headers = resolved.headers()
    observations.secrets = resolved.secrets
    older = resolved.spec.transport is Transport.SSE
    errors = ServerErrors(resolved.spec, observations)
    inner = await checked_transport(url, signs_in=auth is not None)
    client = httpx2.AsyncClient(
        headers=headers | {"Accept-Encoding": "identity"},
        auth=auth,
        timeout=_READ_FOR_LIFE,
        transport=_Watched(inner, observations, ("GET", "POST") if older else ("POST",), errors, str(url)),
        max_redirects=observations.limits.redirects + (_SIGN_IN_STEPS if auth else 0),
    )
    if older:
        async with client, older_streams(url, client, errors) as streams:
            yield streams
    else:
        async with (
            client,
            streamable_http_client(
                str(url), http_client=client, max_sse_event_size=observations.limits.message_bytes
            ) as streams,
        ):
            yield streams


async def checked_transport(url: httpx2.URL, *, signs_in: bool) -> httpx2.AsyncBaseTransport:
    """Return a transport for an address that connects to checked addresses only, or to the proxy for it."""
    transport = httpx2.AsyncHTTPTransport(verify=await trust(url, signs_in=signs_in), proxy=proxy_for(url))
    check_names(transport)
    return transport


def address(resolved: ResolvedSpec) -> httpx2.URL:
    """The url to connect to; ServerError where it is none."""
    try:
        url = httpx2.URL(resolved.url())
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise resolved.fault(
            f"has the address “{resolved.spec.url or ''}”, which is not a url",
            "Write one such as https://example.com/mcp.",
        )
    return url


def proxy_for(url: httpx2.URL) -> str | None:
    """The proxy that the environment asks for, if it asks for one; never for this machine itself."""
    if is_here(url.host) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


async def trust(url: httpx2.URL, *, signs_in: bool) -> ssl.SSLContext:
    """Return the trusted authorities. Loading the authorities takes 50 to 100 ms, so it is done once, off the loop."""
    if url.scheme == "http" and is_here(url.host) and not signs_in:
        return _no_authorities()
    return await asyncio.to_thread(_authorities)


@lru_cache(maxsize=1)
def _no_authorities() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # making one takes 1 ms


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def is_here(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
