"""A stdio server whose tools answer calls, each in the way of its name; standard library only."""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.support.faults.fault_script import Json, Talk, tool

ROOT = Path(__file__).parents[2]
BIG = 3_000_000


def command() -> tuple[str, ...]:
    """The command line that starts it."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.calling_server import main; main()"
    return (sys.executable, "-S", "-c", script)


def text(words: str) -> Json:
    """A result with one text."""
    return {"content": [{"type": "text", "text": words}]}


class Calling(Talk):
    """Repeats arguments, fails, asks back, tells its secrets, floods, or says nothing."""

    def page(self, cursor: str | None) -> Json:
        """Every tool takes anything."""
        return {"tools": [tool(name) for name in ("echo", "broken", "refuses", "silent", "secret", "big", "odd")]}

    def answer(self, method: str, params: Json) -> Json | None:
        """The answer to a call; anything else as usual."""
        if method != "tools/call":
            return super().answer(method, params)
        return _ANSWERS[params["name"]](params.get("arguments"))


def _silent() -> None:
    threading.Event().wait()


def _refusal() -> Json:
    return {"error": {"code": -32602, "message": f"Not like that, {os.environ.get('CITY_PASS', '')}"}}


def _odd() -> Json:
    blocks: list[object] = [
        {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
        {"type": "new"},
        5,
    ]
    return {"content": blocks, "structuredContent": {"n": 1}, "_meta": {"x": 1}}


_ANSWERS: Mapping[str, Callable[[Json | None], Json | None]] = {
    "echo": lambda given: {"result": {**text("heard"), "structuredContent": given}},
    "broken": lambda _: {"result": {**text("No such part."), "isError": True}},
    "refuses": lambda _: _refusal(),
    "silent": lambda _: _silent(),
    "secret": lambda _: {
        "result": {**text(os.environ.get("CITY_PASS", "")), "structuredContent": {"token": "abcdef12"}}
    },
    "big": lambda _: {"result": text("x" * BIG)},
    "odd": lambda _: {"result": _odd()},
    "unfit": lambda _: {"result": {"content": "text"}},
    "asks": lambda _: {"result": {"resultType": "input_required", "inputRequests": {}}},
}


def main() -> None:
    """Answer until the input ends."""
    Calling().run()
