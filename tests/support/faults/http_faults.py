"""HTTP MCP servers on loopback with one fault each: wrong, refused, moved, endless or huge answers.

Add a fault by writing a function that answers one request, and naming it in `ANSWERS` or `STREAMS`.
"""

import functools
import gzip
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager

from tests.support.faults import http_server, stdio_faults, tool_lists
from tests.support.faults.fault_script import Talk
from tests.support.faults.http_server import Fault, Handler

PAGE = b"<!doctype html><title>A shop for people</title><p>Welcome!"
METADATA = 'Bearer resource_metadata="http://127.0.0.1:9/.well-known/oauth-protected-resource", scope="tools"'


def status(code: int, kind: str = "text/plain", body: bytes = b"", **headers: str) -> Fault:
    """Answers everything with one status."""
    return lambda handler: handler.give(code, kind, body, **headers)


def talking(talk: Talk) -> Fault:
    """Answers over streamable HTTP, with JSON, what `talk` answers over stdio."""

    def answer(handler: Handler) -> None:
        if handler.command == "GET":
            handler.give(405)
            return
        reply = talk.reply(handler.message())
        if reply is None:
            handler.give(202)
        else:
            handler.give(200, "application/json", talk.text(reply))

    return answer


def moved(handler: Handler) -> None:
    """Is one slash further."""
    if handler.path.endswith("/"):
        talking(Talk())(handler)
    else:
        handler.give(307, location=f"{handler.path}/")


def circle(handler: Handler) -> None:
    """Sends one to and fro."""
    handler.give(307, location="/here" if handler.path == "/there" else "/there")


def hangs_up(handler: Handler) -> None:
    """Ends the connection without an answer."""
    handler.close_connection = True


def truncated(handler: Handler) -> None:
    """Promises more than it sends."""
    handler.begin("application/json", content_length="1000")
    handler.wfile.write(b'{"jsonrpc": "2.0", ')


ANSWERS: Mapping[str, Fault] = {
    "none": talking(Talk()),
    "modern-only": talking(tool_lists.ModernOnly()),
    "bad-tools": talking(tool_lists.BadTools()),
    "many": talking(tool_lists.Many()),
    "small-values": talking(tool_lists.SmallValues()),
    "worst-values": talking(tool_lists.WorstValues()),
    "repeated-cursor": talking(tool_lists.RepeatedCursor()),
    "batch": talking(stdio_faults.Batch()),
    "deep-json": talking(stdio_faults.DeepJson()),
    "lone-surrogates": talking(stdio_faults.LoneSurrogates()),
    "invalid-utf8": talking(stdio_faults.InvalidUtf8()),
    "wrong-id": talking(stdio_faults.WrongId()),
    "no-id": talking(stdio_faults.NoId()),
    "web-page": status(200, "text/html; charset=utf-8", PAGE),
    "web-page-405": status(405, "text/html", PAGE),
    "unauthorized": status(401, www_authenticate="Bearer"),
    "unauthorized-metadata": status(401, www_authenticate=METADATA),
    "forbidden": status(403),
    "forbidden-metadata": status(403, www_authenticate=f'{METADATA}, error="insufficient_scope"'),
    "not-found": status(404),
    "wrong-method": status(405),
    "too-many": status(429, retry_after="7"),
    "broken": status(500),
    "accepted": status(202),
    "elsewhere": status(302, location="https://elsewhere.example/login?next=secret"),
    "elsewhere-kept": status(307, location="https://elsewhere.example/mcp"),
    "moved": moved,
    "moved-badly": status(302, location="/new?next=secret"),
    "circle": circle,
    "other-json": status(200, "application/json", b'{"hello": "world"}'),
    "hangs-up": hangs_up,
    "truncated": truncated,
}


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


@functools.cache
def bomb() -> bytes:
    """Pack 100 MB into 100 KB."""
    packer = zlib.compressobj(wbits=31)
    return b"".join(packer.compress(CHUNK) for _ in range(BODY_BYTES // len(CHUNK))) + packer.flush()


def gzip_bomb(handler: Handler) -> None:
    """Sends 100 KB that unpack to 100 MB."""
    handler.give(200, "application/json", bomb(), content_encoding="gzip")


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


FAULTS: Mapping[str, http_server.Fault] = {**ANSWERS, **STREAMS}


def serving(fault: str) -> AbstractContextManager[http_server.Server]:
    """A running server with one fault."""
    return http_server.serving(FAULTS[fault])
