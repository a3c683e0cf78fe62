"""Reads a program as a screen reader does, over AT-SPI: what is shown, by its name, and what has the keyboard."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import (  # type: ignore[import-untyped]  # it ships no types
    DBusAddress,
    HeaderFields,
    MatchRule,
    Message,
    MessageType,
    Properties,
    message_bus,
    new_method_call,
)
from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]

SPOKEN = "org.a11y.atspi.Accessible"
TEXT = "org.a11y.atspi.Text"
FOCUSED, SHOWING = 1 << 12, 1 << 25
WHOLE = ("table", "tree", "tree table", "list", "label")

Reference = tuple[str, str]
MOVED = MatchRule(type="signal", interface="org.a11y.atspi.Event.Object", member="StateChanged")
DESKTOP: Reference = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")


@dataclass(frozen=True)
class Thing:
    """Something that is shown."""

    reference: Reference
    name: str
    role: str
    focused: bool


class ScreenReader:
    """Says that a screen reader is there, on a session's bus, and reads for it."""

    def __init__(self, session: str) -> None:
        self._session = open_dbus_connection(bus=session)
        bus = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
        (address,) = self._session.send_and_get_reply(new_method_call(bus, "GetAddress")).body
        status = bus.with_interface("org.a11y.Status")
        self._session.send_and_get_reply(Properties(status).set("IsEnabled", "b", True))
        self._bus = open_dbus_connection(bus=address)
        self._moves = self._bus.filter(MOVED, queue=deque()).__enter__()
        self._bus.send_and_get_reply(message_bus.AddMatch(MOVED))
        registry = DBusAddress("/org/a11y/atspi/registry", bus_name=DESKTOP[0], interface=DESKTOP[0])
        self._bus.send_and_get_reply(new_method_call(registry, "RegisterEvent", "s", ("object:state-changed:focused",)))
        self._focus: Reference | None = None

    def close(self) -> None:
        """Leave both buses."""
        self._bus.close()
        self._session.close()

    def things(self) -> list[Thing]:
        """All that is shown, in reading order; of long lists only that they are there."""
        programs: list[Reference] = self._asked(DESKTOP, SPOKEN, "GetChildren") or []
        return [thing for program in programs for thing in self._below(program)]

    def focus(self) -> Thing | None:
        """Return the focused element: from the last focus event, or by searching if there was none yet."""
        self._bus.send_and_get_reply(message_bus.GetId())  # whatever was said before the answer is heard by then
        while self._moves:
            self._hear(self._moves.popleft())
        if self._focus:
            return self._thing(self._focus, FOCUSED)
        return next((thing for thing in self.things() if thing.focused), None)

    def _hear(self, moved: Message) -> None:
        what, is_so, *_ = moved.body
        if (what, is_so) == ("focused", 1):
            fields = moved.header.fields
            self._focus = fields[HeaderFields.sender], fields[HeaderFields.path]

    def text(self, thing: Thing) -> str:
        """Return the text that was typed into an element."""
        return str(self._asked(thing.reference, TEXT, "GetText", "ii", (0, -1)) or "")

    def _below(self, reference: Reference) -> Iterator[Thing]:
        """Yield the elements inside an element, skipping those that disappear meanwhile."""
        for child in self._asked(reference, SPOKEN, "GetChildren") or ():
            low, _ = self._asked(child, SPOKEN, "GetState") or (0, 0)
            if low & SHOWING:
                thing = self._thing(child, low)
                yield thing
                yield from self._below(child) if thing.role not in WHOLE else ()

    def _thing(self, reference: Reference, state: int) -> Thing:
        role = str(self._asked(reference, SPOKEN, "GetRoleName"))
        return Thing(reference, self._name(reference), role, bool(state & FOCUSED))

    def _name(self, reference: Reference) -> str:
        path = DBusAddress(reference[1], bus_name=reference[0], interface=SPOKEN)
        answer = self._bus.send_and_get_reply(Properties(path).get("Name"))
        return str(answer.body[0][1]) if answer.header.message_type is MessageType.method_return else ""

    def _asked(self, of: Reference, interface: str, what: str, kinds: str = "", given: tuple[int, ...] = ()) -> Any:
        """One answer, or nothing from what is no longer there."""
        address = DBusAddress(of[1], bus_name=of[0], interface=interface)
        answer = self._bus.send_and_get_reply(new_method_call(address, what, kinds, given))
        return answer.body[0] if answer.header.message_type is MessageType.method_return else None
