"""HTTP MCP servers on loopback that misbehave in the one way they are named after; each runs in its own threads.

Add a fault by writing a function that answers one request, and naming it in `FAULTS`.
"""

import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.faults.lists import ModernOnly
from tests.support.faults.talk import Talk

PAGE = b"<!doctype html><title>A shop for people</title><p>Welcome!"
CHUNK = b"x" * 65536


class Server(ThreadingHTTPServer):
    """Remembers what it was asked, and lets nobody wait once it is closed."""

    daemon_threads = False

    def __init__(self, fault: "Fault") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.closing = threading.Event()
        self.headers_seen: list[Mapping[str, str]] = []

    @property
    def url(self) -> str:
        """Where the endpoint is."""
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has left in the middle is no news."""


class Handler(BaseHTTPRequestHandler):
    """One request, answered by the fault."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.fault(self)

    def do_POST(self) -> None:
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        self.server.fault(self)

    def do_DELETE(self) -> None:
        self.give(405)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Tests are quiet."""

    def message(self) -> dict[str, Any]:
        """The JSON that was posted."""
        content: dict[str, Any] = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        return content

    def give(self, status: int, kind: str = "text/plain", body: bytes = b"", **headers: str) -> None:
        """A whole answer; the connection ends with it."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def begin(self, kind: str) -> None:
        """The head of an answer whose end is the end of the connection."""
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True


Fault = Callable[[Handler], None]


def status(code: int, kind: str = "text/plain", body: bytes = b"", **headers: str) -> Fault:
    """Answers everything with one status."""
    return lambda handler: handler.give(code, kind, body, **headers)


def talking(talk: Talk) -> Fault:
    """Works, over streamable HTTP with JSON answers, as `talk` does over stdio."""

    def answer(handler: Handler) -> None:
        if handler.command == "GET":
            handler.give(405)
            return
        reply = talk.reply(handler.message())
        if reply is None:
            handler.give(202)
        else:
            handler.give(200, "application/json", json.dumps(reply).encode())

    return answer


def silent(handler: Handler) -> None:
    """Takes the request and says nothing until it is closed."""
    handler.server.closing.wait()
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Sends a byte now and then, for ever."""
    handler.begin("application/json")
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b" ")


def flood(handler: Handler) -> None:
    """Sends as fast as it can, for ever."""
    handler.begin("application/json")
    while not handler.server.closing.is_set():
        handler.wfile.write(CHUNK)


def hangs_up(handler: Handler) -> None:
    """Ends the connection without an answer."""
    handler.close_connection = True


def compressed(handler: Handler) -> None:
    """Compresses its answer whatever was asked for."""
    handler.give(200, "application/json", gzip.compress(b"{}"), content_encoding="gzip")


def sse_refuses(handler: Handler) -> None:
    """Opens an event stream, and refuses every message that is sent to it."""
    if handler.command == "POST":
        handler.give(500)
        return
    handler.begin("text/event-stream")
    handler.wfile.write(b"event: endpoint\ndata: /messages?session_id=1\n\n")
    handler.server.closing.wait()


def sse_silent(handler: Handler) -> None:
    """Opens an event stream on which nothing ever comes, and takes every message."""
    if handler.command == "POST":
        handler.give(202)
        return
    handler.begin("text/event-stream")
    handler.wfile.write(b"event: endpoint\ndata: /messages?session_id=1\n\n")
    handler.server.closing.wait()


FAULTS: Mapping[str, Fault] = {
    "none": talking(Talk()),
    "modern-only": talking(ModernOnly()),
    "web-page": status(200, "text/html; charset=utf-8", PAGE),
    "web-page-405": status(405, "text/html", PAGE),
    "unauthorized": status(401, www_authenticate="Bearer"),
    "forbidden": status(403),
    "not-found": status(404),
    "wrong-method": status(405),
    "too-many": status(429, retry_after="7"),
    "broken": status(500),
    "elsewhere": status(302, location="https://elsewhere.example/login?next=secret"),
    "other-json": status(200, "application/json", b'{"hello": "world"}'),
    "silent": silent,
    "drip": drip,
    "flood": flood,
    "hangs-up": hangs_up,
    "compressed": compressed,
    "sse-refuses": sse_refuses,
    "sse-silent": sse_silent,
}


@contextlib.contextmanager
def serving(fault: str) -> Iterator[Server]:
    """A running server with one fault."""
    with Server(FAULTS[fault]) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
