"""The secrets of servers: entries of the keychain, and what sign-ins brought."""

import asyncio
from collections.abc import Iterable, Mapping

from mcp_tef.errors import StoreError
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import Vault


class Strongbox:
    """Reads the keychain apart from the loop, since it may ask the user.

    A grant is what a sign-in brought, as a text that only who signs in can read, by the address of the server. It is
    held in memory, and in the keychain where that was asked for; then a keychain that fails costs the next start only.
    """

    def __init__(self, vault: Vault | None = None) -> None:
        self._vault = vault
        self._grants: dict[str, Secret] = {}

    async def entries(self, names: Iterable[str]) -> Mapping[str, Secret]:
        """Those of the entries that are there; StoreError."""
        return {name: secret for name in names if (secret := await self._read(name))}

    async def grant(self, url: str, *, remembered: bool) -> Secret | None:
        """What is known of an address; the keychain is looked into only where it was asked for."""
        if url not in self._grants and remembered:
            try:
                found = await self._read(_entry(url))
            except StoreError:
                found = None
            if found:
                self._grants[url] = found
        return self._grants.get(url)

    async def keep(self, url: str, grant: Secret, *, remember: bool) -> None:
        """Hold a grant; StoreError where the keychain refuses it, and then it is held in memory all the same."""
        self._grants[url] = grant
        if remember and self._vault is not None:
            await asyncio.to_thread(self._vault.write, _entry(url), grant)

    async def drop(self, url: str) -> None:
        """Forget a grant, in the keychain as well."""
        self._grants.pop(url, None)
        if self._vault is not None:
            await asyncio.to_thread(self._vault.forget, _entry(url))

    async def _read(self, name: str) -> Secret | None:
        return None if self._vault is None else await asyncio.to_thread(self._vault.read, name)


def _entry(url: str) -> str:
    """A name that no `${keychain:…}` can have."""
    return f"sign-in {url}"
