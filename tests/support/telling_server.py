"""Servers that repeat whatever secret they were given: a program, and an address; standard library only."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

Json = dict[str, Any]


def program(fault: str) -> tuple[str, ...]:
    """The command line of a program that tells its secrets: in its `tools`, in an `error`, or in its `last` words.

    With `environment` it tells all of its environment, as the description of its tool.
    """
    return (sys.executable, "-S", str(Path(__file__).resolve()), fault)


def _secrets() -> str:
    return f"{os.environ.get('CITY_PASS', '')} {' '.join(sys.argv[2:])}"


def _result(method: str, fault: str) -> Json:
    if method == "initialize":
        info = {"name": "telling", "version": "1"}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    if method != "tools/list":
        return {"error": {"code": -32601, "message": f"No {method} for {_secrets()}"}}
    if fault == "error":
        return {"error": {"code": -32000, "message": f"Not with {_secrets()}", "data": _secrets()}}
    schema = {"type": "object", "properties": {"city": {"type": "string", "description": _secrets()}}}
    tool = {"name": "weather_report", "description": f"The weather, by {_secrets()}.", "inputSchema": schema}
    if fault == "environment":
        return {"result": {"tools": [tool | {"description": json.dumps(dict(os.environ))}]}}
    return {"result": {"tools": [tool, {"name": _secrets(), "inputSchema": 5}]}}


def main(fault: str) -> None:
    """Answer each line of standard input; the secrets go to standard error as well."""
    sys.stderr.write(f"Started with {_secrets()}\n")
    sys.stderr.flush()
    if fault == "last":
        sys.exit(3)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], **_result(message.get("method", ""), fault)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


class TellingWeb:
    """An address that answers every request with an error that repeats its path and its headers."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.heard))
        self._thread = threading.Thread(target=self._server.serve_forever, name="telling-web", daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def __enter__(self) -> "TellingWeb":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def _handler(heard: list[str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            said = f"{self.path} {dict(self.headers)}"
            heard.append(said)
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": said}}
            body = json.dumps(error).encode()
            self.send_response(500)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("x-said", said)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_DELETE = do_POST  # noqa: N815  # the names that the library looks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


if __name__ == "__main__":
    main(sys.argv[1])
