"""The guard before every request: host, origin, token, size and form of the body, and headers of every answer."""

import asyncio
import ipaddress
import logging
import math
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, NoReturn, TypeAlias
from urllib.parse import parse_qsl

from mcp_tef import HeldBodies, Secret, bears, canonical, deeper_than, loads_bounded
from mcp_tef.rest.errors import ErrorAnswer, answer

_LOG = logging.getLogger(__name__)
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

LARGEST_BODY: Final = 16 * 1024 * 1024
MOST_LEVELS: Final = 64
PARSED_ASIDE: Final = 256 * 1024
OPEN_PATHS: Final = frozenset({"/health", "/docs", "/openapi.json"})
"""Paths that answer without the token: the state of the service, and the description of its operations."""
SECRET_NAMES: Final = frozenset(
    {"token", "access_token", "api_key", "apikey", "key", "authorization", "x-model-api-key"}
)
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRules:
    """Rules of access: a token, and the names that this service answers to; `any_address` adds every IP address.

    A page that rebinds its own name to this machine brings that name as host, so only known ones are answered. Beyond
    loopback, addresses are answered as well, which no page can have as its name.
    """

    token: Secret
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    any_address: bool = False
    body_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    code: str
    message: str
    hint: str = ""

    async def send(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = {"connection": "close"} | ({"www-authenticate": "Bearer"} if self.status == 401 else {})
        response = answer(self.status, ErrorAnswer(error=self.code, message=self.message, hint=self.hint), headers)
        await response(scope, receive, send)


class RequestGuard:
    """Another ASGI app, which gets only requests that may be asked, with bodies that are sound JSON."""

    def __init__(self, app: AsgiApp, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules
        self._held = HeldBodies()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a refusal, or hand the request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        began, sending = perf_counter(), _Sending(send)
        refusal = self._refusal(scope)
        with self._held.request() as take:
            if refusal is None and scope["method"] in ("POST", "PATCH", "PUT"):
                refusal, receive = await self._with_body(scope, receive, take)
            await (refusal.send if refusal else self._app)(scope, receive, sending)
        # Never the query or a header: both may hold a key.
        milliseconds = (perf_counter() - began) * 1000
        _LOG.info("%s %a %s %.1f ms", scope["method"], scope["path"], sending.status, milliseconds)

    def _refusal(self, scope: Message) -> _Refusal | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not self._is_ours(_name_of(hosts[0])):
            return _Refusal(403, "foreign_host", "This service does not answer to that host name.", "Use its address.")
        own_origin = f"{scope['scheme']}://{hosts[0]}".lower()
        if not {origin.lower() for origin in _values(scope, b"origin")} <= {own_origin}:
            return _Refusal(403, "foreign_origin", "Pages of other origins may not ask this service.")
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not SECRET_NAMES.isdisjoint(name.lower() for name, _ in query):
            hint = "Send them as the headers Authorization and X-Model-API-Key."
            return _Refusal(400, "secret_in_query", "Tokens and keys are not taken from an address.", hint)
        return self._token_refusal(scope)

    def _is_ours(self, name: str) -> bool:
        return name in self._rules.hosts or (self._rules.any_address and _is_address(name))

    def _token_refusal(self, scope: Message) -> _Refusal | None:
        given = [value for key, value in scope["headers"] if key == b"authorization"]
        if scope["path"] in OPEN_PATHS or bears(given, self._rules.token.reveal()):
            return None
        hint = "Send Authorization: Bearer TOKEN with the token that was shown when the service started."
        return _Refusal(401, "token_needed", "The token is missing or wrong.", hint)

    async def _with_body(
        self, scope: Message, receive: Receive, take: Callable[[int], bool]
    ) -> tuple[_Refusal | None, Receive]:
        """Read the body in time and bounds; return why it is refused, and where to receive it from."""
        try:
            async with asyncio.timeout(self._rules.body_seconds):
                body = await _read(receive, take)
        except TimeoutError:
            return _Refusal(408, "too_slow", "The body did not arrive in time."), receive
        except MemoryError:
            return _BUSY, receive
        if not body:
            return (_TOO_LARGE if body is None else None), _replayed(b"", receive)
        return await _content_refusal(scope, body), _replayed(body, receive)


async def _content_refusal(scope: Message, body: bytes) -> _Refusal | None:
    kind = next(iter(_values(scope, b"content-type")), "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return _Refusal(415, "not_json", "The body is not application/json.")
    why = why_unsound(body) if len(body) < PARSED_ASIDE else await asyncio.to_thread(why_unsound, body)
    return _Refusal(400, "bad_json", why, "Send one JSON value in UTF-8.") if why else None


_TOO_LARGE: Final = _Refusal(413, "body_too_large", "The body is larger than 16 MB.", "Send less at once.")

_BUSY: Final = _Refusal(503, "busy", "Too many large bodies are being received.", "Ask again later.")


def _values(scope: Message, name: bytes) -> list[str]:
    """Return the values of a header, one for each time that it was sent."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


async def _read(receive: Receive, take: Callable[[int], bool]) -> bytes | None:
    """Return the body; None where it is too large. MemoryError where all bodies together are.

    As much again is read and dropped before that is said, since many clients listen only once they have sent all.
    """
    kept, size, more = bytearray(), 0, True
    while more and size <= 2 * LARGEST_BODY:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size <= LARGEST_BODY:
            if not take(len(part)):
                raise MemoryError
            kept += part
        more = message["type"] == "http.request" and message.get("more_body", False)
    return bytes(kept) if size <= LARGEST_BODY else None


def _replayed(body: bytes, receive: Receive) -> Receive:
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return whole.pop() if whole else await receive()

    return again


def why_unsound(body: bytes) -> str:
    """Return why a body is no JSON that can be stored and answered again; empty for a sound one."""
    try:
        value = loads_bounded(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        return f"The body nests more than {MOST_LEVELS} levels."
    except ValueError:  # of JSON, of UTF-8 and of numbers with too many digits
        return "The body is not JSON."
    if deeper_than(value, MOST_LEVELS):
        return f"The body nests more than {MOST_LEVELS} levels."
    if _SURROGATE.search(body):
        try:
            canonical(value).encode("utf-8")
        except UnicodeEncodeError:
            return "The body holds half a character (a lone surrogate)."
    return ""


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


class _Sending:
    """Sends an answer with the headers of every answer, and notes its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *_ALWAYS]
        await self._send(message)


def _name_of(host: str) -> str:
    """Return the name or address in a Host header, in lower case, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
