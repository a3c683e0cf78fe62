"""Servers that keep one waiting: they say nothing, not yet, or not to what was asked."""

import os
import threading
from collections.abc import Mapping

from tests.support.faults.talk import METHOD_NOT_FOUND, Json, Talk

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
