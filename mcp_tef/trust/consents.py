"""Consents: what a user on this machine allowed to be started, contacted or sent."""

import getpass
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.servers import Reference, ReferenceKind, ServerSpec, Transport, references

TYPED_KEY = "the key that you typed"
_LONGEST_DESCRIPTION = 2_000
_PLACES_WITHOUT_CONTENT = frozenset({"pathSeparator", "/"})


class ConsentKind(StrEnum):
    """Kind of action that needs the user's consent."""

    PROGRAM = "program"
    CONNECTION = "connection"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Consent:
    """An action that the user allowed: fingerprint, kind and a one-line description for people.

    Equal whenever it was given. `servers` are the names of the registered servers that it applies to now.
    """

    fingerprint: str
    description: str
    kind: ConsentKind = ConsentKind.PROGRAM
    allowed_at: datetime | None = field(default=None, compare=False)
    servers: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """A question to the user.

    Attributes:
        kind: what would happen: a program starts, a server is contacted, or a key is sent.
        subject: name of the server, or provider that the key belongs to.
        fingerprint: identity of the action; any change asks again.
        target: command line of a program, else the origin that is contacted.
        names: environment variables and keychain entries whose values would be used.
        listed_in: file that names the program or address (workspace, config), in the order of trust.
        spec: the server, for programs and connections.
        unencrypted: the values would travel over plain http to another machine.
    """

    kind: ConsentKind
    subject: str
    fingerprint: str
    target: str
    names: tuple[str, ...] = ()
    listed_in: tuple[str, ...] = ()
    spec: ServerSpec | None = None
    unencrypted: bool = False

    @property
    def obstacle(self) -> str:
        """Reason why a yes or a click cannot allow this; empty where there is none."""
        return ""

    @property
    def consent(self) -> Consent:
        """The consent that a yes gives."""
        names = f" ← {', '.join(self.names)}" if self.names and self.kind is not ConsentKind.PROGRAM else ""
        return Consent(self.fingerprint, visible(f"{self.target}{names}")[:_LONGEST_DESCRIPTION], self.kind)

    @property
    def title(self) -> str:
        """The question in one sentence."""
        match self.kind:
            case ConsentKind.PROGRAM:
                return f"Start {visible(self.subject)}?"
            case ConsentKind.CONNECTION:
                return f"Connect to {visible(self.subject)}?"
            case ConsentKind.KEY:
                return f"Send the {visible(self.subject)} key to {visible(self.target)}?"

    @property
    def problem(self) -> str:
        """One sentence for when nobody can be asked."""
        subject, target = visible(self.subject), visible(self.target)
        match self.kind:
            case ConsentKind.PROGRAM:
                return f"{subject} would start a program that you have not allowed: {target}."
            case ConsentKind.CONNECTION:
                sent = f", sending {visible(', '.join(self.names))}" if self.names else ""
                return f"{subject} would connect to {target}{sent}, which you have not allowed."
            case ConsentKind.KEY:
                key = f"The {subject} key that you typed" if self.names[0] == TYPED_KEY else self.names[0]
                return f"{key} would be sent to {target}, which you have not allowed."

    @property
    def option(self) -> str:
        """The narrowest command line option that allows this."""
        match self.kind:
            case ConsentKind.PROGRAM:
                return f"--allow-program {self.fingerprint[:32]}"
            case ConsentKind.CONNECTION | ConsentKind.KEY:
                named = [f"{name}={self.target}" for name in self.names] or [self.target]
                return " ".join(f"--allow-origin {shlex.quote(visible(one))}" for one in named)


class ConsentError(InputError):
    """Something would start, be contacted or be sent that the user has not allowed; `requests` are the questions."""

    default_code = "consent_needed"

    def __init__(self, message: str, *, hint: str = "", requests: Sequence[ConsentRequest] = ()) -> None:
        super().__init__(message, hint=hint)
        self.requests = tuple(requests)

    @classmethod
    def of(cls, requests: Sequence[ConsentRequest]) -> "ConsentError":
        """Return the error for questions that were not asked yet."""
        return cls(
            " ".join(request.problem for request in requests), hint="Review and allow it first.", requests=requests
        )


def program_request(spec: ServerSpec, listed_in: Sequence[str]) -> ConsentRequest:
    """Return the question before a stdio server is started."""
    return ConsentRequest(
        kind=ConsentKind.PROGRAM,
        subject=spec.name,
        fingerprint=spec.launch_fingerprint,
        target=" ".join(quoted_argument(argument) for argument in spec.argv),
        names=used_names(spec),
        listed_in=tuple(listed_in),
        spec=spec,
    )


def connection_request(
    spec: ServerSpec, origin: str, shown_origin: str, listed_in: Sequence[str], *, unencrypted: bool
) -> ConsentRequest:
    """Return the question before an HTTP server is contacted.

    `origin` has its variables filled in and is part of the identity; `shown_origin` is for people, without values.
    """
    names = used_names(spec)
    identity: dict[str, Json] = {"origin": origin, "shown": shown_origin, "names": names, "issuer": spec.oauth.issuer}
    identity |= {"inputs": spec.inputs} if spec.inputs else {}
    return ConsentRequest(
        kind=ConsentKind.CONNECTION,
        subject=spec.name,
        fingerprint=fingerprint(identity),
        target=shown_origin,
        names=names,
        listed_in=tuple(listed_in),
        spec=spec,
        unencrypted=unencrypted and bool(names),
    )


def key_request(
    provider: str, source: str, origin: str, listed_in: Sequence[str] = (), *, unencrypted: bool
) -> ConsentRequest:
    """Return the question before a provider's key goes to an origin that is not the provider's own."""
    return ConsentRequest(
        kind=ConsentKind.KEY,
        subject=provider,
        fingerprint=fingerprint({"provider": provider, "source": source, "origin": origin}),
        target=origin,
        names=(source,),
        listed_in=tuple(listed_in),
        unencrypted=unencrypted,
    )


def used_names(spec: ServerSpec) -> tuple[str, ...]:
    """Return the variables, keychain entries and key files that a server's definition would use, sorted."""
    names = {_used_name(reference) for text in _texts_with_references(spec) for reference in references(text)} - {""}
    if spec.oauth.private_key_file:
        names.add(f"file:{spec.oauth.private_key_file}")
    return tuple(sorted(names))


def _texts_with_references(spec: ServerSpec) -> Sequence[str]:
    if spec.transport is Transport.STDIO:
        return (*spec.argv, spec.cwd or "", *spec.env.values(), spec.env_file or "")
    return (spec.url or "", *spec.headers.values(), *spec.headers, spec.secret or "")


def _used_name(reference: Reference) -> str:
    match reference.kind:
        case ReferenceKind.KEYCHAIN:
            return f"keychain:{reference.name}"
        case ReferenceKind.VARIABLE | ReferenceKind.INPUT:
            return reference.variable
        case ReferenceKind.PLACE if reference.name not in _PLACES_WITHOUT_CONTENT:
            return reference.name
    return ""


def quoted_argument(text: str) -> str:
    """Return a command line argument in double quotes on one line, with escapes for what cannot be seen."""
    escaped = visible(text.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def visible(text: str) -> str:
    """Return the text with every control, bidirectional and other unprintable character as an escape."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def user_name() -> str:
    """Return the name of the user that programs run as."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "you"
