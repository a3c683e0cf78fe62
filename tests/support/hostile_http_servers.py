"""HTTP servers on loopback that flood (huge, endless, compressed or mislabelled answers) or redirect."""

import json
import socket
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MB = 1024 * 1024
_BLOCK = 64 * 1024
_HEAD = (
    b'{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "finish_reason": '
)
_HEAD += b'"stop", "message": {"role": "assistant", "content": "'
_TAIL = b'"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}'


class FloodingServer:
    """Every POST is answered by `kind`; `sent` holds how many bytes of each body went out before the client left.

    Kinds: `text` (a chat completion of `size` bytes), `gzip` and `deflate` (the same, compressed), `endless` (chunks
    without end), `endless-gzip`, `false-length` (says 10 bytes, sends `size`), `error` (the status 500 with `size`
    bytes), `brotli` (an encoding that nobody asked for) and `ordinary` (a short answer).
    """

    def __init__(self, kind: str, size: int = 100 * MB) -> None:
        self.kind = kind
        self.size = size
        self.sent: list[int] = []
        self.hung_up = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def url(self) -> str:
        """The base url to give to a client."""
        return f"{self.origin}/v1"

    def __enter__(self) -> "FloodingServer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            if not _read_request(connection):
                return
            number = len(self.sent)
            self.sent.append(0)
            try:
                connection.sendall(self._head())
                for block in self._blocks():
                    connection.sendall(block)
                    self.sent[number] += len(block)
            except OSError:
                self.hung_up.set()

    def _head(self) -> bytes:
        status = "500 Internal Server Error" if self.kind == "error" else "200 OK"
        lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", "Connection: close"]
        encoding = {"gzip": "gzip", "endless-gzip": "gzip", "deflate": "deflate", "brotli": "br"}.get(self.kind)
        lines += [f"Content-Encoding: {encoding}"] if encoding else []
        lines += ["Transfer-Encoding: chunked"] if self.kind.startswith("endless") else []
        lines += ["Content-Length: 10"] if self.kind == "false-length" else []
        return "\r\n".join([*lines, "", ""]).encode()

    def _blocks(self) -> Iterator[bytes]:
        if self.kind == "ordinary":
            yield _HEAD + b"Hello." + _TAIL
        elif self.kind in ("gzip", "deflate"):
            yield from _compressed(self.size, 16 + zlib.MAX_WBITS if self.kind == "gzip" else zlib.MAX_WBITS)
        elif self.kind.startswith("endless"):
            deflate = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
            while True:
                block = b"x" * _BLOCK
                if self.kind == "endless-gzip":
                    block = deflate.compress(block * 16) + deflate.flush(zlib.Z_SYNC_FLUSH)
                yield f"{len(block):x}\r\n".encode() + block + b"\r\n"
        else:
            yield from _text(self.size)


def _text(size: int) -> Iterator[bytes]:
    yield _HEAD
    for _ in range(max(0, size - len(_HEAD) - len(_TAIL)) // _BLOCK):
        yield b"x" * _BLOCK
    yield _TAIL


def _compressed(size: int, window: int) -> Iterator[bytes]:
    deflate = zlib.compressobj(9, zlib.DEFLATED, window)
    for block in _text(size):
        yield deflate.compress(block)
    yield deflate.flush()


def _read_request(connection: socket.socket) -> bool:
    """Read a whole request; False if the client left before."""
    data = b""
    while b"\r\n\r\n" not in data:
        block = connection.recv(_BLOCK)
        if not block:
            return False
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    left = int(lengths[0]) - len(body) if lengths else 0
    while left > 0:
        left -= len(connection.recv(_BLOCK))
    return True


def main() -> None:
    """Serve one kind until the input ends; the address is printed as JSON first."""
    import sys

    with FloodingServer(sys.argv[1], int(sys.argv[2])) as server:
        print(json.dumps({"url": server.url}), flush=True)
        sys.stdin.read()


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


if __name__ == "__main__":
    main()
