"""Servers whose lines are no messages, or too many, or too long."""

import json
from collections.abc import Mapping

from tests.support.faults.silence import Silent
from tests.support.faults.talk import Json, Talk, tool

LONG_LINE_BYTES = 100 * 1024 * 1024
CHUNK = b"x" * 65536


class JunkFirst(Talk):
    """Greets people before it greets programs."""

    def begin(self) -> None:
        self.say("Welcome to the fault server!")
        self.say('{"level": "info", "message": "listening"}')


class JunkPrefix(Talk):
    """Puts a prompt before each message, on the same line."""

    def text(self, reply: Json) -> bytes:
        return b"fault> " + super().text(reply)


class JunkOnly(Silent):
    """Speaks, but not the protocol."""

    def begin(self) -> None:
        self.say("Usage: server [options]")


class JunkFlood(Talk):
    """Never stops to talk, and never says anything."""

    def begin(self) -> None:
        while True:
            self.write(b"noise\n" * 1000)


class ChatterFlood(Talk):
    """Reports without end instead of listing."""

    def page(self, cursor: str | None) -> Json:
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "busy"}}
        while True:
            self.write(f"{json.dumps(note)}\n".encode() * 1000)


class LongLine(Talk):
    """Answers the list with a line of 100 MB."""

    def page(self, cursor: str | None) -> Json:
        for _ in range(LONG_LINE_BYTES // len(CHUNK)):
            self.write(CHUNK)
        return {"tools": []}


class StderrFlood(Talk):
    """Complains without end from the first moment on, and works."""

    def begin(self) -> None:
        for number in range(100_000):
            self.complain(f"{number:06} {'complaint ' * 10}")


class Batch(Talk):
    """Answers with a list of messages."""

    def text(self, reply: Json) -> bytes:
        return b"[" + super().text(reply) + b"]"


class DeepJson(Talk):
    """Lists a tool whose schema nests 5,000 levels deep."""

    def text(self, reply: Json) -> bytes:
        return super().text(reply).replace(b'"DEEP"', b'{"not":' * 5000 + b"{}" + b"}" * 5000)

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("first"), tool("deep", inputSchema="DEEP")]}


class LoneSurrogates(Talk):
    """Lists tools with half characters in a description and in a schema."""

    def page(self, cursor: str | None) -> Json:
        half = {"type": "object", "properties": {"city": {"type": "string", "description": "\ud83d city"}}}
        return {"tools": [tool("first"), tool("half", description="Half \udc00"), tool("inner", inputSchema=half)]}


class InvalidUtf8(Talk):
    """Lists a tool whose description is in another encoding."""

    def text(self, reply: Json) -> bytes:
        return super().text(reply).replace(b"CAFE", "Café".encode("latin-1"))

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("first"), tool("latin", description="CAFE")]}


NOISES: Mapping[str, type[Talk]] = {
    "junk-first": JunkFirst,
    "junk-prefix": JunkPrefix,
    "junk-only": JunkOnly,
    "junk-flood": JunkFlood,
    "chatter-flood": ChatterFlood,
    "long-line": LongLine,
    "stderr-flood": StderrFlood,
    "batch": Batch,
    "deep-json": DeepJson,
    "lone-surrogates": LoneSurrogates,
    "invalid-utf8": InvalidUtf8,
}
