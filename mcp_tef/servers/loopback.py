"""Waits on this machine for the browser to come back from a sign-in (RFC 8252, section 7.3)."""

import asyncio
import html
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from secrets import compare_digest
from urllib.parse import parse_qsl, urlsplit

_MAX_BYTES = 64 * 1024
_PATH = "/callback"
_SECONDS = 10.0
_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {size}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
)


class Listener:
    """One sign-in's ear. Only who knows the `state` that was sent along is heard; others learn nothing."""

    def __init__(self) -> None:
        self.redirect = ""
        self._state: str | None = None
        self._heard: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._talks: set[asyncio.Task[None]] = set()

    def expect(self, authorization: str) -> None:
        """Wait for the answer to the sign-in that this address begins."""
        self._state = dict(parse_qsl(urlsplit(authorization).query)).get("state")
        if self._heard.done():
            self._heard = asyncio.get_running_loop().create_future()

    async def answer(self) -> Mapping[str, str]:
        """The parameters that the browser brings back."""
        return await self._heard

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser, or of anything else on this machine."""
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._reply(head.split(b"\r\n", 1)[0].decode("latin-1")))
                    await writer.drain()
        finally:
            writer.close()
            self._talks.discard(task)

    def _reply(self, line: str) -> bytes:
        method, _, rest = line.partition(" ")
        path, _, query = rest.rpartition(" ")[0].partition("?")
        if method != "GET" or path != _PATH:
            return _page("404 Not Found", "There is nothing here.")
        given = dict(parse_qsl(query))
        if self._state is None or not compare_digest(given.get("state", "").encode(), self._state.encode()):
            return _page("400 Bad Request", "This does not belong to a sign-in that is under way.")
        if not self._heard.done():
            self._heard.set_result(given)
        done = "You are signed in" if "code" in given else "The sign-in was declined"
        return _page("200 OK", f"{done}. You can close this page and go back to mcp-tef.")

    async def close(self) -> None:
        """Hang up on whoever is still there."""
        self._heard.cancel()
        for task in self._talks:
            task.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """A listener at a port of its own, for as long as a sign-in takes."""
    listener = Listener()
    server = await asyncio.start_server(listener.receive, "127.0.0.1", 0, limit=_MAX_BYTES)
    listener.redirect = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_PATH}"
    try:
        yield listener
    finally:
        server.close()
        await listener.close()


def _page(status: str, words: str) -> bytes:
    body = f'<!doctype html><meta charset="utf-8"><title>mcp-tef</title><p>{html.escape(words)}</p>'.encode()
    return _PAGE.format(status=status, size=len(body)).encode() + body
