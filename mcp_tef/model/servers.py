"""Servers as sources of tools, and the `${…}` references in their definitions.

References are stored as they are written and resolved only when a connection is opened.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import without_user_info
from mcp_tef.model.ids import ServerId
from mcp_tef.model.json import Json, fingerprint

_PATTERN = re.compile(
    r"\$\{(?:"
    r"input:(?P<input>[^{}\r\n]{1,200})"
    r"|(?P<place>workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)(?::[^{}\r\n]{0,200})?"
    r"|keychain:(?P<keychain>[A-Za-z0-9_.-]{1,100})"
    r"|(?:env:)?(?P<variable>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}\r\n]*))?"
    r"|(?P<unknown>[A-Za-z]+:[^{}\r\n]{0,200})"
    r")\}"
)


class ReferenceKind(StrEnum):
    """Source of a reference's value: environment, keychain, a question of the config, a folder, or nothing."""

    KEYCHAIN = "keychain"
    VARIABLE = "variable"
    INPUT = "input"
    PLACE = "place"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference in a text: `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `${keychain:NAME}`, `${input:id}`."""

    kind: ReferenceKind
    name: str
    start: int
    end: int
    default: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable that fills it; for an input its id in capitals."""
        return variable_name(self.name) if self.kind is ReferenceKind.INPUT else self.name


def references(text: str) -> Iterator[Reference]:
    """Yield every reference in a text, in order; other dollars and braces are plain text."""
    for found in _PATTERN.finditer(text):
        kind = next(kind for kind in ReferenceKind if found[kind.value] is not None)
        yield Reference(kind, found[kind.value], found.start(), found.end(), found["default"])


def undecided_host(url: str) -> str:
    """Return the first reference before the path of an address that is no plain variable; empty where there is none.

    Such a part (a keychain entry, a question of a config, a folder) would decide which host is contacted, and it is not
    shown to the user who is asked about the address.
    """
    start = max(url.find("://") + 3, 0) if "://" in url else 0
    found, end = tuple(references(url)), len(url)
    for place in range(start, len(url)):
        if url[place] in "/?#\\" and not any(one.start <= place < one.end for one in found):
            end = place
            break
    odd = (one for one in found if one.start < end and one.kind is not ReferenceKind.VARIABLE)
    return next((url[one.start : one.end] for one in odd), "")


def variable_name(text: str) -> str:
    """Return the text as the name of an environment variable: `github-token` becomes `GITHUB_TOKEN`."""
    name = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")
    return name if name and not name[0].isdigit() else f"VALUE_{name}".rstrip("_")


INPUTS = "${input}"
"""The name in `ServerSpec.extra` of the questions that a config asks: mappings with an `id`, as VS Code has them."""


LIBRARY_PATH = "mcp-tef:library"
"""The path in a spec of transport `file` that stands for the tool library of the workspace, which is no file."""


class Transport(StrEnum):
    """Transport of a server; `file` is a saved `tools/list` response on disk."""

    STDIO = "stdio"
    SSE = "sse"
    STREAMABLE_HTTP = "streamable-http"
    FILE = "file"


class ServerStatus(StrEnum):
    """Result of the last connectivity check; `starting` while one is in progress."""

    INACTIVE = "inactive"
    STARTING = "starting"
    ACTIVE = "active"
    FAILED = "failed"


class AuthType(StrEnum):
    """Kind of authentication for requests to an HTTP server."""

    NONE = "none"
    API_KEY = "api_key"
    BEARER = "bearer"
    BASIC = "basic"
    OAUTH2 = "oauth2"
    CLIENT_CREDENTIALS = "client_credentials"


SIGNING_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Algorithms that a private key can sign with in place of a client secret (`private_key_jwt`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """As whom we sign in by OAuth: the client that a service gave us, else one that is registered on the spot.

    A `client_id` that is an https address names a client metadata document. `remember` keeps what a sign-in brings
    in the system keychain; else it is gone with the process.

    Attributes:
        scope: scopes to request, separated by spaces; None requests what the server names.
        issuer: the authorization server that the client is registered with; its secret goes nowhere else.
        private_key_file: path of a PEM file that signs for the client in place of a secret; the key is never stored.
        signing_algorithm: one of SIGNING_ALGORITHMS; None takes the first that fits the key.
    """

    client_id: str | None = None
    remember: bool = False
    scope: str | None = None
    issuer: str | None = None
    private_key_file: str | None = None
    signing_algorithm: str | None = None


REST_CALLER: Final = "a caller of the REST service"
"""Origin of servers that were registered over REST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """Configuration of a server by the user: a command (stdio), a URL (HTTP), or a path (tools file).

    `secret` of an HTTP server (bearer token, API key, "user:password", the secret of an OAuth client) is
    written as `${NAME}`, an environment variable, or `${keychain:NAME}`, an entry of the system keychain; both are
    read at connect time, and the secret itself is never written. `env_file` holds lines
    `NAME=value` that are read at connect time too; `project` is the folder that `${workspaceFolder}` stands for.
    `origin` is the config that it was imported from, or REST_CALLER, and `extra` what that holds beyond this.
    """

    name: str
    transport: Transport
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    auth_type: AuthType = AuthType.NONE
    secret: str | None = None
    oauth: OAuthClient = OAuthClient()
    alias: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    env_file: str | None = None
    project: str | None = None
    origin: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_callers_address(self) -> bool:
        """True for an address that a caller of the REST service named."""
        return bool(self.url) and self.origin == REST_CALLER

    @property
    def inputs(self) -> Sequence[Mapping[str, Json]]:
        """The questions of its config that `${input:id}` refers to; what is no question is passed over."""
        found = self.extra.get(INPUTS)
        return tuple(one for one in found if isinstance(one, Mapping)) if isinstance(found, list | tuple) else ()

    @property
    def argv(self) -> tuple[str, ...]:
        """The full command line of a stdio server."""
        return (self.command or "", *self.args)

    @property
    def launch_fingerprint(self) -> str:
        """Fingerprint that consent is bound to: changes with argv, cwd, env and the sources of their values."""
        filled_from = {"env_file": self.env_file, "project": self.project, "inputs": self.inputs}
        said = {name: value for name, value in filled_from.items() if value}
        return fingerprint({"argv": self.argv, "cwd": self.cwd, "env": dict(self.env), **said})

    @property
    def address(self) -> str:
        """Location of the server, in one line for people."""
        return without_user_info(self.url or "") or self.path or " ".join(self.argv).strip()

    @property
    def is_library(self) -> bool:
        """True for the tool library of the workspace."""
        return self.transport is Transport.FILE and self.path == LIBRARY_PATH

    def wants(self, tool: str) -> bool:
        """Return True if the user has not excluded a tool of that name."""
        return tool not in self.disallowed_tools and (not self.allowed_tools or tool in self.allowed_tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A registered server with what the last check found; `imported` until a person changes what an import left."""

    id: ServerId
    spec: ServerSpec
    status: ServerStatus = ServerStatus.INACTIVE
    reason: str | None = None
    hint: str | None = None
    exit_code: int | None = None
    stderr_tail: str | None = None
    latency_ms: int | None = None
    protocol: str | None = None
    tool_count: int | None = None
    problem_count: int = 0
    last_connected_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    imported: bool = False

    @property
    def name(self) -> str:
        """The unique name."""
        return self.spec.name


def _is_web_address(url: str) -> bool:
    """Return True for an address on the web; a variable that begins it counts by its default, or may hold one."""
    first = next(references(url), None)
    if first and first.start == 0 and first.kind is ReferenceKind.VARIABLE:
        if first.default is None:
            return True
        url = first.default + url[first.end :]
    return url.startswith(("http://", "https://"))


def require_complete(spec: ServerSpec) -> ServerSpec:
    """Return the spec if it has every field that its transport needs; raise InputError otherwise."""
    if not spec.name.strip():
        raise InputError("The server has no name.", hint="Give it a short name of its own.")
    needs = {Transport.STDIO: ("command", spec.command), Transport.FILE: ("path", spec.path)}
    field_name, value = needs.get(spec.transport, ("url", spec.url))
    if not value:
        raise InputError(
            f"The server {spec.name} has no {field_name}.", hint=f"A {spec.transport} server needs a {field_name}."
        )
    if field_name == "url" and not _is_web_address(value):
        raise InputError(f"{value} is not a web address.", hint="Write one that begins with http:// or https://.")
    return spec
