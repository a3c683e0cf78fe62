"""Consents: what a user on this machine allowed to be started, contacted or sent."""

import getpass
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.secrets import looks_like_key
from mcp_tef.model.servers import Reference, ReferenceKind, ServerSpec, Transport, references
from mcp_tef.trust.names import quoted_argument, shown, shown_address, visible

Fact: TypeAlias = tuple[str, tuple[str, ...]]
"""A label with its texts, each as it is used, not yet made fit to be shown."""

COMMAND, SCRIPT, SETS = "Command", "Script", "Sets"
ADDRESSES = frozenset({"Url", "Base url"})
TYPED_KEY = "the key that you typed"
_LONGEST_DESCRIPTION = 2_000
_LONGEST_WHOLE = 10_000
PATH = "Reads"
_MOST_TEXTS = 300
_LONGEST_PART = 200
_PLACES_WITHOUT_CONTENT = frozenset({"pathSeparator", "/"})


class ConsentKind(StrEnum):
    """Kind of action that needs the user's consent."""

    PROGRAM = "program"
    CONNECTION = "connection"
    KEY = "key"
    TOOL_CALL = "tool call"
    PATH = "path"


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
        kind: what would happen: a program starts, a server is contacted, a key is sent, a library tool is executed,
            or a file or folder is read.
        subject: name of the server, or provider that the key belongs to.
        fingerprint: identity of the action; any change asks again.
        target: command line of a program, else the origin that is contacted.
        names: environment variables and keychain entries whose values would be used.
        listed_in: file that names the program or address (workspace, config), in the order of trust.
        spec: the server, for programs and connections.
        facts: all that decides what a program or library tool does.
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
    facts: tuple[Fact, ...] = ()

    @property
    def whole(self) -> bool:
        """True where a question can hold every text from its first to its last character."""
        lines = [line for label, texts in self.facts for text in texts for line in fact_lines(label, text)]
        return len(lines) <= _MOST_TEXTS and sum(map(len, lines)) <= _LONGEST_WHOLE

    @property
    def obstacle(self) -> str:
        """Reason why a yes or a click cannot allow this, but only its hash can; empty where there is none."""
        if not self.whole:
            return f"What {shown(self.subject)} would run is too long to be shown whole."
        texts = [text for label, texts in self.facts if label != SCRIPT for text in texts]
        if found := next((text for text in texts if looks_like_key(_without_references(text))), ""):
            return (
                f"{shortened(found)} of {shown(self.subject)} looks like it holds a key or password. "
                "Put the secret into a variable, and write ${NAME} in its place."
            )
        return ""

    @property
    def by_hash(self) -> str:
        """The option that allows this very action and nothing else."""
        return f"--allow-program {self.fingerprint[:32]}"

    @property
    def consent(self) -> Consent:
        """The consent that a yes gives."""
        names = f" ← {', '.join(self.names)}" if self.names and self.kind is not ConsentKind.PROGRAM else ""
        return Consent(self.fingerprint, visible(f"{self.target}{names}")[:_LONGEST_DESCRIPTION], self.kind)

    @property
    def title(self) -> str:
        """The question in one sentence."""
        subject = shown(self.subject)
        match self.kind:
            case ConsentKind.PROGRAM:
                return f"Start {subject}?"
            case ConsentKind.CONNECTION:
                return f"Connect to {subject}?"
            case ConsentKind.KEY:
                return f"Send the {subject} key to {shown_address(self.target)}?"
            case ConsentKind.TOOL_CALL:
                return f"Execute the library tool {subject}?"
            case ConsentKind.PATH:
                return f"Read a file for {subject}?"

    @property
    def problem(self) -> str:
        """One sentence for when nobody can be asked."""
        subject, target = shown(self.subject), self.target
        match self.kind:
            case ConsentKind.PROGRAM:
                return f"{subject} would start a program that you have not allowed: {target}."
            case ConsentKind.CONNECTION:
                sent = f", sending {shown(', '.join(self.names))}" if self.names else ""
                return f"{subject} would connect to {shown_address(target)}{sent}, which you have not allowed."
            case ConsentKind.KEY:
                key = f"The {subject} key that you typed" if self.names[0] == TYPED_KEY else shown(self.names[0])
                return f"{key} would be sent to {shown_address(target)}, which you have not allowed."
            case ConsentKind.TOOL_CALL:
                return f"The library tool {subject} would do what you have not allowed: {target}."
            case ConsentKind.PATH:
                return f"{subject} would read {shown(target)}, which you have not allowed."

    @property
    def option(self) -> str:
        """The narrowest command line option that allows this."""
        match self.kind:
            case ConsentKind.PROGRAM | ConsentKind.TOOL_CALL | ConsentKind.PATH:
                return self.by_hash
            case ConsentKind.CONNECTION | ConsentKind.KEY:
                named = [f"{name}={self.target}" for name in self.names] or [self.target]
                return " ".join(f"--allow-origin {shlex.quote(visible(one))}" for one in named)


class ActionPlan(Protocol):
    """Subject of a question: a plan of `trust/plans.py`, whose facts it shows and is known by."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All that decides what happens."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identity of the action."""
        ...


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


def program_request(spec: ServerSpec, plan: ActionPlan, listed_in: Sequence[str]) -> ConsentRequest:
    """Return the question before a stdio server is started."""
    return ConsentRequest(
        kind=ConsentKind.PROGRAM,
        subject=spec.name,
        fingerprint=plan.fingerprint,
        target=command_text(plan.facts),
        names=used_names(spec),
        listed_in=tuple(listed_in),
        spec=spec,
        facts=plan.facts,
    )


def command_text(facts: Sequence[Fact]) -> str:
    """Return the command of a start on one line, long arguments shortened."""
    return " ".join(shortened(text) for label, texts in facts if label == COMMAND for text in texts)


def connection_request(
    spec: ServerSpec, place: str, shown: str, listed_in: Sequence[str], *, unencrypted: bool
) -> ConsentRequest:
    """Return the question before an HTTP server is contacted.

    `place` has its variables filled in; its origin is part of the identity, and its path too where something is sent.
    `shown` is the same for people, without values.
    """
    names = used_names(spec)
    origin, shown_origin = (place, shown) if names else (origin_of(place) or place, origin_of(shown) or shown)
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
    provider: str, source: str, place: str, listed_in: Sequence[str] = (), *, unencrypted: bool
) -> ConsentRequest:
    """Return the question before a provider's key goes to a place that is not the provider's own."""
    return ConsentRequest(
        kind=ConsentKind.KEY,
        subject=provider,
        fingerprint=fingerprint({"provider": provider, "source": source, "origin": place}),
        target=place,
        names=(source,),
        listed_in=tuple(listed_in),
        unencrypted=unencrypted,
    )


def contact_request(subject: str, place: str, listed_in: Sequence[str] = ()) -> ConsentRequest:
    """Return the question before queries and tool definitions go to a stored address, though no key is sent."""
    origin = origin_of(place)
    return ConsentRequest(
        kind=ConsentKind.CONNECTION,
        subject=subject,
        fingerprint=fingerprint({"models at": origin}),  # as for those of a project file
        target=origin,
        listed_in=tuple(listed_in),
    )


def path_request(subject: str, path: str, listed_in: Sequence[str] = ()) -> ConsentRequest:
    """Return the question before a stored path is read: where it leads to now is part of the identity."""
    place = resolved_path(path)
    return ConsentRequest(
        kind=ConsentKind.PATH,
        subject=subject,
        fingerprint=fingerprint({"reads": place}),
        target=place,
        listed_in=tuple(listed_in),
        facts=((PATH, (place,)),),
    )


def resolved_path(path: str) -> str:
    """Return where a stored path leads to now; as it is written where it is none, or where a variable decides it."""
    with suppress(ValueError):
        return path if any(references(path)) else os.path.realpath(os.path.expanduser(path))
    return path


def typed_loopback(origin: str, workspace: str) -> Consent:
    """Return the agreement to a port of this machine that was typed once, for one workspace."""
    about = visible(f"{origin} (typed, in {workspace})")[:_LONGEST_DESCRIPTION]
    identity = fingerprint({"typed": origin, "workspace": workspace})
    return Consent(identity, about, ConsentKind.CONNECTION)


def used_names(spec: ServerSpec) -> tuple[str, ...]:
    """Return the variables, keychain entries and key files that a server's definition would use, sorted."""
    names = {_used_name(reference) for text in _texts_with_references(spec) for reference in references(text)} - {""}
    if spec.oauth.private_key_file:
        names.add(f"file:{resolved_path(spec.oauth.private_key_file)}")
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


def fact_lines(label: str, text: str) -> list[str]:
    """Return the lines that show a text of a fact whole: those of a script, else one in quotes."""
    if label == SCRIPT:
        return list(map(shown, text.split("\n")))
    return [shown_address(text) if label in ADDRESSES else quoted_argument(text)]


def fact_line(label: str, text: str) -> str:
    """Return the line that names a text of a fact: an address with its host in ASCII, any other text in quotes."""
    return shown_address(text) if label in ADDRESSES and len(text) <= 2 * _LONGEST_PART else shortened(text)


def shortened(text: str) -> str:
    """Return a text in quotes; of a long one the first and last 200 characters, and how many are left out."""
    left = len(text) - 2 * _LONGEST_PART
    if left <= 0:
        return quoted_argument(text)
    first, last = quoted_argument(text[:_LONGEST_PART]), quoted_argument(text[-_LONGEST_PART:])
    return f"{first} … ({left:,} characters left out) … {last}"


def _without_references(text: str) -> str:
    """Return a text without the places of values, which are no secrets."""
    from mcp_tef.model.library import PLACEHOLDER

    parts, end = list[str](), 0
    for reference in references(text):
        parts += [text[end : reference.start], reference.default or ""]
        end = reference.end
    return PLACEHOLDER.sub("", "".join([*parts, text[end:]]))


def user_name() -> str:
    """Return the name of the user that programs run as."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "you"
