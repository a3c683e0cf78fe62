"""A stdio MCP server that misbehaves in the one way its argument names; standard library only, so it starts at once.

Add a fault by writing a `Talk` with the method overridden in which it differs, and naming it in `FAULTS`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
METHOD_NOT_FOUND = -32601
UNSUPPORTED_VERSION = -32022
HANDSHAKE, MODERN = "2025-06-18", "2026-07-28"


def command(fault: str) -> tuple[str, ...]:
    """The command line that starts this server with one fault."""
    return (sys.executable, str(Path(__file__).resolve()), fault)


def tool(name: str, /, **fields: Any) -> Json:
    """A sound definition, but for `fields`."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}} | fields


class Talk:
    """A well-behaved server with two tools; faults override what they do otherwise."""

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
            self.say(json.dumps(reply))

    def say(self, line: str) -> None:
        """Write one line."""
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

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


class Silent(Talk):
    """Hears everything and says nothing."""

    def hear(self, message: Json) -> None:
        return


class SilentList(Talk):
    """Greets, and never lists."""

    def page(self, cursor: str | None) -> Json:
        threading.Event().wait()
        return {}


class Exits(Talk):
    """Complains and leaves before the first word."""

    def begin(self) -> None:
        sys.stderr.write("Reading the settings\n\x1b[31mError: no database at /var/lib/shop\x1b[0m\n")
        sys.exit(3)


class ExitsLater(Talk):
    """Greets and leaves in the middle of the listing."""

    def page(self, cursor: str | None) -> Json:
        sys.stderr.write("out of memory\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


class EchoesSecret(Talk):
    """Prints an environment variable where everybody can read it, and leaves."""

    def begin(self) -> None:
        sys.stderr.write(f"cannot log in with {os.environ['TOKEN']}\n")
        sys.exit(1)


class JunkFirst(Talk):
    """Greets people before it greets programs."""

    def begin(self) -> None:
        self.say("Welcome to the fault server!")
        self.say('{"level": "info", "message": "listening"}')


class JunkOnly(Silent):
    """Speaks, but not the protocol."""

    def begin(self) -> None:
        self.say("Usage: server [options]")


class JunkFlood(Talk):
    """Never stops to talk, and never says anything."""

    def begin(self) -> None:
        while True:
            self.say("noise")


class LongLine(Talk):
    """Answers the list with a line that does not end."""

    def page(self, cursor: str | None) -> Json:
        while True:
            sys.stdout.write("x" * 65536)


class StderrFlood(Talk):
    """Writes a megabyte of complaints, and works."""

    def begin(self) -> None:
        for number in range(10_000):
            sys.stderr.write(f"{number:06} {'complaint ' * 10}\n")


class BadTools(Talk):
    """Lists sound tools among definitions that are wrong in every way."""

    def page(self, cursor: str | None) -> Json:
        sound = tool("sound", vendorField={"kept": [1, 2]}, annotations={"readOnlyHint": True})
        bad: list[Any] = [
            {"description": "no name", "inputSchema": {"type": "object"}},
            tool("worded", description=12),
            tool("schemaless") | {"inputSchema": "a string"},
            tool("unsound", inputSchema={"type": "object", "properties": {"a": {"type": "strin"}}}),
            "not even an object",
            tool("sound", description="The same name again."),
        ]
        return {"tools": [sound, *bad, tool("last")]}


class NoList(Talk):
    """Answers the list with something else."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": "none"}


class Pages(Talk):
    """Lists five tools on three pages."""

    def page(self, cursor: str | None) -> Json:
        start = int(cursor or 0)
        tools = [tool(f"tool{number}") for number in range(start, min(start + 2, 5))]
        return {"tools": tools} | ({"nextCursor": str(start + 2)} if start + 2 < 5 else {})


class RepeatedCursor(Talk):
    """Sends one to the same page for ever."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool("again" if cursor else "once")], "nextCursor": "same"}


class EndlessPages(Talk):
    """Always has one page more."""

    def page(self, cursor: str | None) -> Json:
        number = int(cursor or 0)
        return {"tools": [tool(f"tool{number}")], "nextCursor": str(number + 1)}


class Refuses(Talk):
    """Answers the handshake with an error of its own."""

    def answer(self, method: str, params: Json) -> Json | None:
        return {"error": {"code": -32000, "message": "Licence has expired"}}


class OddGreeting(Talk):
    """Greets with the wrong shape."""

    def greeting(self) -> Json:
        return {"hello": "world"}


class IgnoresUnknown(Talk):
    """Leaves methods that it does not know without an answer."""

    def answer(self, method: str, params: Json) -> Json | None:
        return super().answer(method, params) if method in ("initialize", "tools/list") else None


class ModernOnly(Talk):
    """Speaks only the stateless protocol, which has no handshake."""

    def answer(self, method: str, params: Json) -> Json | None:
        common = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            return {"result": common | {"supportedVersions": [MODERN], "capabilities": self.capabilities}}
        if method == "tools/list" and "io.modelcontextprotocol/protocolVersion" in params.get("_meta", {}):
            return {"result": common | self.page(None)}
        data = {"supported": [MODERN], "requested": HANDSHAKE}
        return {"error": {"code": UNSUPPORTED_VERSION, "message": "Unsupported protocol version", "data": data}}


class Toolless(Talk):
    """Has prompts only, and does not know the method that lists tools."""

    capabilities: Mapping[str, Any] = {"prompts": {}}

    def answer(self, method: str, params: Json) -> Json | None:
        return super().answer("unknown" if method == "tools/list" else method, params)


class Stubborn(Talk):
    """Lists its own process id, and will not leave when asked."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool(f"pid-{os.getpid()}")]}

    def end(self) -> None:
        threading.Event().wait()


class StubbornSilent(Stubborn):
    """Will neither answer nor leave; its process id is in its complaints."""

    def hear(self, message: Json) -> None:
        sys.stderr.write(f"pid-{os.getpid()}\n")
        sys.stderr.flush()


class Parent(Talk):
    """Has a child that would outlive it, and lists the child's process id."""

    def page(self, cursor: str | None) -> Json:
        child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
        return {"tools": [tool(f"pid-{child.pid}")]}


class Surroundings(Talk):
    """Lists the names of its environment variables, each described by its value."""

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool(name, description=value) for name, value in os.environ.items()]}


FAULTS: Mapping[str, type[Talk]] = {
    "none": Talk,
    "silent": Silent,
    "silent-list": SilentList,
    "exits": Exits,
    "exits-later": ExitsLater,
    "echoes-secret": EchoesSecret,
    "junk-first": JunkFirst,
    "junk-only": JunkOnly,
    "junk-flood": JunkFlood,
    "long-line": LongLine,
    "stderr-flood": StderrFlood,
    "bad-tools": BadTools,
    "no-list": NoList,
    "pages": Pages,
    "repeated-cursor": RepeatedCursor,
    "endless-pages": EndlessPages,
    "refuses": Refuses,
    "odd-greeting": OddGreeting,
    "ignores-unknown": IgnoresUnknown,
    "modern-only": ModernOnly,
    "toolless": Toolless,
    "stubborn": Stubborn,
    "stubborn-silent": StubbornSilent,
    "parent": Parent,
    "surroundings": Surroundings,
}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]().run()
