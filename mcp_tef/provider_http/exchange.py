"""One call to a provider as it goes over the wire: where it may go, what was sent, and what came back."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from mcp_tef.model.limits import USUAL
from mcp_tef.provider_http.room import AnswerRoom

ROOM = AnswerRoom()


def _as_it_is(body: bytes) -> bytes:
    return body


@dataclass(slots=True, eq=False)
class Exchange:
    """One call: `origins` it may reach, and `most_bytes` of its answer after decompression.

    An origin `*.DOMAIN` stands for the https hosts in it. `rewrite` makes of the body that was
    `received` what the caller's library reads.

    The rest is filled in by the transport: `origin` (scheme, host, port) that was reached, or the one that was
    refused; `status` is None if no answer came.
    """

    origins: frozenset[str] = frozenset()
    most_bytes: int = USUAL.model_answer_bytes
    rewrite: Callable[[bytes], bytes] = field(default=_as_it_is, repr=False)
    origin: str = ""
    refused_origin: str = ""
    sent: bytes = b""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    received: bytes = b""
    too_large: bool = False


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
