"""Guards of provider requests by httpx: allowed origins only, bounded and safely decompressed answers, no redirects."""

from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager

import httpx

from mcp_tef.provider_http import answer_body
from mcp_tef.provider_http.answer_body import ACCEPTED, FIRST_REDIRECT, AnswerBodyError, Body, BodyDecoder
from mcp_tef.provider_http.exchange import ROOM, Exchange, current_exchange


class RefusedRequestError(httpx.UnsupportedProtocol):
    """A request to an address that does not belong to the call. Nothing was sent."""


class UnreadableAnswerError(httpx.DecodingError):
    """An answer that is too large, or encoded otherwise than was asked for."""


def admit(request: httpx.Request) -> Exchange:
    """Return the call that a request belongs to; RefusedRequestError before anything leaves for another origin."""
    exchange = current_exchange()
    if exchange is None:
        raise RefusedRequestError("A request outside of a call to a model was refused.", request=request)
    if not exchange.enter(str(request.url)):
        raise RefusedRequestError(f"A request to {exchange.refused_origin} was refused.", request=request)
    if exchange.too_large:
        # Some libraries would ask again, and read as much again.
        raise UnreadableAnswerError("The answer was too large.", request=request)
    ROOM.give_back(exchange)
    request.headers["Accept-Encoding"] = ACCEPTED
    return exchange


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
    """Return a body as `answer_body.read_body` does, with an error that httpx's callers know."""
    with _as_httpx_error():
        return await answer_body.read_body(chunks, decoder, exchange, is_error=is_error)


def read_body_at_once(chunks: Iterator[bytes], decoder: BodyDecoder, exchange: Exchange, *, is_error: bool) -> bytes:
    """Return a body that is read without asyncio."""
    body = Body(decoder, exchange, is_error=is_error)
    with _as_httpx_error():
        for chunk in chunks:
            for piece in body.pieces(chunk):
                body.add(piece)
            if body.is_full:
                break
    return body.content()


@contextmanager
def _as_httpx_error() -> Iterator[None]:
    try:
        yield
    except AnswerBodyError as error:
        raise UnreadableAnswerError(str(error)) from None


def answered(response: httpx.Response, body: bytes) -> httpx.Response:
    """Return the answer with its whole body decoded, and without the header that a client would follow."""
    dropped = {"content-encoding", "content-length", "transfer-encoding", "location"}
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in dropped]
    return httpx.Response(
        response.status_code, headers=headers, stream=httpx.ByteStream(body), extensions=response.extensions
    )


def is_error(response: httpx.Response) -> bool:
    """Return True if the answer is an error or a redirect, whose body only explains it."""
    return response.status_code >= FIRST_REDIRECT
