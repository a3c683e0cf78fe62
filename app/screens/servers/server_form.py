"""Values of the server form and the specification that they describe, with an error per field."""

import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from mcp_tef import AuthType, OAuthClient, ServerSpec, Transport

OAUTH_TYPES = (AuthType.OAUTH2, AuthType.CLIENT_CREDENTIALS)
KINDS = ("command", "url", "file")
_SECRET_NAME = re.compile(r"[^\W\d]\w*|keychain:[A-Za-z0-9_.-]+")
_STARTERS = re.compile(
    r"(npx|bunx|uvx|pipx|python[\d.]*|node|deno|bun|docker|podman|uv|run|exec|dotnet|java|cmd|sh|bash)(\.exe|\.cmd)?"
)
_PLACES = re.compile(r"(index|main|server|__main__)\.\w+|dist|build|src|bin|lib")
_REFERENCE = re.compile(rf"\$\{{({_SECRET_NAME.pattern})\}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerForm:
    """Fields as text. `kind` is command, url or file; `variable` holds a secret: `NAME` or `keychain:NAME`."""

    kind: str = "command"
    name: str = ""
    command: str = ""
    folder: str = ""
    environment: str = ""
    url: str = ""
    old_sse: bool = False
    headers: str = ""
    auth: AuthType = AuthType.NONE
    variable: str = ""
    client_id: str = ""
    remember: bool = False
    key_file: str = ""
    issuer: str = ""
    scope: str = ""
    path: str = ""
    base: ServerSpec | None = None


@dataclass(frozen=True, slots=True)
class ParsedServerForm:
    """Specification of a server, or None and the faults by field."""

    spec: ServerSpec | None
    faults: dict[str, str] = field(default_factory=dict)


def form_from_spec(spec: ServerSpec) -> ServerForm:
    """Return the form that reads back as `spec`."""
    kinds = {Transport.STDIO: "command", Transport.FILE: "file"}
    reference = _REFERENCE.fullmatch(_text(spec.secret))
    oauth = spec.oauth
    return ServerForm(
        kind=kinds.get(spec.transport, "url"),
        name=spec.name,
        command=shlex.join(spec.argv) if spec.command else "",
        folder=_text(spec.cwd),
        environment="\n".join(f"{name}={value}" for name, value in spec.env.items()),
        url=_text(spec.url),
        old_sse=spec.transport is Transport.SSE,
        headers="\n".join(f"{name}: {value}" for name, value in spec.headers.items()),
        auth=spec.auth_type,
        variable=reference[1] if reference else "",
        client_id=_text(oauth.client_id),
        remember=oauth.remember,
        key_file=_text(oauth.private_key_file),
        issuer=_text(oauth.issuer),
        scope=_text(oauth.scope),
        path=_text(spec.path),
        base=spec,
    )


def _text(value: str | None) -> str:
    return value or ""


def read(form: ServerForm, others: Mapping[str, str | None] | None = None) -> ParsedServerForm:
    """Parse a form; `others` are the names of other servers with their addresses."""
    faults: dict[str, str] = {}
    name, taken = form.name.strip(), others or {}
    if not name:
        faults["name"] = "Write a short, unique name for the server."
    elif name in taken:
        faults["name"] = f"A server named “{name}” exists already. Write another name."
    made = {"command": _command, "url": _url, "file": _file}[form.kind](form, faults)
    twin = next((other for other, url in taken.items() if url and url == made.url), None)
    if twin is not None:
        faults["url"] = f"The server {twin} has this address already."
    return ParsedServerForm(None, faults) if faults else ParsedServerForm(made)


def _start(form: ServerForm, transport: Transport) -> ServerSpec:
    kept = form.base
    plain = ServerSpec(name=form.name.strip(), transport=transport)
    if kept is None:
        return plain
    names = ("alias", "allowed_tools", "disallowed_tools", "env_file", "project", "origin", "extra")
    return replace(plain, **{name: getattr(kept, name) for name in names})


def _command(form: ServerForm, faults: dict[str, str]) -> ServerSpec:
    argv = _split(form.command, faults)
    return replace(
        _start(form, Transport.STDIO),
        command=argv[0] if argv else None,
        args=tuple(argv[1:]),
        cwd=_given(form.folder),
        env=_pairs(form.environment, _ENVIRONMENT, faults),
    )


def _split(line: str, faults: dict[str, str]) -> list[str]:
    try:
        argv = shlex.split(line)
    except ValueError:
        faults["command"] = "A quotation mark is not closed."
        return []
    if not argv:
        faults["command"] = "Write the command that starts the server, for example npx -y @acme/docs-server."
    return argv


def _url(form: ServerForm, faults: dict[str, str]) -> ServerSpec:
    url = form.url.strip()
    if fault := _url_fault(url):
        faults["url"] = fault
    headers = _pairs(form.headers, _HEADERS, faults)
    uses_oauth = form.auth in OAUTH_TYPES
    return replace(
        _start(form, Transport.SSE if form.old_sse else Transport.STREAMABLE_HTTP),
        url=url,
        headers=headers,
        auth_type=form.auth,
        secret=_secret(form, faults, optional=uses_oauth) if form.auth is not AuthType.NONE else None,
        oauth=_oauth(form, faults) if uses_oauth else OAuthClient(),
    )


def _oauth(form: ServerForm, faults: dict[str, str]) -> OAuthClient:
    issuer = _given(form.issuer)
    if issuer and (fault := _url_fault(issuer)):
        faults["issuer"] = fault
    client = OAuthClient(client_id=_given(form.client_id), scope=_given(" ".join(form.scope.split())), issuer=issuer)
    if form.auth is not AuthType.CLIENT_CREDENTIALS:
        return replace(client, remember=form.remember)
    faults.update(_client_faults(form))
    algorithm = form.base.oauth.signing_algorithm if form.base else None
    return replace(client, private_key_file=_given(form.key_file), signing_algorithm=algorithm)


def _client_faults(form: ServerForm) -> dict[str, str]:
    """Return the faults of client credentials, which need an id, and either a secret or a private key."""
    has_key, has_secret = bool(form.key_file.strip()), bool(form.variable.strip())
    faults = {} if form.client_id.strip() else {"client_id": "Write the client id that the service gave you."}
    if has_key and has_secret:
        faults["key_file"] = "Use the client's secret or its private key, not both."
    if not has_key and not has_secret:
        faults["variable"] = "Write the variable that holds the client's secret, or select its private key below."
    return faults


def _given(text: str) -> str | None:
    return text.strip() or None


def _url_fault(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return "Write an address that begins with http:// or https://."
    try:
        parts = urlsplit(re.sub(r"\$\{[^{}]*\}", "1", url))
        is_complete = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_complete = False
    if not is_complete or re.search(r"\s", url):
        return "This address is incomplete. Write one such as https://tools.example.com/mcp."
    return ""


def _secret(form: ServerForm, faults: dict[str, str], *, optional: bool) -> str | None:
    place = form.variable.strip().removeprefix("${").removesuffix("}").removeprefix("$")
    if optional and not place:
        return None
    if not _SECRET_NAME.fullmatch(place):
        faults["variable"] = "Write the environment variable that holds the secret, for example ACME_TOKEN."
    return f"${{{place}}}"


def _file(form: ServerForm, faults: dict[str, str]) -> ServerSpec:
    if not form.path.strip():
        faults["path"] = "Select a file with a saved tools/list answer, or a plain list of tools."
    return replace(_start(form, Transport.FILE), path=_given(form.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairField:
    """A field with one name and value per line."""

    field: str
    mark: str
    syntax: str
    noun: str
    name: re.Pattern[str]
    ignores_case: bool = False

    def fault(self, name: str, before: Collection[str]) -> str:
        """Return what is wrong with a name, after the number of its line; "" if nothing is."""
        if not name:
            return f"is not {self.syntax}."
        if not self.name.fullmatch(name):
            return f"has no valid {self.noun} name: “{name}” contains a character that is not allowed."
        same = str.casefold if self.ignores_case else str
        return f"repeats {name}." if same(name) in map(same, before) else ""


_ENVIRONMENT = _PairField(field="environment", mark="=", syntax="NAME=value", noun="variable", name=re.compile(r"\S+"))
_HEADERS = _PairField(
    field="headers",
    mark=":",
    syntax="NAME: value",
    noun="header",
    name=re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"),
    ignores_case=True,
)


def _pairs(text: str, pairs: _PairField, faults: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip())
    for number, line in lines:
        name, mark, value = (part.strip() for part in line.partition(pairs.mark))
        if fault := pairs.fault(name if mark else "", found):
            faults[pairs.field] = f"Line {number} {fault}"
        else:
            found[name] = value
    return found


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number if it is taken."""
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def suggested_name(form: ServerForm) -> str:
    """Return a short name made of the command, address or file, for an empty name field."""
    if form.kind == "url":
        return _host(form.url)
    if form.kind == "file":
        return re.split(r"[\\/]", form.path.strip())[-1].rsplit(".", 1)[0]
    words = [word.strip("\"'") for word in form.command.split() if not word.startswith("-")]
    useful = [part for word in words if (part := _own_part(word)) and not _STARTERS.fullmatch(part)]
    return re.sub(r"(@.*|\.\w+)$", "", useful[0] if useful else "").removeprefix("mcp-server-")


def _own_part(path: str) -> str:
    """Return the last part of a path that says what a server is: "notes" of "notes/dist/index.js"."""
    parts = [part for part in re.split(r"[\\/]", path) if part not in ("", ".", "..", "~")]
    return next((part for part in reversed(parts) if not _PLACES.fullmatch(part)), parts[-1] if parts else "")


def _host(url: str) -> str:
    place = url.rsplit("://", maxsplit=1)[-1].split("/", maxsplit=1)[0]
    host = place.rsplit("@", maxsplit=1)[-1].split(":", maxsplit=1)[0]
    parts = [part for part in host.split(".") if part not in ("www", "api", "mcp")]
    return parts[0] if parts else ""
