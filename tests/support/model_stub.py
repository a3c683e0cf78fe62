"""A scripted OpenAI-compatible HTTP server on loopback, for tests and benchmarks; standard library only.

In a test: `with ModelStub([tool_calls(("add", {"a": 1})), rate_limited("2")]) as stub:` answers in that
order on `stub.url`, then by `pick`; a function from request to reply decides each time instead.
From a shell: `python -m tests.support.model_stub --port 0 --delay 0.5 --script call,429,junk` prints its port.
"""

import argparse
import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeAlias

from tests.support.model_replies import NAMED, Answerer, Received, Reply, pick

Step: TypeAlias = Reply | str | Answerer
Script: TypeAlias = Iterable[Step] | Callable[[Received], Step | None]

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


class ModelStub:
    """The server, on a thread of its own; `requests` are those received so far, in order.

    `listing` answers whoever asks which models there are, noted in `listings`.
    """

    def __init__(self, script: Script = (), *, delay: float = 0.0, port: int = 0) -> None:
        self.requests: list[Received] = []
        self.keep_requests = True
        self.listing = Reply(body='{"object":"list","data":[]}')
        self.listings: list[Received] = []
        self.delay = delay
        self.port = port
        self.connections = 0
        self.open: set[asyncio.Transport] = set()
        self._answer = script if callable(script) else _in_order(iter(script))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="model-stub", daemon=True)
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The base url to give to a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    def reply(self, request: Received) -> Reply:
        """What the script has for this request."""
        if self.keep_requests:
            self.requests.append(request)
        step = self._answer(request)
        if step is None:
            step = pick
        if isinstance(step, str):
            step = NAMED[step]
        return step if isinstance(step, Reply) else step(request)

    def __enter__(self) -> "ModelStub":
        self._thread.start()
        self.wait_until_ready()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def serve_forever(self) -> None:
        """Serve on this thread until interrupted."""
        self._run()

    def wait_until_ready(self) -> None:
        """Return once the port is known."""
        assert self._ready.wait(60), "the stub did not come up"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=512)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._close(server))
            self._loop.close()

    async def _close(self, server: asyncio.Server) -> None:
        """A connection that is just being accepted must be whole before its server goes."""
        while opening := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(opening)
        server.close()
        await _settled()
        while self.open:
            for transport in tuple(self.open):
                transport.abort()
            await _settled()


async def _settled() -> None:
    """Let connections that are just being opened or closed get there."""
    for _ in range(10):
        await asyncio.sleep(0)


def _in_order(steps: Iterable[Step]) -> Callable[[Received], Step | None]:
    rest = itertools.chain(steps, itertools.repeat(None))
    return lambda _request: next(rest)


class _Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection; one request at a time."""

    def __init__(self, stub: ModelStub) -> None:
        self._stub = stub
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._stub.open.add(transport)
        self._stub.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._stub.open.discard(self._transport)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, path, _ = first.split(" ", 2)
        self._serve(Received(method=method, path=path, headers=headers, body=_body(rest[:length])))

    def _serve(self, request: Received) -> None:
        if request.method == "POST":
            reply = self._stub.reply(request)
        else:
            reply = self._stub.listing
            self._stub.listings.append(request)
        delay = reply.delay + (self._stub.delay if request.method == "POST" else 0)
        if reply.hang:
            return
        if delay:
            asyncio.get_running_loop().call_later(delay, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        if self._transport is None:
            return
        if reply.drop:
            self._transport.abort()
            return
        self._transport.write(reply.wire or _encode(reply))
        if reply.wire:
            self._transport.close()


def _body(data: bytes) -> dict[str, Any]:
    value = json.loads(data) if data else {}
    return value if isinstance(value, dict) else {}


def _encode(reply: Reply) -> bytes:
    body = reply.body.encode()
    extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
    head = (
        f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}\r\n"
        f"Content-Type: {reply.content_type}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    )
    return head.encode("latin-1") + body


def _announce(stub: ModelStub) -> None:
    stub.wait_until_ready()
    print(stub.port, flush=True)


def main() -> None:
    """Serve until interrupted; the port is the first line of the output."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--script", default="", help=f"repeated for ever: names of {', '.join(NAMED)}, by comma")
    given = parser.parse_args()
    names = [name for name in given.script.split(",") if name]
    stub = ModelStub(itertools.cycle(names) if names else (), delay=given.delay, port=given.port)
    stub.keep_requests = False
    threading.Thread(target=_announce, args=(stub,), daemon=True).start()
    try:
        stub.serve_forever()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
