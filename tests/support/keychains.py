"""A keychain of a test."""

from keyring.errors import KeyringLocked


class MemoryKeychain:
    """A keychain that keeps its texts in a dict, and refuses while it is locked."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._unlocked()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._unlocked()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._unlocked()
        del self.kept[service, username]

    def _unlocked(self) -> None:
        if self.locked:
            raise KeyringLocked("sk-should-not-show")
