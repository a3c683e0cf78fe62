"""Servers that end when they should not, and servers that will not end."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

from tests.support.faults.silence import wait_for_ever
from tests.support.faults.talk import Json, Talk, tool


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
