"""Credentials of servers: keychain entries and OAuth grants, and the secrets that one connection needs."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import AsyncFileLock

from mcp_tef.errors import ServerError, ServerFault, StoreError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ReferenceKind, ServerSpec, references
from mcp_tef.ports import OpenAddress, SecretVault
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.trust.files import make_private_folder
from mcp_tef.trust.held_folder import FILE_MODE
from mcp_tef.trust.plans import StartPlan

_LONGEST_TURN_S: Final = 10.0


class CredentialStore:
    """Reads the keychain apart from the loop, since it may ask the user.

    A grant is what a sign-in brought, as a text that only who signs in can read, by the address of the server and
    its issuer. It is held in memory, and in the keychain where that was asked for; then a keychain that fails costs
    the next start only, which `tell` is told once. In the folder `locks`, processes that share a keychain
    wait for each other.
    """

    def __init__(
        self, vault: SecretVault | None = None, tell: Callable[[str], object] = str, locks: Path | None = None
    ) -> None:
        self._vault = vault
        self._tell = tell
        self._locks = locks
        self._grants: dict[str, Secret] = {}
        self._refused: set[str] = set()
        self._turns: dict[str, asyncio.Lock] = {}

    async def entries(self, names: Iterable[str]) -> Mapping[str, Secret]:
        """Those of the entries that are there; StoreError."""
        return {name: secret for name in names if (secret := await self._read(name))}

    async def grant(self, url: str, *, remembered: bool) -> Secret | None:
        """Return the grant of an address; the keychain is looked into only where it was asked for."""
        if url not in self._grants and remembered:
            try:
                found = await self._read(_entry(url))
            except StoreError:
                found = None
            if found:
                self._grants[url] = found
        return self._grants.get(url)

    @asynccontextmanager
    async def turn(self, url: str, *, remembered: bool) -> AsyncIterator[None]:
        """Yield while no other task or process renews the grant of an address: a renewal token is good for one use.

        One in the keychain is shown by one process at a time, as far as locks go; who waits too long goes on without.
        """
        async with self._turns.setdefault(url, asyncio.Lock()), AsyncExitStack() as alone:
            if remembered and self._locks is not None:
                with suppress(OSError):
                    await alone.enter_async_context(_lock(self._locks, url))
            yield

    def held(self) -> dict[str, Secret]:
        """Return the grants of this process, for another engine that continues with them."""
        return dict(self._grants)

    def hold(self, grants: Mapping[str, Secret]) -> None:
        """Go on with what earlier sign-ins brought."""
        self._grants.update(grants)

    async def newer(self, url: str, known: Secret, *, remembered: bool) -> Secret | None:
        """Return a grant of an address other than the known one, from this or another process with this keychain."""
        if remembered and self._grants.get(url, known).reveal() == known.reveal():
            self._grants.pop(url, None)
        found = await self.grant(url, remembered=remembered)
        self._grants.setdefault(url, found or known)
        return found if found and found.reveal() != known.reveal() else None

    async def keep(self, url: str, grant: Secret, *, remember: bool) -> None:
        """Hold a grant, whatever the keychain says."""
        self._grants[url] = grant
        if remember and self._vault is not None:
            try:
                await asyncio.to_thread(self._vault.write, _entry(url), grant)
            except StoreError as error:
                self._say_once(url, error)

    def _say_once(self, url: str, error: StoreError) -> None:
        if url not in self._refused:
            self._refused.add(url)
            self._tell(f"The sign-in to {url} is not kept beyond this session. {error.message}")

    async def drop(self, url: str) -> None:
        """Forget a grant, in the keychain as well."""
        self._grants.pop(url, None)
        if self._vault is not None:
            await asyncio.to_thread(self._vault.forget, _entry(url))

    async def _read(self, name: str) -> Secret | None:
        return None if self._vault is None else await asyncio.to_thread(self._vault.read, name)


def grant_place(url: str, issuer: str | None) -> str:
    """Return what a grant belongs to: the address of a server, and the issuer where one is named."""
    return f"{url} by {issuer}" if issuer else url


def _entry(url: str) -> str:
    """A name that no `${keychain:…}` can have."""
    return f"sign-in {url}"


def _lock(folder: Path, url: str) -> AsyncFileLock:
    make_private_folder(folder)
    name = hashlib.sha256(url.encode()).hexdigest()
    file = folder / f"{name}.lock"
    return AsyncFileLock(file, _LONGEST_TURN_S, FILE_MODE, fallback_to_soft=False, run_in_executor=False)


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """The means of one connection. `show` is there where somebody is who can sign in; `afresh` forgets who did.

    `require_start` raises ConsentError for the start of a program that is not allowed.
    """

    environment: Mapping[str, str]
    credentials: CredentialStore
    show: OpenAddress | None = None
    afresh: bool = False
    require_start: Callable[[ServerSpec, StartPlan], object] = lambda _spec, _plan: None

    async def resolved(self, spec: ServerSpec) -> ResolvedSpec:
        """Return a spec with its references filled in; ServerError where the keychain refuses."""
        named = (found for text in _texts(spec) for found in references(text))
        names = {found.name for found in named if found.kind is ReferenceKind.KEYCHAIN}
        try:
            return ResolvedSpec(spec, self.environment, await self.credentials.entries(names))
        except StoreError as error:
            message = f"{spec.name} needs the system keychain. {error.message}"
            raise ServerError(ServerFault.SETTINGS, message, hint=error.hint) from None


def _texts(spec: ServerSpec) -> Iterator[str]:
    yield from (*spec.argv, *spec.env.values(), *spec.headers.values())
    yield from (spec.url or "", spec.cwd or "", spec.env_file or "", spec.secret or "")
