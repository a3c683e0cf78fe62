"""An HTTP server on loopback whose every answer is up to a fault; it runs in threads of its own."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Remembers what it was asked, and lets nobody wait once it is closed."""

    daemon_threads = False
    request_queue_size = 128

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
        self.server.headers_seen.append({name.lower(): value for name, value in self.headers.items()})
        self.server.fault(self)

    do_POST = do_GET  # noqa: N815

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
        self.begin(kind, status, content_length=str(len(body)), **headers)
        self.wfile.write(body)

    def begin(self, kind: str, status: int = 200, **headers: str) -> None:
        """The head of an answer whose end is the end of the connection."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.close_connection = True

    def repeat(self, data: bytes, pause: float = 0) -> None:
        """Send the same again and again, until the server is closed or the client has left."""
        while not self.server.closing.wait(pause):
            self.wfile.write(data)


Fault = Callable[[Handler], None]


@contextlib.contextmanager
def serving(fault: Fault) -> Iterator[Server]:
    """A running server with one fault."""
    with Server(fault) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()
