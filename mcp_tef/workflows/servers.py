"""Servers: registration, connectivity checks and tool listings."""

import asyncio
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mcp_tef.errors import NotFoundError, ServerError, TefError
from mcp_tef.events import EventStream, ServersChanged, ServerStateChanged
from mcp_tef.formats.servers.secrets import Secrets
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.ids import ServerId
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, Server, ServerSpec, ServerStatus, require_complete, variable_name
from mcp_tef.model.tools import Listing
from mcp_tef.model.transfer import DefinitionWithoutSecrets
from mcp_tef.ports import CheckResult, SecretVault, ServerGateway, ServerStore
from mcp_tef.trust.consents import Consent
from mcp_tef.trust.name_keys import stored_name
from mcp_tef.workflows.consent import Consents


class Servers:
    """The registered servers. Storing one never waits for it; checks run in the background."""

    def __init__(
        self,
        store: ServerStore,
        gateway: ServerGateway,
        consents: Consents,
        events: EventStream,
        config: Config | CurrentConfig,
    ) -> None:
        self._store = store
        self._consents = consents
        self._gateway = gateway
        self._events = events
        self._config = config
        self._checks: dict[ServerId, asyncio.Task[Server]] = {}

    async def list(self) -> tuple[Server, ...]:
        """Return every server, by name; `starting` while a check is under way."""
        return tuple(self._as_now(server) for server in await self._store.all())

    async def get(self, server_id: ServerId) -> Server:
        """Return one server; NotFoundError."""
        return self._as_now(await self._store.get(server_id))

    async def find(self, name: str) -> Server:
        """Return the server of a name; NotFoundError names the nearest."""
        servers = {server.name: server for server in await self._store.all()}
        stored = stored_name(name, servers)
        if stored is None:
            hint = did_you_mean(name, servers, "Add it first, or look at the list of servers.")
            raise NotFoundError(f"There is no server named {name}.", hint=hint)
        return self._as_now(servers[stored])

    async def add(self, spec: ServerSpec, *, by: str = "") -> Server:
        """Store a server and, where consent is there, begin to check it; ConflictError where the name is taken."""
        server = await self._store.add(require_complete(spec))
        return await self._touched(server, by)

    async def edit(
        self, server_id: ServerId, spec: ServerSpec, *, seen: ServerSpec | None = None, by: str = ""
    ) -> Server:
        """Change the fields of a server that differ from what was seen, and check it again.

        ChangedMeanwhileError where somebody else changed one of them since; nothing is stored then.
        """
        self._stop_check(server_id)
        server = await self._store.update(server_id, require_complete(spec), seen)
        return await self._touched(server, by)

    async def remove(self, ids: Sequence[ServerId], *, by: str = "") -> None:
        """Remove servers; `restore` undoes it until the workspace is closed."""
        for server_id in ids:
            self._stop_check(server_id)
        await self._store.remove(ids)
        self._events.publish(ServersChanged(tuple(ids), by))

    async def restore(self, ids: Sequence[ServerId], *, by: str = "") -> None:
        """Undo a removal."""
        await self._store.restore(ids)
        self._events.publish(ServersChanged(tuple(ids), by))

    async def check(self, server_id: ServerId) -> Server:
        """Connect once and keep what was found, good or bad; raises ConsentError, and NotFoundError once it is removed.

        Where it is edited meanwhile, what was asked is nobody's question any more: the server as it is now.
        """
        server = await self._store.get(server_id)
        self._consents.require(server.spec)
        checking = self._checking(server)
        await asyncio.wait({checking})
        return await self.get(server_id) if checking.cancelled() else checking.result()

    async def probe(self, spec: ServerSpec) -> Listing:
        """Return the tools of a server that is not stored; raises ServerError, ConsentError."""
        self._consents.require(require_complete(spec))
        return await self._gateway.list_tools(spec, timeout=self._config.limits.seconds)

    async def tools(self, server_id: ServerId) -> Listing:
        """List the tools of a server now; raises ServerError, ConsentError."""
        server = await self._store.get(server_id)
        self._consents.require(server.spec)
        try:
            listing = await self._gateway.list_tools(server.spec, timeout=self._config.limits.seconds)
        except TefError as error:
            self._changed(await self._store.record_check(server_id, _failed(error)))
            raise
        self._changed(await self._store.record_check(server_id, CheckResult(listing=listing)))
        return listing

    async def known_tools(self, server_id: ServerId) -> Listing | None:
        """Return the tools of a server as last seen, without those rejected since; starts nothing."""
        listing, spec = await self._store.listing(server_id), (await self._store.get(server_id)).spec
        if listing is None or not (spec.allowed_tools or spec.disallowed_tools):
            return listing
        return replace(listing, tools=tuple(tool for tool in listing.tools if spec.wants(tool.name)))

    async def listed_tools(self, server_id: ServerId) -> frozenset[str]:
        """Return the names of all tools that a server listed last, rejected ones included; starts nothing."""
        listing = await self._store.listing(server_id)
        return frozenset(tool.name for tool in listing.tools) if listing else frozenset()

    async def consents(self) -> tuple[Consent, ...]:
        """Return everything that was allowed, the latest first, each with the servers that it applies to now."""
        servers = await self._store.all()
        return tuple(
            replace(
                consent,
                servers=tuple(one.name for one in servers if self._consents.covers(consent.fingerprint, one.spec)),
            )
            for consent in self._consents.all()
        )

    async def revoke_consent(self, fingerprint: str, *, by: str = "") -> None:
        """Take a consent back: a check that is under way is stopped, and the next one asks again."""
        await self._consents.revoke(fingerprint)
        touched = await self._covered(fingerprint)
        for server_id in touched:
            self._stop_check(server_id)
        self._events.publish(ServersChanged(touched, by))

    async def restore_consent(self, consent: Consent, *, by: str = "") -> None:
        """Undo `revoke_consent`."""
        await self._consents.restore(consent)
        self._events.publish(ServersChanged(await self._covered(consent.fingerprint), by))

    async def _covered(self, fingerprint: str) -> tuple[ServerId, ...]:
        servers = await self._store.all()
        return tuple(server.id for server in servers if self._consents.covers(fingerprint, server.spec))

    async def close(self) -> None:
        """Stop the checks that are under way."""
        tasks = tuple(self._checks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _as_now(self, server: Server) -> Server:
        return replace(server, status=ServerStatus.STARTING) if server.id in self._checks else server

    async def _touched(self, server: Server, by: str) -> Server:
        self._events.publish(ServersChanged((server.id,), by))
        if not self._consents.needed(server.spec):
            self._checking(server)
        return self._as_now(server)

    def _checking(self, server: Server) -> asyncio.Task[Server]:
        if server.id not in self._checks:
            task = asyncio.create_task(self._check(server))
            self._checks[server.id] = task
            task.add_done_callback(lambda ended: self._forget_check(server.id, ended))
            self._changed(self._as_now(server))
        return self._checks[server.id]

    async def _check(self, server: Server) -> Server:
        try:
            listing = await self._gateway.list_tools(server.spec, timeout=self._config.limits.seconds)
            result = CheckResult(listing=listing)
        except TefError as error:
            result = _failed(error)
        found = await self._store.record_check(server.id, result)
        self._changed(found)
        return found

    def _changed(self, server: Server) -> None:
        self._events.publish(ServerStateChanged(server))

    def _forget_check(self, server_id: ServerId, ended: asyncio.Task[Server]) -> None:
        """One that was stopped ends while another may have begun."""
        if self._checks.get(server_id) is ended:
            del self._checks[server_id]

    def _stop_check(self, server_id: ServerId) -> None:
        if task := self._checks.pop(server_id, None):
            task.cancel()


def _failed(error: TefError) -> CheckResult:
    context = error.context if isinstance(error, ServerError) else {}
    exit_code, stderr = context.get("exit_code"), context.get("stderr_tail")
    return CheckResult(
        reason=error.message,
        hint=error.hint,
        exit_code=exit_code if isinstance(exit_code, int) else None,
        stderr_tail=str(stderr) if stderr else None,
    )


_EMPTY: Final[Mapping[str, Any]] = {"url": None, "command": None, "args": (), "env": {}, "headers": {}, "extra": {}}


class PlainTextSecrets:
    """Finds secrets as imports do. `variables` is the environment of servers; what is typed for them is added to it.

    What was typed for a server is no variable for anything else: it must not become the key of a provider.
    """

    def __init__(self, variables: MutableMapping[str, str], vault: SecretVault) -> None:
        self._held: dict[str, Secret] = {}
        self._vault = vault
        self.variables = variables

    def taken_out(self, spec: ServerSpec, before: ServerSpec | None = None) -> DefinitionWithoutSecrets:
        """Return the definition without the secrets in it; what an edit leaves as it was before stays as it is."""
        kept = {name: getattr(spec, name) for name in _EMPTY if before and getattr(before, name) == getattr(spec, name)}
        finder = Secrets(self.variables)
        clean, found = finder.taken_out(replace(spec, **{name: _EMPTY[name] for name in kept}))
        return DefinitionWithoutSecrets(replace(clean, **kept), found, finder.values(found))

    def hold(self, values: Mapping[str, Secret]) -> None:
        """Fill these variables in for as long as the process runs."""
        self._held.update(values)
        self.variables.update({name: secret.reveal() for name, secret in values.items()})

    def held(self) -> dict[str, Secret]:
        """Return what is in memory, for an engine that goes on with it."""
        return dict(self._held)

    async def remember(self, typed: DefinitionWithoutSecrets) -> ServerSpec:
        """Keep the secrets in the keychain and return the definition with its entries; StoreError."""
        spec = typed.spec
        for variable, secret in typed.values.items():
            entry = await self._entry(spec.name, variable, secret)
            await asyncio.to_thread(self._vault.write, entry, secret)
            spec = _renamed(spec, f"${{{variable}}}", f"${{keychain:{entry}}}")
        return spec

    async def _entry(self, server: str, variable: str, secret: Secret) -> str:
        """Return a name for the entry; one that another server's secret has is left alone."""
        known = await asyncio.to_thread(self._vault.read, variable)
        return variable if known in (None, secret) else variable_name(f"{server}_{variable}")


def _renamed(spec: ServerSpec, old: str, new: str) -> ServerSpec:
    def text(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, Mapping):
            return {name: text(inner) for name, inner in value.items()}
        return type(value)(map(text, value)) if isinstance(value, list | tuple) else value

    changed = {name: text(getattr(spec, name)) for name in _EMPTY}
    secret = text(spec.secret) if spec.auth_type is AuthType.BASIC else spec.secret
    return replace(spec, **changed, secret=secret)
