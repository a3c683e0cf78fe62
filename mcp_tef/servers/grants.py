"""Keeps what sign-ins brought, by the address of the server: in memory, and where it was asked for in the keychain."""

import asyncio

from mcp_tef.errors import StoreError
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import Vault


class Grants:
    """Grants as texts, which only who signs in can read. A keychain that fails loses nothing but the next start."""

    def __init__(self, vault: Vault | None = None) -> None:
        self._vault = vault
        self._held: dict[str, Secret] = {}

    async def find(self, url: str, *, remembered: bool) -> Secret | None:
        """What is known of an address; the keychain is looked into only where it was asked for."""
        if url not in self._held and remembered and self._vault is not None:
            try:
                found = await asyncio.to_thread(self._vault.read, _entry(url))
            except StoreError:
                found = None
            if found:
                self._held[url] = found
        return self._held.get(url)

    async def keep(self, url: str, grant: Secret, *, remember: bool) -> None:
        """Hold a grant; StoreError where the keychain refuses it, and then it is held in memory all the same."""
        self._held[url] = grant
        if remember and self._vault is not None:
            await asyncio.to_thread(self._vault.write, _entry(url), grant)

    async def drop(self, url: str) -> None:
        """Forget a grant, in the keychain as well."""
        self._held.pop(url, None)
        if self._vault is not None:
            await asyncio.to_thread(self._vault.forget, _entry(url))


def _entry(url: str) -> str:
    """A name that no `${keychain:…}` can have."""
    return f"sign-in {url}"
