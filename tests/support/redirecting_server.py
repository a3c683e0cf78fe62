"""Two HTTP servers on loopback: one that redirects every request to the other, which notes what arrives."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class RedirectingServer:
    """`url` redirects to another port with the status `code`; `asked` and `arrived` are the requests at either.

    Each entry of `arrived` is the request's line and headers as text.
    """

    def __init__(self) -> None:
        self.code = 307
        self.asked: list[str] = []
        self.arrived: list[str] = []
        self._target = _server(self._arrive)
        self._source = _server(self._redirect)
        self._threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in self._servers]

    @property
    def url(self) -> str:
        """The base url of the server that redirects."""
        return f"http://127.0.0.1:{self._source.server_port}"

    @property
    def _servers(self) -> tuple[ThreadingHTTPServer, ...]:
        return (self._source, self._target)

    def __enter__(self) -> "RedirectingServer":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join()

    def _redirect(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(handler.path)
        handler.send_response(self.code)
        handler.send_header("Location", f"http://127.0.0.1:{self._target.server_port}{handler.path}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def _arrive(self, handler: BaseHTTPRequestHandler) -> None:
        self.arrived.append(f"{handler.requestline}\n{handler.headers}")
        handler.send_response(200)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"{}")


def _server(answer: Any) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            answer(self)

        do_GET = do_POST = _any  # noqa: N815  # the names that its parent calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its parent's name
            """Say nothing."""

    return _QuietServer(("127.0.0.1", 0), Handler)


class _QuietServer(ThreadingHTTPServer):
    """A server that says nothing of clients that hang up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""
