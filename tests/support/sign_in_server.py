"""An MCP server that wants a sign-in by OAuth, its sign-in service, and a browser that follows the redirects."""

import base64
import contextlib
import hashlib
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt

from tests.support.faults.fault_script import Talk
from tests.support.faults.http_server import Handler, Server, serving

ACCESS = "access-of-ines-"
REFRESH = "refresh-of-ines-"


@dataclass
class Desk:
    """What the service does, and what it was asked. Each token has a number: the newest one alone is good."""

    registers: bool = True
    declines: bool = False
    expires_in: int | None = 3600
    client_id: str = "made-here"
    client_secret: str | None = None
    missing: tuple[str, ...] = ()
    methods: list[str] = field(default_factory=lambda: ["none", "client_secret_basic"])
    authorization: str = ""
    revoked: bool = False
    withdraws: bool = False
    open: bool = False
    challenges: list[str] | None = field(default_factory=lambda: ["S256"])
    issuer: str = ""
    iss: str | None = None
    announces_iss: bool = False
    needed_scope: str = ""
    scopes: list[str] | None = None
    home: str = ""
    tokens_work: bool = True
    echo: str = ""
    lacks_scope: str = ""
    registered: list[dict[str, Any]] = field(default_factory=list)
    origin: str = ""
    public_key: str = ""
    floods: str = ""
    flooded: int = 0
    talk: Talk = field(default_factory=Talk)
    tokens: int = 0
    asked: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    _challenges: dict[str, dict[str, str]] = field(default_factory=dict)

    def __call__(self, handler: Handler) -> None:
        path = urlsplit(handler.path).path
        self.asked.append(path)
        if path == "/mcp":
            self._serve(handler)
        elif path == self.floods:
            self._flood(handler)
        elif path in self.missing:
            handler.give(404)
        elif "oauth-protected-resource" in path:
            origin = _origin(handler)
            known = {} if self.scopes is None else {"scopes_supported": self.scopes}
            _json(handler, {"resource": f"{origin}/mcp", "authorization_servers": [self.home or origin], **known})
        elif "oauth-authorization-server" in path:
            _json(handler, self._metadata(_origin(handler)))
        else:
            getattr(self, f"_{path.strip('/')}", _nothing)(handler)

    def _metadata(self, origin: str) -> dict[str, Any]:
        more: dict[str, Any] = {"registration_endpoint": f"{origin}/register"} if self.registers else {}
        more |= {} if self.challenges is None else {"code_challenge_methods_supported": self.challenges}
        more |= {"authorization_response_iss_parameter_supported": True} if self.announces_iss else {}
        return {
            "issuer": self.issuer or origin,
            "authorization_endpoint": self.authorization or f"{origin}/authorize",
            "token_endpoint": f"{origin}/token",
            "token_endpoint_auth_methods_supported": self.methods,
            **more,
        }

    def _serve(self, handler: Handler) -> None:
        given = handler.headers.get("authorization", "")
        known = self.tokens_work and self.tokens and not self.revoked and given == f"Bearer {ACCESS}{self.tokens}"
        if not (known or self.open):
            where = f"{_origin(handler)}/.well-known/oauth-protected-resource/mcp"
            scope = f', scope="{self.needed_scope}"' if self.needed_scope else ""
            handler.give(401, www_authenticate=f'Bearer resource_metadata="{where}"{scope}')
            return
        if self.lacks_scope:
            handler.give(403, www_authenticate=f'Bearer error="insufficient_scope", scope="{self.lacks_scope}"')
            return
        reply = self.talk.reply(handler.message()) if handler.command == "POST" else None
        if handler.command == "POST" and reply is None:
            handler.give(202)
        elif reply is None:
            handler.give(405)
        else:
            _json(handler, reply)

    def _flood(self, handler: Handler) -> None:
        """Send JSON without an end until the client has left; `flooded` counts the bytes."""
        handler.begin("application/json")
        block = b" " * 65_536
        with contextlib.suppress(OSError):
            while not handler.server.closing.is_set():
                handler.wfile.write(block)
                self.flooded += len(block)

    def _register(self, handler: Handler) -> None:
        if not self.registers:
            _json(handler, {"error": "access_denied", "error_description": "ask an admin"}, 403)
            return
        said = handler.message()
        self.registered.append(said)
        known = {"client_id": self.client_id, "token_endpoint_auth_method": "none"}
        _json(handler, {**said, **known}, 201)

    def _authorize(self, handler: Handler) -> None:
        asked = dict(parse_qsl(urlsplit(handler.path).query))
        code = f"code-{len(self._challenges)}"
        self._challenges[code] = asked
        answer = {"error": "access_denied", "error_description": "not today"} if self.declines else {"code": code}
        named = {} if self.iss is None else {"iss": self.iss}
        handler.give(302, location=f"{asked['redirect_uri']}?{urlencode({**answer, **named, 'state': asked['state']})}")

    def _token(self, handler: Handler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", "0"))).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.forms.append({**form, "authorization": handler.headers.get("authorization", "")})
        if not self._is_fair(form):
            told = {"error_description": self.echo.format(**self.forms[-1])} if self.echo else {}
            _json(handler, {"error": "invalid_grant", **told}, 400)
            return
        self.tokens += 1
        self.lacks_scope = ""
        lasting = {} if self.expires_in is None else {"expires_in": self.expires_in}
        tokens = {"access_token": f"{ACCESS}{self.tokens}", "refresh_token": f"{REFRESH}{self.tokens}"}
        _json(handler, {**tokens, **lasting, "token_type": "Bearer"})

    def _is_fair(self, form: dict[str, str]) -> bool:
        if form["grant_type"] == "refresh_token":
            spent = form["refresh_token"] != f"{REFRESH}{self.tokens}"
            self.revoked |= spent and self.withdraws
            return not self.revoked and not spent
        if form["grant_type"] == "client_credentials":
            return self._knows_client(form)
        self.revoked = False
        asked = self._challenges[form["code"]]
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        proved = base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
        return proved and asked["redirect_uri"] == form["redirect_uri"] and asked["code_challenge_method"] == "S256"

    def _knows_client(self, form: dict[str, str]) -> bool:
        """Check a client by its secret, as header or in the body, or by what its key signed."""
        self.revoked = False
        if "client_assertion" in form:
            known = jwt.decode(
                form["client_assertion"], self.public_key, ["ES256", "RS256"], audience=self.issuer or self.origin
            )
            return bool(known["sub"] == known["iss"] == self.client_id)
        basic = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        shown = self.forms[-1]["authorization"] == f"Basic {basic}"
        return shown or (form.get("client_id"), form.get("client_secret")) == (self.client_id, self.client_secret)


@contextmanager
def signing_in_at(desk: Desk) -> Iterator[Server]:
    """A running server with that desk."""
    with serving(desk) as server:
        desk.origin = server.url.removesuffix("/mcp")
        yield server


def _origin(handler: Handler) -> str:
    return handler.server.url.removesuffix("/mcp")


def _json(handler: Handler, value: Any, status: int = 200) -> None:
    handler.give(status, "application/json", json.dumps(value).encode())


def _nothing(handler: Handler) -> None:
    handler.give(404)


class Browser:
    """Each address is opened in a thread of its own, as by somebody who agrees to everything."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.page = ""
        self._threads: list[threading.Thread] = []

    def show(self, url: str) -> None:
        """Open an address."""
        self.shown.append(url)
        thread = threading.Thread(target=self._open, args=(url,))
        self._threads.append(thread)
        thread.start()

    def _open(self, url: str) -> None:
        with suppress(HTTPError, OSError), urllib.request.urlopen(url, timeout=10) as answer:
            self.page = answer.read().decode()

    def close(self) -> None:
        """Wait until every page is there."""
        for thread in self._threads:
            thread.join()
