"""API keys of providers, looked up in the session, then the environment, then (if enabled) the keychain."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from mcp_tef.errors import StoreError
from mcp_tef.llm.providers import key_variables
from mcp_tef.model.addresses import environment_address, required_origin
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import StoredKey

SERVICE = "mcp-tef"
SERVERS = "server:"
"""How the names of entries begin that belong to servers."""

_NAMES = "providers"


TypedFor: TypeAlias = tuple[str, str]
"""Provider and origin that a typed key belongs to; an empty origin means the provider's own."""


class Keychain(Protocol):
    """The part of a keychain that is used: texts by service and name."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the text kept for a service and a name, or None."""

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a text."""

    def delete_password(self, service: str, username: str) -> None:
        """Delete a text."""


class KeyRing:
    """Keys by provider. Only `remember` writes anywhere but memory, and only to the system keychain.

    `keychain` stands in for the system's own, which is looked for when it is first needed.
    """

    def __init__(self, environment: Mapping[str, str], keychain: Keychain | None = None) -> None:
        self._environment = environment
        self._typed: dict[TypedFor, Secret] = {}
        self._keychain = keychain
        self._sought = keychain is not None
        self._given_only = False

    def use_given_only(self) -> None:
        """Use no key of a provider from the environment or the keychain, only those that come with a request."""
        self._given_only = True

    def set(self, provider: str, key: Secret, address: str = "") -> None:
        """Use this key for the rest of the session, at the address that it was typed with and nowhere else.

        `address` is the base address typed beside the key; empty for the provider's own.
        """
        self._typed[provider, required_origin(address) if address else ""] = key

    def forget(self, provider: str) -> None:
        """Drop the keys of a provider that were typed in this session."""
        for typed_for in [typed_for for typed_for in self._typed if typed_for[0] == provider]:
            del self._typed[typed_for]

    def typed(self, provider: str, origin: str = "") -> Secret | None:
        """Return the key that was typed in this session for a provider at an origin (empty: the provider's own)."""
        return self._typed.get((provider, origin))

    def typed_providers(self) -> tuple[str, ...]:
        """Whose keys were typed in this session."""
        return tuple(dict.fromkeys(provider for provider, _ in self._typed))

    def held(self) -> dict[TypedFor, Secret]:
        """Return the keys typed in this session, for a session that continues it."""
        return dict(self._typed)

    def hold(self, typed: Mapping[TypedFor, Secret]) -> None:
        """Go on with what was typed in an earlier session."""
        self._typed.update(typed)

    def variables(self) -> tuple[str, ...]:
        """Return the variables of the environment that hold a key of a provider."""
        given = (name for name, text in self._environment.items() if text.strip())
        return tuple(sorted(name for name in given if name.endswith("_API_KEY")))

    def keychain(self) -> str:
        """Return the system's name for its keychain; empty if there is none that can be used."""
        keychain = self._found()
        return str(getattr(keychain, "name", type(keychain).__name__)) if keychain else ""

    def stored(self, provider: str) -> StoredKey | None:
        """Return the key of the environment, else that of the keychain, with the name of its place."""
        if self._given_only:
            return None
        for name in key_variables(provider):
            if text := self._environment.get(name, "").strip():
                return StoredKey(Secret(text), name)
        remembered = self._from_keychain(provider)
        return StoredKey(remembered, f"keychain:{provider}") if remembered else None

    def is_at_hand(self, provider: str) -> bool:
        """Return True for a key of the environment or a typed one; the keychain is not asked."""
        return any(self._environment.get(name, "").strip() for name in key_variables(provider)) or any(
            one == provider for one, _ in self._typed
        )

    def address(self, provider: str) -> str:
        """Return the address that the environment sets for a provider; empty where it sets none."""
        return environment_address(provider, self._environment)

    def remember(self, provider: str, key: Secret) -> None:
        """Keep a key in the system keychain; StoreError where this system has none that can be used."""
        keychain = self._required()
        with _translated("kept"):
            keychain.set_password(SERVICE, provider, key.reveal())
            self._write_names(keychain, {*self._read_names(keychain), provider})

    def kept(self, name: str) -> Secret | None:
        """Return an entry of the system keychain; None where it is not there, or no keychain is."""
        return self._from_keychain(name)

    def forget_remembered(self, provider: str) -> None:
        """Take a key out of the system keychain; nothing happens where it is not there."""
        keychain = self._required()
        with _translated("removed"):
            if keychain.get_password(SERVICE, provider) is not None:
                keychain.delete_password(SERVICE, provider)
            self._write_names(keychain, {*self._read_names(keychain)} - {provider})

    def remembered(self) -> tuple[str, ...]:
        """Return the providers whose keys are in the system keychain; none where there is no keychain."""
        keychain = self._found()
        if keychain is None:
            return ()
        with _translated("read"):
            return self._read_names(keychain)

    def _from_keychain(self, provider: str) -> Secret | None:
        keychain = self._found()
        if keychain is None:
            return None
        with _translated("read"):
            text = keychain.get_password(SERVICE, provider)
        return Secret(text) if text else None

    def _required(self) -> Keychain:
        keychain = self._found()
        if keychain is None:
            raise StoreError(
                "This system has no keychain that can be used.",
                hint="Set the provider's environment variable, or type the key when you start a run.",
                code="no_keychain",
            )
        return keychain

    def _found(self) -> Keychain | None:
        if not self._sought:
            self._keychain = _system_keychain()
            self._sought = True
        return self._keychain

    def _read_names(self, keychain: Keychain) -> tuple[str, ...]:
        text = keychain.get_password(f"{SERVICE} index", _NAMES)
        return tuple(json.loads(text)) if text else ()

    def _write_names(self, keychain: Keychain, names: Iterable[str]) -> None:
        keychain.set_password(f"{SERVICE} index", _NAMES, json.dumps(sorted(names)))


class ServerVault:
    """The entries of servers, apart from those of providers: `${keychain:acme}` can name no provider's key."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring

    def read(self, name: str) -> Secret | None:
        """Return the entry of a name."""
        return self._ring.kept(SERVERS + name)

    def write(self, name: str, secret: Secret) -> None:
        """Keep an entry; StoreError where there is no keychain."""
        self._ring.remember(SERVERS + name, secret)

    def forget(self, name: str) -> None:
        """Take an entry out; nothing happens where it is not there."""
        if self._ring.kept(SERVERS + name):
            self._ring.forget_remembered(SERVERS + name)


def _system_keychain() -> Keychain | None:
    """Return the system's keychain; None where the best that keyring finds is one that keeps nothing."""
    import keyring
    from keyring.backends import fail, null

    backend = keyring.get_keyring()
    return None if isinstance(backend, fail.Keyring | null.Keyring) or backend.priority <= 0 else backend


@contextmanager
def _translated(what: str) -> Iterator[None]:
    from keyring.errors import KeyringError

    try:
        yield
    except (KeyringError, ValueError) as error:
        failure = StoreError(
            f"The key could not be {what}: the system keychain refused ({type(error).__name__}).",
            hint="Unlock the keychain and try again, or use the provider's environment variable.",
            code="keychain_refused",
        )
        raise failure from None
