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
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REFERENCE = re.compile(rf"\$\{{({_SECRET_NAME.pattern})\}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerForm:
    """The fields as text. `kind` is command, url or file; a secret is in `variable`: `NAME` or `keychain:NAME`."""

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
    """The spec, or what is wrong by field."""

    spec: ServerSpec | None
    faults: dict[str, str] = field(default_factory=dict)


def form_from_spec(spec: ServerSpec) -> ServerForm:
    """The form that reads back as `spec`."""
    kinds = {Transport.STDIO: "command", Transport.FILE: "file"}
    found = _REFERENCE.fullmatch(spec.secret or "")
    return ServerForm(
        kind=kinds.get(spec.transport, "url"),
        name=spec.name,
        command=shlex.join(spec.argv) if spec.command else "",
        folder=spec.cwd or "",
        environment="\n".join(f"{name}={value}" for name, value in spec.env.items()),
        url=spec.url or "",
        old_sse=spec.transport is Transport.SSE,
        headers="\n".join(f"{name}: {value}" for name, value in spec.headers.items()),
        auth=spec.auth_type,
        variable=found[1] if found else "",
        client_id=spec.oauth.client_id or "",
        remember=spec.oauth.remember,
        key_file=spec.oauth.private_key_file or "",
        issuer=spec.oauth.issuer or "",
        scope=spec.oauth.scope or "",
        path=spec.path or "",
        base=spec,
    )


def read(form: ServerForm, others: Mapping[str, str | None] | None = None) -> ParsedServerForm:
    """The spec that the form means, or its faults; `others` are the names and addresses that are taken."""
    faults: dict[str, str] = {}
    name, taken = form.name.strip(), others or {}
    if not name:
        faults["name"] = "Give the server a short name of its own."
    elif name in taken:
        faults["name"] = f"A server named “{name}” is here already. Choose another name."
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
    environment = _pairs(form.environment, "=", "environment", faults)
    return replace(
        _start(form, Transport.STDIO),
        command=argv[0] if argv else None,
        args=tuple(argv[1:]),
        cwd=form.folder.strip() or None,
        env=environment,
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
    if fault := _url_error(url):
        faults["url"] = fault
    headers = _pairs(form.headers, ":", "headers", faults)
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
    by_client = form.auth is AuthType.CLIENT_CREDENTIALS
    issuer, key_file = form.issuer.strip(), form.key_file.strip() if by_client else ""
    if issuer and (fault := _url_error(issuer)):
        faults["issuer"] = fault
    if by_client and not form.client_id.strip():
        faults["client_id"] = "Write the client id that the service gave you."
    if by_client and key_file and form.variable.strip():
        faults["key_file"] = "Name the client's secret or its private key, not both."
    elif by_client and not (key_file or form.variable.strip()):
        faults["variable"] = "Name the variable that holds the client's secret, or choose its private key below."
    return OAuthClient(
        client_id=form.client_id.strip() or None,
        remember=form.remember and not by_client,
        scope=" ".join(form.scope.split()) or None,
        issuer=issuer or None,
        private_key_file=key_file or None,
        signing_algorithm=form.base.oauth.signing_algorithm if form.base and by_client else None,
    )


def _url_error(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        return "Write an address that begins with http:// or https://."
    try:
        parts = urlsplit(re.sub(r"\$\{[^}]*\}", "1", url))
        sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or re.search(r"\s", url):
        return "This is no whole address. Write one such as https://tools.example.com/mcp."
    return ""


def _secret(form: ServerForm, faults: dict[str, str], *, optional: bool) -> str | None:
    place = form.variable.strip().removeprefix("${").removesuffix("}").removeprefix("$")
    if optional and not place:
        return None
    if not _SECRET_NAME.fullmatch(place):
        faults["variable"] = "Name the environment variable that holds the secret, for example ACME_TOKEN."
    return f"${{{place}}}"


def _file(form: ServerForm, faults: dict[str, str]) -> ServerSpec:
    if not form.path.strip():
        faults["path"] = "Choose a file with a saved tools/list answer, or a plain list of tools."
    return replace(_start(form, Transport.FILE), path=form.path.strip() or None)


def _pairs(text: str, mark: str, where: str, faults: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, between, value = line.partition(mark)
        if fault := _pair_error(name.strip() if between else "", mark, found):
            faults[where] = f"Line {number} {fault}"
            continue
        found[name.strip()] = value.strip()
    return found


def _pair_error(name: str, mark: str, before: Collection[str]) -> str:
    headers = mark == ":"
    if not name:
        return f"is not NAME{mark}{' ' if headers else ''}value."
    if re.search(r"\s", name) or (headers and not _HEADER.fullmatch(name)):
        return f"names no {'header' if headers else 'variable'}: “{name}” has a character that cannot be in a name."
    known = {one.casefold() for one in before} if headers else before
    return f"names {name} once more." if (name.casefold() if headers else name) in known else ""


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with a number where it is taken."""
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def suggested_name(form: ServerForm) -> str:
    """A short name out of what has been typed, for an empty name field."""
    if form.kind == "url":
        return _host(form.url)
    if form.kind == "file":
        return re.split(r"[\\/]", form.path.strip())[-1].rsplit(".", 1)[0]
    words = [word for word in form.command.split() if not word.startswith("-")]
    useful = [word for word in words if word not in ("npx", "uvx", "python", "python3", "node", "docker", "run")]
    last = re.split(r"[\\/]", useful[0])[-1] if useful else ""
    return re.sub(r"(@.*|\.\w+)$", "", last).removeprefix("mcp-server-").removeprefix("server-")


def _host(url: str) -> str:
    host = url.split("://")[-1].split("/")[0].split("@")[-1].split(":")[0]
    parts = [part for part in host.split(".") if part not in ("www", "api", "mcp")]
    return parts[0] if parts else ""
