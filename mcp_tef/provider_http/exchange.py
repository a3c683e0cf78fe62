"""One HTTP call to a provider: allowed origins, recorded bytes, and the memory shared by all answers."""

import asyncio
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from mcp_tef.errors import ReachError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.limits import USUAL
from mcp_tef.model.secrets import Secret

ANSWERS_AT_ONCE = 2
"""So many answers of the largest size are held together: 32 MB. Reading one takes several copies of it."""
SMALL_BYTES = 64 * 1024
"""So much of each answer is read without waiting, so that no large one delays an ordinary one."""


class AnswerRoom:
    """A count of the bytes that are held, by reader. Readers wait for room, on whichever event loop they run.

    Half of the room is kept for the reader that came first, so that it can always finish: readers that wait for each
    other would otherwise all wait until their timeouts.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[Hashable, int] = {}
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    @property
    def held(self) -> int:
        """The bytes of all answers that are being read."""
        return sum(self._held.values())

    async def take(self, reader: Hashable, size: int, largest: int) -> None:
        """Count `size` more bytes for a reader whose answer may have `largest`; wait until there is room."""
        while (turn := self._take_now(reader, size, largest)) is not None:
            await turn

    def give_back(self, reader: Hashable) -> None:
        """Count nothing more for a reader, and wake those that wait."""
        with self._lock:
            self._held.pop(reader, None)
            waiting, self._waiting = self._waiting, []
        for loop, turn in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_wake, turn)

    def _take_now(self, reader: Hashable, size: int, largest: int) -> "asyncio.Future[None] | None":
        """Count the bytes and return None; return what to wait for if there is no room."""
        with self._lock:
            held = self._held.setdefault(reader, 0)
            first = next(iter(self._held)) == reader
            room = largest * (ANSWERS_AT_ONCE if first else ANSWERS_AT_ONCE - 1)
            if held + size <= SMALL_BYTES or self.held + size <= room or (first and held + size <= largest):
                self._held[reader] = held + size
                return None
            loop = asyncio.get_running_loop()
            turn = loop.create_future()
            self._waiting.append((loop, turn))
            return turn


def _wake(turn: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_result(None)


ROOM = AnswerRoom()


def _as_it_is(body: bytes) -> bytes:
    return body


@dataclass(slots=True, eq=False)
class Exchange:
    """One call: `origins` it may reach, and `most_bytes` of its answer after decompression.

    An origin `*.DOMAIN` stands for the https hosts in it. `rewrite` makes of the body that was
    `received` what the caller's library reads.

    The rest is filled in by the transport: `origin` (scheme, host, port) that was reached, or the one that was
    refused; `refusal` says why its name was not contacted; `status` is None if no answer came. `asked` is the JSON of
    the body that was `sent`, where it is at hand.
    """

    origins: frozenset[str] = frozenset()
    most_bytes: int = USUAL.model_answer_bytes
    rewrite: Callable[[bytes], bytes] = field(default=_as_it_is, repr=False)
    origin: str = ""
    refused_origin: str = ""
    refusal: ReachError | None = None
    sent: bytes = b""
    asked: Mapping[str, Any] | None = field(default=None, repr=False)
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    received: bytes = b""
    too_large: bool = False

    def enter(self, url: str) -> bool:
        """Note the origin of a request that is about to be sent; False if it may not be reached."""
        origin = origin_of(url)
        if not _is_among(origin, self.origins):
            self.refused_origin = origin
            return False
        # litellm looks some models up first, at addresses of its own; only the last request decides.
        self.refused_origin = ""
        self.origin = origin
        return True


def _is_among(origin: str, allowed: frozenset[str]) -> bool:
    """Return True if an origin is listed, or a host of a listed `*.DOMAIN`, by https at its usual port."""
    scheme, _, host = origin.partition("://")
    domains = (one[1:] for one in allowed if one.startswith("*."))
    if not origin:
        return False
    return origin in allowed or (scheme == "https" and ":" not in host and any(map(host.endswith, domains)))


_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w*(?:Error|Exception|Timeout)\s*(?::|-)\s*)+")
_TRACEBACK = re.compile(r"(?<!\s)\s*+Traceback \(most recent call last\).*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The model of one call as litellm names it; no `address` means the provider's own. Given up after `seconds`."""

    provider: str
    model: str
    address: str | None
    key: Secret | None
    seconds: float

    @property
    def label(self) -> str:
        """`provider/model`."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that gave no answer: the library's error text (it may hold the key) and status, or a timeout."""

    error: str
    status: int | None = None
    timed_out: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def error_text(error: str) -> str:
    """Return the text of a library's error without names of its classes and without a traceback."""
    return _TRACEBACK.sub("", _PREFIX.sub("", error))


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def under_way(exchange: Exchange) -> Iterator[None]:
    """Apply the bounds of `exchange` to the requests made inside, and write them down in it."""
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)
        ROOM.give_back(exchange)


def current_exchange() -> Exchange | None:
    """Return the call that is under way here."""
    return _current.get()
