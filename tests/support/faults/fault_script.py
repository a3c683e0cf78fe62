"""A well-behaved MCP server, whatever carries its answers; each fault overrides what it does otherwise."""

import json
import sys
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
METHOD_NOT_FOUND = -32601
HANDSHAKE = "2025-06-18"


def tool(name: str, /, **fields: Any) -> Json:
    """A sound definition, but for `fields`."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}} | fields


class Talk:
    """A server with two tools."""

    capabilities: Mapping[str, Any] = {"tools": {}}

    def run(self) -> None:
        """Answer each line of standard input until it ends."""
        self.begin()
        for line in sys.stdin:
            self.hear(json.loads(line))
        self.end()

    def begin(self) -> None:
        """Before the first message."""

    def end(self) -> None:
        """After the last one."""

    def hear(self, message: Json) -> None:
        """Answer one message, if it wants an answer."""
        reply = self.reply(message)
        if reply is not None:
            self.write(self.text(reply) + b"\n")

    def text(self, reply: Json) -> bytes:
        """An answer as it is sent."""
        return json.dumps(reply).encode()

    def say(self, line: str) -> None:
        """Write one line."""
        self.write(f"{line}\n".encode())

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        sys.stdout.buffer.write(data)
        sys.stdout.flush()

    def complain(self, line: str) -> None:
        """Write one line where errors go."""
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def reply(self, message: Json) -> Json | None:
        """The whole JSON-RPC answer; None for notifications and silence."""
        if "id" not in message:
            return None
        answer = self.answer(message["method"], message.get("params") or {})
        return None if answer is None else {"jsonrpc": "2.0", "id": message["id"]} | answer

    def answer(self, method: str, params: Json) -> Json | None:
        """The `result` or `error` part of an answer."""
        if method == "initialize":
            return {"result": self.greeting()}
        if method == "tools/list":
            return {"result": self.page(params.get("cursor"))}
        return {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}

    def greeting(self) -> Json:
        """The answer to the handshake."""
        info = {"name": "fault server", "version": "1"}
        return {"protocolVersion": HANDSHAKE, "capabilities": self.capabilities, "serverInfo": info}

    def page(self, cursor: str | None) -> Json:
        """One page of tools."""
        return {"tools": [tool("first"), tool("second")]}
