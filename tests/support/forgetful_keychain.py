"""Keychains for commands: one that takes every key, and none at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

import keyring
from keyring.backend import KeyringBackend
from keyring.core import load_keyring

FORGETFUL = f"{__name__}.ForgetfulKeychain"
NONE = "keyring.backends.fail.Keyring"


class ForgetfulKeychain(KeyringBackend):
    """Keeps keys as long as it lives."""

    priority = -1  # below the keychain that fails, so that it is never chosen by itself

    @cached_property
    def _kept(self) -> dict[tuple[str, str], str]:
        return {}

    def get_password(self, service: str, username: str) -> str | None:
        """Return a key."""
        return self._kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a key."""
        self._kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget a key."""
        self._kept.pop((service, username), None)


@contextmanager
def keychain(name: str) -> Iterator[None]:
    """Make a new one of this class the keychain of this machine for a while."""
    before = keyring.get_keyring()
    chosen = load_keyring(name)
    if isinstance(chosen, ForgetfulKeychain):
        vars(chosen)["priority"] = 1  # one that was chosen can be used
    keyring.set_keyring(chosen)
    try:
        yield
    finally:
        keyring.set_keyring(before)
