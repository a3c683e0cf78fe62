"""What connections to servers are made with: the environment, the system keychain, and what sign-ins brought."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_tef.errors import ServerError, ServerFault, StoreError
from mcp_tef.model.references import ReferenceKind, references
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec
from mcp_tef.ports import Vault
from mcp_tef.servers.grants import Grants
from mcp_tef.servers.launch import Surroundings

Show: TypeAlias = Callable[[str], None]
"""Takes the user to an address in a browser; called on the loop of the connection, and not to block it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The means of every connection. `show` is there where somebody is, to sign in."""

    environment: Mapping[str, str]
    vault: Vault | None = None
    grants: Grants = field(default_factory=Grants)
    show: Show | None = None

    async def surroundings(self, spec: ServerSpec) -> Surroundings:
        """What fills in the references of a spec; the keychain may ask the user, so it is read apart from the loop."""
        names = {found.name for text in _texts(spec) for found in references(text) if found.kind is _KEYCHAIN}
        if not names or self.vault is None:
            return Surroundings(spec, self.environment)
        try:
            entries = await asyncio.to_thread(_read, self.vault, names)
        except StoreError as error:
            message = f"{spec.name} needs the system keychain. {error.message}"
            raise ServerError(ServerFault.SETTINGS, message, hint=error.hint) from None
        return Surroundings(spec, self.environment, entries)


_KEYCHAIN = ReferenceKind.KEYCHAIN


def _texts(spec: ServerSpec) -> Iterator[str]:
    yield from (*spec.argv, *spec.env.values(), *spec.headers.values())
    yield from (spec.url or "", spec.cwd or "", spec.env_file or "", spec.secret or "")


def _read(vault: Vault, names: set[str]) -> Mapping[str, Secret]:
    found = {name: vault.read(name) for name in names}
    return {name: secret for name, secret in found.items() if secret}
