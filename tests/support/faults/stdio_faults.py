"""A stdio MCP server with one fault, named by its argument; standard library only, so it starts at once.

Add a fault by writing a `Talk` with the method overridden in which it differs, and naming it in the table of its kind.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from tests.support.faults import tool_lists
from tests.support.faults.fault_script import METHOD_NOT_FOUND, Json, Talk, tool

DRIP_SECONDS = 0.2
PARSE_ERROR = -32700


def wait_for_ever() -> None:
    """Until somebody kills us."""
    threading.Event().wait()


class Silent(Talk):
    """Hears everything and says nothing."""

    def hear(self, message: Json) -> None:
        return


class SilentList(Talk):
    """Greets, and never lists."""

    def page(self, cursor: str | None) -> Json:
        wait_for_ever()
        return {}


class Drip(Talk):
    """Answers, but a byte at a time, and with a pause after each."""

    def write(self, data: bytes) -> None:
        for byte in data:
            super().write(bytes((byte,)))
            threading.Event().wait(DRIP_SECONDS)


class DripList(Drip):
    """Greets, and lists a byte at a time."""

    def hear(self, message: Json) -> None:
        if message["method"] == "tools/list":
            super().hear(message)
        elif (reply := self.reply(message)) is not None:
            Talk.write(self, self.text(reply) + b"\n")


class IgnoresDiscover(Talk):
    """Does not know the handshake, and leaves the question of the stateless protocol without an answer."""

    def answer(self, method: str, params: Json) -> Json | None:
        if method == "server/discover":
            return None
        return {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}


class IgnoresUnknown(Talk):
    """Leaves methods that it does not know without an answer."""

    def answer(self, method: str, params: Json) -> Json | None:
        return super().answer(method, params) if method in ("initialize", "tools/list") else None


class WrongId(Talk):
    """Answers a question that nobody has asked."""

    def reply(self, message: Json) -> Json | None:
        reply = super().reply(message)
        return reply and reply | {"id": 4711}


class NoId(Talk):
    """Could not read the question, so its complaint belongs to none."""

    def reply(self, message: Json) -> Json | None:
        if "id" not in message:
            return None
        return {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": "Cannot read this"}}


class ClosesOutput(Talk):
    """Closes its output, and stays."""

    def hear(self, message: Json) -> None:
        os.close(1)
        wait_for_ever()


SILENCES: Mapping[str, type[Talk]] = {
    "silent": Silent,
    "silent-list": SilentList,
    "drip": Drip,
    "drip-list": DripList,
    "ignores-discover": IgnoresDiscover,
    "ignores-unknown": IgnoresUnknown,
    "wrong-id": WrongId,
    "no-id": NoId,
    "closes-output": ClosesOutput,
}


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
        for number in range(20_000):
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


class Exits(Talk):
    """Complains and leaves before the first word."""

    def begin(self) -> None:
        self.complain("Reading the settings\n\x1b[31mError: no database at /var/lib/shop\x1b[0m")
        sys.exit(3)


class ExitsGreeted(Talk):
    """Leaves when it is greeted."""

    def greeting(self) -> Json:
        self.complain("cannot bind the port")
        sys.exit(4)


class ExitsGreeting(Talk):
    """Greets, and leaves without a word when that is acknowledged."""

    def hear(self, message: Json) -> None:
        if message["method"] == "notifications/initialized":
            sys.exit(0)
        super().hear(message)


class ExitsLater(Talk):
    """Greets and is killed in the middle of the listing."""

    def page(self, cursor: str | None) -> Json:
        self.complain("out of memory")
        os.kill(os.getpid(), signal.SIGKILL)
        return {}


class ExitsPaging(Talk):
    """Lists one page, and leaves before the next."""

    def page(self, cursor: str | None) -> Json:
        if cursor is not None:
            self.complain("lost the cursor")
            sys.exit(1)
        return {"tools": [tool("first")], "nextCursor": "2"}


class ExitsMidLine(Talk):
    """Leaves in the middle of a word."""

    def write(self, data: bytes) -> None:
        super().write(data[: len(data) // 2])
        sys.exit(1)


class ExitsListed(Talk):
    """Leaves as soon as it has listed."""

    def write(self, data: bytes) -> None:
        super().write(data)
        if b'"tools": [' in data:
            sys.exit(1)


class EchoesSecret(Talk):
    """Prints an environment variable where everybody can read it, and leaves."""

    def begin(self) -> None:
        self.complain(f"cannot log in with {os.environ['TOKEN']}")
        sys.exit(1)


class Stubborn(Talk):
    """Lists its own process id, and will not leave when asked."""

    def begin(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def page(self, cursor: str | None) -> Json:
        return {"tools": [tool(f"pid-{os.getpid()}")]}

    def end(self) -> None:
        wait_for_ever()


class StubbornSilent(Stubborn):
    """Will neither answer nor leave; its process id is in its complaints."""

    def hear(self, message: Json) -> None:
        self.complain(f"pid-{os.getpid()}")


class Parent(Talk):
    """Has a child that would outlive it, and lists the child's process id."""

    def page(self, cursor: str | None) -> Json:
        child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
        return {"tools": [tool(f"pid-{child.pid}")]}


ENDINGS: Mapping[str, type[Talk]] = {
    "exits": Exits,
    "exits-greeted": ExitsGreeted,
    "exits-greeting": ExitsGreeting,
    "exits-later": ExitsLater,
    "exits-paging": ExitsPaging,
    "exits-mid-line": ExitsMidLine,
    "exits-listed": ExitsListed,
    "echoes-secret": EchoesSecret,
    "stubborn": Stubborn,
    "stubborn-silent": StubbornSilent,
    "parent": Parent,
}


ROOT = Path(__file__).parents[3]
FAULTS: Mapping[str, type[Talk]] = {
    "none": Talk,
    **SILENCES,
    **ENDINGS,
    **NOISES,
    **tool_lists.FAULTS,
}


def command(fault: str) -> tuple[str, ...]:
    """The command line that starts this server with one fault, wherever it is started."""
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.faults.stdio_faults import main; main()"
    )
    return (sys.executable, "-S", "-c", script, fault)


def main() -> None:
    """Misbehave."""
    FAULTS[sys.argv[1]]().run()
