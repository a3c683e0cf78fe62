"""Detection of secrets that a config holds as plain text; each is replaced by a reference to a variable."""

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import has_user_info, without_user_info
from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, ServerSpec, references, variable_name
from mcp_tef.model.transfer import PlainTextSecret

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = {
    *("apikey", "auth", "authorization", "bearer", "cookie", "credential", "credentials", "dsn", "key", "passphrase"),
    *("passwd", "password", "pat", "pwd", "secret", "secrets", "session", "sessionid", "token", "jwt", "signature"),
}
_HARMLESS_ENDS = {
    *("count", "dir", "directory", "endpoint", "expiry", "file", "folder", "host", "length", "limit", "method", "mode"),
    *("path", "port", "provider", "scheme", "size", "store", "timeout", "ttl", "type", "uri", "url"),
}
_HARMLESS_VALUES = {
    "auto",
    "basic",
    "bearer",
    "default",
    "disabled",
    "enabled",
    "false",
    "none",
    "null",
    "oauth",
    "true",
}
_KNOWN_SHAPES = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|gh[opsur]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}"
    r"|xox[abeprs]-[\w-]{8,}|A(?:KIA|SIA)[A-Z0-9]{12,}|AIza[\w-]{20,}|ya29\.[\w-]{16,}|hf_[A-Za-z0-9]{16,}"
    r"|npm_[A-Za-z0-9]{16,}|tvly-[\w-]{10,}|eyJ[\w-]{8,}\.[\w.-]{8,}|ntn_\w{16,}|secret_\w{16,}|lin_api_\w{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_RANDOM = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=\D*\d)[A-Za-z0-9_+=-]{24,}")
_SCHEME = re.compile(r"(Bearer|Basic|Token|ApiKey)\s+(?=\S)", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=://)([^\s/:@?#]{0,200}):([^\s/@?#]{1,500})@")
_QUERY = re.compile(r"(?<=[?&])([\w.-]{1,100})=([^&#\s\"']{1,4000})")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z][\w.-]{0,100}(?:=[A-Za-z][\w.-]{0,100})?)(\s*[:=]\s*)(\S.*)", re.DOTALL)
_BASE64 = re.compile(r"(?:eyJ|ewo|ew0|W3s|Wy)[A-Za-z0-9+/_-]{8,}={0,2}")
_STANDARD = str.maketrans("-_", "+/", "=")
_SHORTEST = 4
MAX_SECRETS = 100
"""Secrets of one server: ten times what the largest have."""


class Secrets:
    """Takes secrets out of the servers of one config; equal ones share a variable, different ones never do."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._variables = _Variables(environment)

    def taken_out(self, spec: ServerSpec) -> tuple[ServerSpec, tuple[PlainTextSecret, ...]]:
        """Return the spec with references, and what they stand for; InputError for more secrets than one server has."""
        one = _OneServer(spec.name, self._variables)
        spec = one.without_user_info(spec)
        clean = replace(
            spec,
            url=one.inside("address", spec.url) if spec.url else None,
            command=one.inside("command", spec.command) if spec.command else None,
            args=one.arguments(spec.args),
            env={name: one.named(f"variable {name}", name, value) for name, value in spec.env.items()},
            headers={name: one.named(f"header {name}", name, value) for name, value in spec.headers.items()},
            extra=one.tree("", spec.extra),
        )
        return clean, tuple(one.found)

    def values(self, found: Iterable[PlainTextSecret]) -> Mapping[str, Secret]:
        """Return what was written where each of these was found, by its variable."""
        return {secret.variable: Secret(self._variables.held[secret.variable]) for secret in found}


class _Variables:
    """Gives each secret a variable that holds nothing else: not in the environment, and not for another server."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.held: dict[str, str] = {}
        self._numbered: dict[tuple[str, str], str] = {}
        self._numbers: dict[str, int] = {}

    def variable(self, wanted: str, own: str, value: str) -> str:
        """Return the wanted name where it is free, else the server's own, else that with a number."""
        plain = wanted if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", wanted) else variable_name(wanted)
        free = next((name for name in (plain, own) if self._holds(name) in (None, value)), None)
        variable = free or self._numbered.get((own, value)) or self._next(own)
        if free is None:
            self._numbered[own, value] = variable
        self.held[variable] = value
        return variable

    def _next(self, own: str) -> str:
        number = self._numbers.get(own, 1) + 1
        while self._holds(f"{own}_{number}") is not None:
            number += 1
        self._numbers[own] = number
        return f"{own}_{number}"

    def _holds(self, variable: str) -> str | None:
        return self.held.get(variable, self._environment.get(variable))


class _OneServer:
    def __init__(self, server: str, variables: _Variables) -> None:
        self.found: list[PlainTextSecret] = []
        self._server = server
        self._variables = variables

    def without_user_info(self, spec: ServerSpec) -> ServerSpec:
        """Return the spec with user and password of its address as basic authentication; InputError beside another."""
        url = spec.url or ""
        if not has_user_info(url) or any(references(url.partition("@")[0])):
            return spec
        if spec.auth_type is not AuthType.NONE or "authorization" in map(str.lower, spec.headers):
            raise InputError(
                "Its address holds a user name or password beside another authentication.",
                hint="Leave one of the two out.",
            )
        parts = urlsplit(url)
        given = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        secret = self._reference("address", "user_and_password", given)
        return replace(spec, url=without_user_info(url), auth_type=AuthType.BASIC, secret=secret)

    def named(self, where: str, name: str, value: str) -> str:
        """Return a value that has a name: a secret by that name, or by its own shape."""
        scheme = _SCHEME.match(value)
        start = scheme.end() if scheme else 0
        bare = value[start:].strip()
        if any(references(bare)) or not (looks_secret(bare) or (_names_secret(name) and _may_be_secret(bare))):
            return self.inside(where, value)
        return value[:start] + self._reference(where, name, bare)

    def inside(self, where: str, text: str) -> str:
        """Return a text that may hold secrets: passwords of addresses, parameters of queries, JSON, or a key whole."""
        if looks_secret(text):
            return self._reference(where, where, text)
        document = _json_of(text)
        if document is not None:
            return self._in_document(where, text, document)
        text = _PASSWORD.sub(lambda found: f"{found[1]}:{self._piece(where, 'password', found[2])}@", text)
        return _QUERY.sub(lambda found: f"{found[1]}={self._parameter(where, found[1], found[2])}", text)

    def arguments(self, args: tuple[str, ...]) -> tuple[str, ...]:
        """Arguments; the name of one may be the one before it, or stand in it before a colon or an equals sign."""
        before = ("", *args)
        return tuple(
            self._argument(f"argument {place}", last, value)
            for place, (last, value) in enumerate(zip(before, args, strict=False), 1)
        )

    def tree(self, name: str, value: Json) -> Json:
        """Return JSON of any shape."""
        if isinstance(value, dict):
            return {key: self.tree(key, item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.tree(name, item) for item in value]
        return self.named(f"setting {name}", name, value) if isinstance(value, str) else value

    def _in_document(self, where: str, text: str, document: Json) -> str:
        """Return JSON, plain or in base64, with references; one reference where these could not stand in its strings.

        References are exchanged as text, so a secret that JSON writes with escapes cannot have one of its own.
        """
        before = len(self.found)
        clean = self.tree(where, document)
        found = self.found[before:]
        if not found:
            return text
        is_plain = text.lstrip()[:1] in ("{", "[")
        values = [self._variables.held[secret.variable] for secret in found]
        if is_plain and all(json.dumps(value, ensure_ascii=False)[1:-1] == value for value in values):
            return json.dumps(clean, ensure_ascii=False)
        del self.found[before:]
        return self._reference(where, where, text)

    def _argument(self, where: str, before: str, value: str) -> str:
        assigned = _ASSIGNED.fullmatch(value)
        if before.startswith("-") and "=" not in before and not value.startswith("-") and _names_secret(before):
            return self.named(where, before, value)
        if assigned and not assigned[3].startswith("//"):
            return assigned[1] + assigned[2] + self.named(where, re.split("=", assigned[1])[-1], assigned[3])
        return self.inside(where, value)

    def _parameter(self, where: str, name: str, value: str) -> str:
        secret = looks_secret(value) or (_names_secret(name) and _may_be_secret(value))
        return self._piece(where, name, value) if secret else value

    def _piece(self, where: str, name: str, value: str) -> str:
        return value if any(references(value)) else self._reference(where, name, value)

    def _reference(self, where: str, name: str, value: str) -> str:
        if len(self.found) >= MAX_SECRETS:
            raise InputError(f"It holds more than {MAX_SECRETS} secrets.")
        own = variable_name(f"{self._server}_{name}")
        variable = self._variables.variable(name if where == f"variable {name}" else own, own, value)
        self.found.append(PlainTextSecret(where, variable))
        return f"${{{variable}}}"


def _json_of(text: str) -> Json:
    """Return the object or list that a text holds as JSON or as base64 of JSON; None for another text."""
    text = text.strip()
    if _BASE64.fullmatch(text) and len(text) % 4 != 1:
        padded = text.translate(_STANDARD) + "=" * (-len(text) % 4)
        text = b64decode(padded).decode("utf-8", "replace").strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        document: Json = loads_bounded(text)
        json.dumps(document)  # one that is nested too deeply is no configuration
    except (ValueError, RecursionError):
        return None
    return document


def looks_secret(text: str) -> bool:
    """Return True if a text has the shape of a key, independent of its name."""
    return bool(_KNOWN_SHAPES.match(text) or _RANDOM.fullmatch(text))


def _names_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool({*words} & _SECRET_WORDS) and words[-1] not in _HARMLESS_ENDS


def _may_be_secret(value: str) -> bool:
    return len(value) >= _SHORTEST and value.lower() not in _HARMLESS_VALUES
