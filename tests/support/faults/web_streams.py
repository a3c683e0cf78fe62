"""HTTP answers that do not end, or are larger than anybody wants; and event streams that go wrong."""

import gzip
import zlib
from collections.abc import Mapping

from tests.support.faults.web import Fault, Handler

CHUNK = b"x" * 65536
BODY_BYTES = 100 * 1024 * 1024
EVENTS = "text/event-stream"
NOTE = b'data: {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "busy"}}\n\n'


def silent(handler: Handler) -> None:
    """Takes the request and says nothing until it is closed."""
    handler.server.closing.wait()
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Sends a byte now and then, for ever."""
    handler.begin("application/json")
    handler.repeat(b" ", 0.05)


def flood(handler: Handler) -> None:
    """Sends as fast as it can, for ever."""
    handler.begin("application/json")
    handler.repeat(CHUNK)


def big_body(handler: Handler) -> None:
    """Sends 100 MB that it has announced."""
    handler.begin("application/json", content_length=str(BODY_BYTES))
    for _ in range(BODY_BYTES // len(CHUNK)):
        handler.wfile.write(CHUNK)


def compressed(handler: Handler) -> None:
    """Compresses its answer whatever was asked for."""
    handler.give(200, "application/json", gzip.compress(b"{}"), content_encoding="gzip")


def gzip_bomb(handler: Handler) -> None:
    """Sends 100 KB that unpack to 100 MB."""
    packer = zlib.compressobj(wbits=31)
    packed = b"".join(packer.compress(CHUNK) for _ in range(BODY_BYTES // len(CHUNK)))
    handler.give(200, "application/json", packed + packer.flush(), content_encoding="gzip")


def endless_events(handler: Handler) -> None:
    """Reports without end instead of answering."""
    handler.begin(EVENTS)
    handler.repeat(NOTE * 100)


def endless_pings(handler: Handler) -> None:
    """Says every now and then that it is still there."""
    handler.begin(EVENTS)
    handler.repeat(b": ping\n\n", 0.05)


def oversize_event(handler: Handler) -> None:
    """Sends one event without end."""
    handler.begin(EVENTS)
    handler.wfile.write(b"data: ")
    handler.repeat(CHUNK)


def broken_event(handler: Handler) -> None:
    """Sends an event that is no message."""
    handler.begin(EVENTS)
    handler.wfile.write(b"data: {half a mess\n\n")


def truncated_events(handler: Handler) -> None:
    """Ends its events before the answer."""
    handler.begin(EVENTS)
    handler.wfile.write(NOTE)


def older(endpoint: bytes, after: bytes = b"", post: int = 202) -> Fault:
    """A server of the older transport: names its endpoint, sends something more, and answers every post alike."""

    def answer(handler: Handler) -> None:
        if handler.command == "POST":
            handler.give(post)
            return
        handler.begin(EVENTS)
        handler.wfile.write(endpoint + after)
        handler.server.closing.wait()

    return answer


ENDPOINT = b"event: endpoint\ndata: /messages?session_id=1\n\n"
STREAMS: Mapping[str, Fault] = {
    "silent": silent,
    "drip": drip,
    "flood": flood,
    "big-body": big_body,
    "compressed": compressed,
    "gzip-bomb": gzip_bomb,
    "endless-events": endless_events,
    "endless-pings": endless_pings,
    "oversize-event": oversize_event,
    "broken-event": broken_event,
    "truncated-events": truncated_events,
    "sse-refuses": older(ENDPOINT, post=500),
    "sse-silent": older(ENDPOINT),
    "sse-junk": older(ENDPOINT, b"data: what?\n\n"),
    "sse-elsewhere": older(b"event: endpoint\ndata: http://elsewhere.example/messages\n\n"),
    "sse-nowhere": older(b": no endpoint yet\n\n"),
}
