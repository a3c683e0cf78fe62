"""Guards of provider requests: allowed origins only, bounded and safely decompressed answers, no redirects."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator

import httpx

from mcp_tef.model.addresses import origin_of
from mcp_tef.provider_http.exchange import ROOM, Exchange, current_exchange

ACCEPTED = "gzip, deflate"
PIECE_BYTES = 64 * 1024

_GZIP = 16 + zlib.MAX_WBITS


class BodyDecoder:
    """Decoder of one body; ValueError for an encoding that was not asked for, or a body that does not match it."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"the answer is encoded as {name[:40]}, which was not asked for")
        self._plain = name in ("", "identity")
        self._may_be_raw = name == "deflate"
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS if self._may_be_raw else _GZIP)

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes of a chunk, at most 64 KB at a time."""
        if self._plain:
            yield chunk
            return
        while chunk and not self._inflate.eof:
            piece = self._decoded(chunk)
            chunk = self._inflate.unconsumed_tail
            if piece:
                yield piece

    def _decoded(self, chunk: bytes) -> bytes:
        try:
            return self._inflate.decompress(chunk, PIECE_BYTES)
        except zlib.error as error:
            if not self._may_be_raw:
                raise ValueError("the answer is not compressed as it says") from error
        finally:
            # Servers send "deflate" with and without a zlib header; the first bytes decide.
            may_be_raw, self._may_be_raw = self._may_be_raw, False
        assert may_be_raw
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._decoded(chunk)


ERROR_BYTES = 64 * 1024
"""So much of an error's body is read; the rest is dropped. Messages of errors are a few KB."""

_FIRST_REDIRECT = 300


class RefusedRequestError(httpx.UnsupportedProtocol):
    """A request to an address that does not belong to the call. Nothing was sent."""


class UnreadableAnswerError(httpx.DecodingError):
    """An answer that is too large, or encoded otherwise than was asked for."""


def admit(request: httpx.Request) -> Exchange:
    """Return the call that a request belongs to; RefusedRequestError before anything leaves for another origin."""
    exchange = current_exchange()
    if exchange is None:
        raise RefusedRequestError("A request outside of a call to a model was refused.", request=request)
    origin = origin_of(str(request.url))
    if not _is_among(origin, exchange.origins):
        exchange.refused_origin = origin
        raise RefusedRequestError(f"A request to {origin} was refused.", request=request)
    if exchange.too_large:
        # Some libraries would ask again, and read as much again.
        raise UnreadableAnswerError("The answer was too large.", request=request)
    ROOM.give_back(exchange)
    # litellm looks some models up first, at addresses of its own; only the last request decides.
    exchange.refused_origin = ""
    exchange.origin = origin
    request.headers["Accept-Encoding"] = ACCEPTED
    return exchange


def _is_among(origin: str, allowed: frozenset[str]) -> bool:
    """Return True if an origin is listed, or a host of a listed `*.DOMAIN`, by https at its usual port."""
    scheme, _, host = origin.partition("://")
    domains = (one[1:] for one in allowed if one.startswith("*."))
    if not origin:
        return False
    return origin in allowed or (scheme == "https" and ":" not in host and any(map(host.endswith, domains)))


def accept(response: httpx.Response, exchange: Exchange) -> BodyDecoder:
    """Note an answer's head, and return what decodes its body; UnreadableAnswerError for an unasked encoding."""
    exchange.status = response.status_code
    exchange.headers = response.headers
    try:
        return BodyDecoder(response.headers.get("content-encoding", ""))
    except ValueError as error:
        raise UnreadableAnswerError(str(error)) from None


async def read_body(
    chunks: AsyncIterable[bytes], decoder: BodyDecoder, exchange: Exchange, *, is_error: bool = False
) -> bytes:
    """Return a body of at most `most_bytes` after decompression; UnreadableAnswerError if it is larger.

    An error's body is cut at 64 KB instead, so that its status can still be explained.
    """
    body = Body(decoder, exchange, is_error=is_error)
    iterator = aiter(chunks)
    try:
        async for chunk in iterator:
            for piece in body.pieces(chunk):
                await ROOM.take(exchange, len(piece), exchange.most_bytes)
                body.add(piece)
            if body.is_full:
                break
    finally:
        await _close(iterator)
    exchange.received = body.content()
    return exchange.received


async def _close(iterator: object) -> None:
    """Close an iteration that may not have come to its end, and its connection with it."""
    if isinstance(iterator, AsyncGenerator):
        await iterator.aclose()


class Body:
    """The bytes of one answer as they come in."""

    def __init__(self, decoder: BodyDecoder, exchange: Exchange, *, is_error: bool) -> None:
        self._decoder = decoder
        self._exchange = exchange
        self._is_error = is_error
        self._most = min(ERROR_BYTES, exchange.most_bytes) if is_error else exchange.most_bytes
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        """True if the rest of an error is to be dropped."""
        return self._is_error and self._size >= self._most

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes of a chunk, not more than there is room for."""
        try:
            for piece in self._decoder.decode(chunk):
                left = self._most - self._size
                if len(piece) > left and not self._is_error:
                    self._exchange.too_large = True
                    raise UnreadableAnswerError("The answer is too large.")
                if kept := piece[:left]:
                    yield kept
                if self.is_full:
                    return
        except ValueError as error:
            raise UnreadableAnswerError(str(error)) from None

    def add(self, piece: bytes) -> None:
        """Keep a piece."""
        self._parts.append(piece)
        self._size += len(piece)

    def content(self) -> bytes:
        """Return all that was kept."""
        return b"".join(self._parts)


def answered(response: httpx.Response, body: bytes) -> httpx.Response:
    """Return the answer with its whole body decoded, and without the header that a client would follow."""
    dropped = {"content-encoding", "content-length", "transfer-encoding", "location"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in dropped]
    return httpx.Response(
        response.status_code, headers=headers, stream=httpx.ByteStream(body), extensions=response.extensions
    )


def is_error(response: httpx.Response) -> bool:
    """Return True if the answer is an error or a redirect, whose body only explains it."""
    return response.status_code >= _FIRST_REDIRECT
