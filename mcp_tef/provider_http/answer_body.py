"""Body of one answer: decoded piece by piece, and bounded after decompression."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterator

from mcp_tef.provider_http.exchange import ROOM, Exchange

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

FIRST_REDIRECT = 300
"""The lowest status of an answer whose body only explains it."""


class AnswerBodyError(Exception):
    """An answer that is too large, or encoded otherwise than was asked for."""


async def read_body(
    chunks: AsyncIterable[bytes], decoder: BodyDecoder, exchange: Exchange, *, is_error: bool = False
) -> bytes:
    """Return a body of at most `most_bytes` after decompression; AnswerBodyError if it is larger.

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
                    raise AnswerBodyError("The answer is too large.")
                if kept := piece[:left]:
                    yield kept
                if self.is_full:
                    return
        except ValueError as error:
            raise AnswerBodyError(str(error)) from None

    def add(self, piece: bytes) -> None:
        """Keep a piece."""
        self._parts.append(piece)
        self._size += len(piece)

    def content(self) -> bytes:
        """Return all that was kept."""
        return b"".join(self._parts)
