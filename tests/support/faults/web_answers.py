"""HTTP answers that are wrong, refused, or somewhere else; and servers that talk as over stdio."""

from collections.abc import Mapping

from tests.support.faults import lists, noise, silence
from tests.support.faults.talk import Talk
from tests.support.faults.web import Fault, Handler

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
    "modern-only": talking(lists.ModernOnly()),
    "bad-tools": talking(lists.BadTools()),
    "many": talking(lists.Many()),
    "small-values": talking(lists.SmallValues()),
    "worst-values": talking(lists.WorstValues()),
    "repeated-cursor": talking(lists.RepeatedCursor()),
    "batch": talking(noise.Batch()),
    "deep-json": talking(noise.DeepJson()),
    "lone-surrogates": talking(noise.LoneSurrogates()),
    "invalid-utf8": talking(noise.InvalidUtf8()),
    "wrong-id": talking(silence.WrongId()),
    "no-id": talking(silence.NoId()),
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
