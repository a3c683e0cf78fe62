"""Servers: where tools come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from mcp_tef.errors import InputError
from mcp_tef.model.ids import ServerId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.origins import without_user_info

INPUTS = "${input}"
"""The name in `ServerSpec.extra` of the questions that a config asks: mappings with an `id`, as VS Code has them."""


class Transport(StrEnum):
    """How a server is reached; `file` is a saved `tools/list` answer on disk."""

    STDIO = "stdio"
    SSE = "sse"
    STREAMABLE_HTTP = "streamable-http"
    FILE = "file"


class ServerStatus(StrEnum):
    """What the last connectivity check found; `starting` while one is under way."""

    INACTIVE = "inactive"
    STARTING = "starting"
    ACTIVE = "active"
    FAILED = "failed"


class AuthType(StrEnum):
    """How requests to an HTTP server are authenticated."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """What a user says of a server: a command (stdio), a url (HTTP), or a path (tools file).

    `secret` of an HTTP server (bearer token, API key, "user:password", the secret of an OAuth client) is
    written as `${NAME}`, an environment variable, or `${keychain:NAME}`, an entry of the system keychain; both are
    read at connect time, and the secret itself is never written. `env_file` holds lines
    `NAME=value` that are read at connect time too; `project` is the folder that `${workspaceFolder}` stands for.
    `origin` is the config that it was imported from, and `extra` what that holds beyond this.
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
        """What consent is tied to: any change of argv, cwd, env, or where these are filled from changes it."""
        filled_from = {"env_file": self.env_file, "project": self.project, "inputs": self.inputs}
        said = {name: value for name, value in filled_from.items() if value}
        return fingerprint({"argv": self.argv, "cwd": self.cwd, "env": dict(self.env), **said})

    @property
    def address(self) -> str:
        """Where it is, in one line for people."""
        return without_user_info(self.url or "") or self.path or " ".join(self.argv).strip()

    def wants(self, tool: str) -> bool:
        """Whether the user has not left out a tool of that name."""
        return tool not in self.disallowed_tools and (not self.allowed_tools or tool in self.allowed_tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A registered server with what the last check found."""

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

    @property
    def name(self) -> str:
        """The unique name."""
        return self.spec.name


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
    if field_name == "url" and not value.startswith(("http://", "https://")):
        raise InputError(f"{value} is not a web address.", hint="Write one that begins with http:// or https://.")
    return spec
