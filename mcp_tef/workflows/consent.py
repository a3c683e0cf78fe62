"""Consent to start programs, contact servers and send keys, for the window and the command line alike."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_tef.errors import StoreError
from mcp_tef.model.addresses import is_loopback, is_unencrypted, origin_of
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.servers import Reference, ReferenceKind, ServerSpec, Transport, references
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.ports import ConsentStore
from mcp_tef.scoring.command_risks.risks import decides_what_runs
from mcp_tef.trust.addresses import is_within, place_of
from mcp_tef.trust.consents import (
    COMMAND,
    SCRIPT,
    Consent,
    ConsentError,
    ConsentKind,
    ConsentRequest,
    connection_request,
    contact_request,
    path_request,
    program_request,
    typed_loopback,
    used_names,
)
from mcp_tef.trust.own_workspaces import holds_strangers_text, tools_folder

if TYPE_CHECKING:
    from mcp_tef.trust.plans import StartPlan, ToolPlan

_SHORTEST_HASH: Final = 32


class Consents:
    """Everything this user allowed: for good, in the user's data folder, or for this session, in memory.

    Nothing is ever read from a workspace, config or case file. `workspace` is the file whose servers and batches are in
    use; questions name it. `bundled` has launch fingerprints of programs that come with this installation and need no
    consent. `notice` is called with one sentence when a consent counts for this session only.
    """

    def __init__(
        self,
        store: ConsentStore,
        environment: Mapping[str, str],
        config: Config | CurrentConfig,
        *,
        workspace: Path | None = None,
        bundled: Callable[[], frozenset[str]] = frozenset,
        notice: Callable[[str], object] = str,
    ) -> None:
        self._store = store
        self._environment = environment
        self._config = config
        self._workspace = workspace
        self._source = ""
        self._bundled = bundled
        self._notice = notice
        self._session: dict[str, Consent] = {}
        self._declined: set[str] = set()
        self._typed: set[tuple[str, str]] = set()
        self._typed_actions: set[str] = set()
        self._options: tuple[Sequence[str], Sequence[str]] = ((), ())

    @property
    def listed_in(self) -> tuple[str, ...]:
        """The file that stored addresses and programs come from."""
        if self._source:
            return (self._source,)
        return (f"workspace {self._workspace}",) if self._workspace else ()

    def name_source(self, source: str) -> None:
        """Name in questions what lists programs and addresses, where that is not the workspace."""
        self._source = source

    def missing(self, specs: Iterable[ServerSpec]) -> tuple[ConsentRequest, ...]:
        """Return the questions to ask before these servers are started or contacted, each once."""
        return self.open_ones(request for spec in specs if (request := self._request(spec)) is not None)

    def open_ones(self, requests: Iterable[ConsentRequest]) -> tuple[ConsentRequest, ...]:
        """Return the questions that are not answered yet, each once."""
        return tuple({request.fingerprint: request for request in requests if not self.allows(request)}.values())

    def needed(self, spec: ServerSpec) -> bool:
        """Return True if a server may not be started or contacted yet."""
        return bool(self.missing([spec]))

    def require(self, *specs: ServerSpec) -> None:
        """Raise ConsentError with every question that is open for these servers."""
        if requests := self.missing(specs):
            raise ConsentError.of(requests)

    def require_start(self, spec: ServerSpec, plan: "StartPlan") -> None:
        """Raise ConsentError unless this very start is allowed; for what is about to carry it out."""
        if spec.launch_fingerprint in self._bundled():
            return
        if requests := self.open_ones([program_request(spec, plan, self._places(spec))]):
            raise ConsentError.of(requests)

    def tool_question(self, plan: "ToolPlan", spec: ServerSpec | None) -> ConsentRequest:
        """Return the question about an execution of a library tool, asked or not; `spec` is its program or address."""
        from mcp_tef.trust.plans import tool_request

        return tool_request(plan, spec, self.listed_in, unencrypted=self.is_unencrypted(plan.origin))

    def allows(self, request: ConsentRequest) -> bool:
        """Return True if the user allowed this very action."""
        kept = () if _is_callers(request) else self._store.all()
        answered = request.fingerprint in self._session or request.fingerprint in kept
        return answered or matches_options(request, *self._options)

    def allow_named(self, programs: Sequence[str], origins: Sequence[str]) -> None:
        """Allow, for this session, what `--allow-program` and `--allow-origin` options name.

        The word `project` is no path: it stands for the programs of a project file, which `run` answers for.
        """
        self._options = [one for one in programs if one != "project"], origins

    def covers(self, fingerprint: str, spec: ServerSpec) -> bool:
        """Return True if a consent of this fingerprint is the one that a server needs."""
        request = self._request(spec)
        return request is not None and request.fingerprint == fingerprint

    def declines(self, request: ConsentRequest) -> bool:
        """Return True if the user chose to go on without sending this key."""
        return request.fingerprint in self._declined

    async def allow(self, request: ConsentRequest, *, remember: bool = True, typed: bool = False) -> None:
        """Allow an action: for good, or for this session only. It asks again as soon as anything of it changes.

        ConsentError where a question cannot show all of it, unless the user `typed` it whole.
        """
        if request.obstacle and not typed and request.fingerprint not in self._typed_actions:
            raise ConsentError(request.obstacle, hint=f"Read all of it, then allow it with: {request.by_hash}")
        self._declined.discard(request.fingerprint)
        await self._keep(request.consent, remember=remember and not _is_callers(request))

    async def allow_server(self, spec: ServerSpec) -> None:
        """Allow a server as the user has just typed it, for good."""
        for request in self.missing([spec]):
            await self.allow(request, typed=True)

    def decline_key(self, request: ConsentRequest) -> None:
        """Go on without this key, in this session."""
        self._declined.add(request.fingerprint)

    def note_typed(self, spec: ServerSpec) -> None:
        """Note that the user typed this very program or address in this command, so that --yes can allow it."""
        if (request := self._request(spec)) is not None:
            self._typed_actions.add(request.fingerprint)

    def is_typed_action(self, request: ConsentRequest) -> bool:
        """Return True if all of an action was typed in this command, or is set in the user's environment."""
        if request.kind is ConsentKind.KEY:
            return not request.listed_in or self.is_typed(request.subject, request.target)
        return request.fingerprint in self._typed_actions

    async def add_typed_server(
        self, typed: ServerSpec, spec: ServerSpec | None = None, *, remember: bool = True
    ) -> None:
        """Allow an address that the user typed; one that takes variables or keychain entries is still asked about.

        Args:
            typed: the definition as it was typed.
            spec: the same, once secrets that were typed into it are references.
            remember: keep it for good, not for this session only.
        """
        is_plain = typed.transport is Transport.FILE or (typed.url and not used_names(typed))
        requests = self.missing([spec or typed]) if is_plain else ()
        for request in requests:
            if not request.unencrypted:
                await self.allow(request, remember=remember, typed=True)

    def names_origin(self, url: str) -> bool:
        """Return True if an `--allow-origin` option names the origin of an address, for any variable or none."""
        return any(is_within(url, place) for _, place in map(_variable_and_place, self._options[1]))

    def add_typed_address(self, provider: str, address: str, *, remember: bool = True) -> None:
        """Note that the user typed a model's address in this command or form, which allows sending the key there.

        A port of this machine is remembered for the workspace: a local model is not asked about again and again.
        """
        origin = origin_of(address)
        self._typed.add((provider, place_of(address)))
        if remember and self._workspace is not None and is_loopback(origin):
            consent = typed_loopback(origin, os.path.realpath(self._workspace))
            if consent.fingerprint not in self._store.all():
                with suppress(StoreError):  # it counts for this session all the same
                    self._store.add(consent)

    def add_typed_embedder(self, choice: EmbedderChoice | None, *, remember: bool = True) -> None:
        """Note the address of an embedder that the user chose, in the same way."""
        if choice is not None and choice.kind is EmbedderKind.HTTP:
            self.add_typed_address(choice.kind, choice.target, remember=remember)
        elif choice is not None and choice.base_url:
            self.add_typed_address(choice.target.partition("/")[0], choice.base_url, remember=remember)

    def is_typed(self, provider: str, place: str) -> bool:
        """Return True if the user typed this place for this provider in this session, or one above it."""
        return any(provider == one and is_within(place, typed) for one, typed in self._typed)

    def may_contact(self, place: str, subject: str) -> ConsentRequest | None:
        """Return None for an address that was typed or allowed, else the question to ask before it is contacted."""
        origin = origin_of(place)
        request = contact_request(subject, place, self.listed_in)
        typed = any(origin_of(one) == origin for _, one in self._typed)
        if not typed and self._workspace is not None and is_loopback(origin):
            typed = typed_loopback(origin, os.path.realpath(self._workspace)).fingerprint in self._store.all()
        return None if typed or self.allows(request) else request

    def is_unencrypted(self, origin: str) -> bool:
        """Return True if others on the network could read what is sent there."""
        return is_unencrypted(origin, self._config.trusted_networks)

    def all(self) -> tuple[Consent, ...]:
        """Return every remembered consent, the latest first."""
        return tuple(self._store.all().values())[::-1]

    async def revoke(self, fingerprint: str) -> None:
        """Forget a consent."""
        self._session.pop(fingerprint, None)
        await asyncio.to_thread(self._store.remove, fingerprint)

    async def restore(self, consent: Consent) -> None:
        """Undo `revoke`."""
        await self._keep(consent, remember=True)

    async def _keep(self, consent: Consent, *, remember: bool) -> None:
        self._session[consent.fingerprint] = consent
        if not remember:
            return
        try:
            await asyncio.to_thread(self._store.add, consent)
        except StoreError as error:
            self._notice(f"{error.message} It counts until mcp-tef ends.")
        else:
            self._session.pop(consent.fingerprint, None)

    def _request(self, spec: ServerSpec) -> ConsentRequest | None:
        """Return the question about a server, asked or not; None where there is nothing to allow."""
        if spec.transport is Transport.FILE:
            return None if spec.is_library else self._path_question(spec.name, spec.path or "", self._places(spec))
        listed_in = self._places(spec)
        if spec.transport is Transport.STDIO:
            return self._start_question(spec, listed_in)
        address = spec.url or ""
        url, hidden = self.filled(address), self._filled(address, always=False)
        shown = place_of(hidden) if origin_of(hidden) else ascii(address.partition("?")[0])
        place = place_of(url) if origin_of(url) else url
        return connection_request(spec, place, shown, listed_in, unencrypted=self.is_unencrypted(origin_of(url)))

    def require_folder(self, choice: EmbedderChoice | None, subject: str) -> None:
        """Raise ConsentError where a stored embedder would read a folder that the user has not allowed."""
        if choice is not None and choice.kind is EmbedderKind.FOLDER:
            question = self._path_question(subject, choice.target, self.listed_in)
            if requests := self.open_ones([question] if question else []):
                raise ConsentError.of(requests)

    def _path_question(self, subject: str, path: str, listed_in: Sequence[str]) -> ConsentRequest | None:
        """Return the question about a stored path; None in a workspace that only this user wrote, and for its files."""
        if self._workspace is None or self._source or not holds_strangers_text(self._workspace):
            return None
        request = path_request(subject, path, listed_in)
        own = os.path.realpath(tools_folder(self._workspace.absolute()))
        return None if request.target.startswith(f"{own}{os.sep}") else request

    def _start_question(self, spec: ServerSpec, listed_in: Sequence[str]) -> ConsentRequest | None:
        if spec.launch_fingerprint in self._bundled():
            return None
        from mcp_tef.trust.plans import server_plan

        return program_request(spec, server_plan(spec, self._environment), listed_in)

    def _places(self, spec: ServerSpec) -> tuple[str, ...]:
        """Return the files that a definition comes from."""
        return (*self.listed_in, *([f"imported from {spec.origin}"] if spec.origin else []))

    def filled(self, address: str) -> str:
        """Return an address with its variables filled in."""
        return self._filled(address, always=True)

    def _filled(self, text: str, *, always: bool) -> str:
        """Return an address with its variables filled in; without `always`, values of the environment stay hidden."""
        parts, end = list[str](), 0
        for reference in references(text):
            parts += [text[end : reference.start], self._value(reference, text, always=always)]
            end = reference.end
        return "".join([*parts, text[end:]])

    def _value(self, reference: Reference, text: str, *, always: bool) -> str:
        written = text[reference.start : reference.end]
        if reference.kind not in (ReferenceKind.VARIABLE, ReferenceKind.INPUT):
            return written
        value = self._environment.get(reference.variable, "").strip()
        return (value if always else written) if value else reference.default or written


def _is_callers(request: ConsentRequest) -> bool:
    """Return True for an address that a REST caller named: what was allowed for good is not meant for it."""
    return request.spec is not None and request.spec.is_callers_address


def matches_options(request: ConsentRequest, programs: Sequence[str], origins: Sequence[str]) -> bool:
    """Return True if `--allow-program PATH|HASH` or `--allow-origin ORIGIN|VARIABLE=ORIGIN` options name this action.

    A hash (at least 32 digits of the fingerprint) stands for the whole action. A path stands for the program with any
    arguments that a question can show, unless the definition sets variables that decide which code runs.
    """
    if any(len(text) >= _SHORTEST_HASH and request.fingerprint.startswith(text.lower()) for text in programs):
        return True
    if request.kind in (ConsentKind.CONNECTION, ConsentKind.KEY):
        return _names_address(request, [_variable_and_place(one) for one in origins])
    return request.kind is ConsentKind.PROGRAM and any(_names_program(request, text) for text in programs)


def _names_address(request: ConsentRequest, named: Sequence[tuple[str, str]]) -> bool:
    if not request.names:
        return any(origin_of(place) == origin_of(request.target) for _, place in named if origin_of(place))
    return all(
        any(name == wanted and (place == request.target or is_within(request.target, place)) for name, place in named)
        for wanted in request.names
    )


def _variable_and_place(text: str) -> tuple[str, str]:
    """Read `ORIGIN` or `VAR=ORIGIN`; a variable that may go to a place is an agreement to contact it as well."""
    name, _, place = ("", "", text) if origin_of(text) else text.partition("=")
    return name.strip(), place.strip()


def _names_program(request: ConsentRequest, text: str) -> bool:
    facts = dict(request.facts)
    if request.spec is None or request.obstacle or SCRIPT in facts or _is_open(request.spec):
        return False
    return facts[COMMAND][0] == os.path.abspath(os.path.expanduser(text))


def _is_open(spec: ServerSpec) -> bool:
    """Return True if only the start decides which program runs: by its variables or by references to some."""
    return any(map(decides_what_runs, spec.env)) or any(references(f"{spec.command}{spec.cwd or ''}"))
