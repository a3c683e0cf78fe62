"""Secrets in typed server definitions, moved into memory or the system keychain."""

import asyncio
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import Any, Final

from mcp_tef.formats.servers.secrets import Secrets
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, ServerSpec, variable_name
from mcp_tef.model.transfer import DefinitionWithoutSecrets
from mcp_tef.ports import SecretVault

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
