"""The HTTP protocol of uvicorn with bounds that it lacks: connections, and the time for the head of a request.

It also sends each answer in one piece.

Reaches into `H11Protocol` (its `conn`, `cycle`, `connections`, `transport` and `on_response_complete`), since uvicorn
has no time-out for a request that never ends its headers; `tests/mcp_tef/rest/test_attacks.py` fails if these change.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 512
MOST_KEPT: Final = 64 * 1024


class JoinedWrites:
    """A transport that sends head and body together: on a busy machine, a system call may cost the thread its turn."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._written: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep the bytes until this turn of the loop ends, unless they are many: then pressure has to be felt."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)
        if sum(map(len, self._written)) > MOST_KEPT:
            self._send()

    def close(self) -> None:
        """Send what is left, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        written, self._written = self._written, []
        if written:
            self._transport.write(b"".join(written))


class BoundedProtocol(H11Protocol):
    """Closes connections beyond the bound, and those whose request does not arrive in time."""

    head_seconds: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless too many are open."""
        joined: Any = JoinedWrites(transport, self.loop)
        super().connection_made(joined)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; its head has to be whole by the deadline."""
        super().data_received(data)
        self._judge()

    def on_response_complete(self) -> None:
        """Let the caller end a body that nobody will read, but only until the deadline."""
        super().on_response_complete()
        self._judge()

    def _judge(self) -> None:
        state = repr(self.conn.their_state)
        is_unread = state == "SEND_BODY" and self.cycle is not None and self.cycle.response_complete
        if state == "IDLE" or is_unread:
            self._watch()
        else:
            self._unwatch()

    def _watch(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.head_seconds, self.transport.abort)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def bounded_by(seconds: float) -> type[BoundedProtocol]:
    """Return the protocol with another deadline."""
    return type("BoundedProtocol", (BoundedProtocol,), {"head_seconds": seconds})
