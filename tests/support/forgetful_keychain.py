"""A keychain for commands in processes of their own: it takes every key, and has forgotten it when they end."""

from typing import ClassVar

from keyring.backend import KeyringBackend


class ForgetfulKeychain(KeyringBackend):
    """Keeps keys for the time of a process; the environment names it with `PYTHON_KEYRING_BACKEND`."""

    priority = 1
    _kept: ClassVar[dict[tuple[str, str], str]] = {}

    def get_password(self, service: str, username: str) -> str | None:
        """Return a key."""
        return self._kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a key."""
        self._kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget a key."""
        self._kept.pop((service, username), None)
