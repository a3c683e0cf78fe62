"""Consents of this user on this machine, in a file of the data folder that no workspace can bring along."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from mcp_tef.errors import StoreError
from mcp_tef.model.json import canonical, loads_bounded
from mcp_tef.trust.consents import Consent, ConsentKind
from mcp_tef.trust.files import make_private_folder, write_private

_SECRET_BYTES = 32
_LOCK_SECONDS = 5.0
_MOST_BYTES = 8 * 1024 * 1024
Entries = dict[str, Consent]


class ConsentFile:
    """Satisfies `ConsentStore`: `consents.json` in the data folder, readable by its owner only.

    Each entry carries an HMAC-SHA-256 by a secret that is made in the same folder, so entries written elsewhere, or
    copied from another machine, count for nothing. Several processes may use the file at once; what one allows or
    revokes, the others see at their next check.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "consents.json"
        self._read_at: tuple[int, int, int] | None = None
        self._entries: Entries = {}

    def all(self) -> Mapping[str, Consent]:
        """Return every valid consent by fingerprint, oldest first; none where the file is missing or damaged."""
        try:
            status = self._file.stat()
        except OSError:
            self._read_at, self._entries = None, {}
            return {}
        state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if state != self._read_at:
            self._entries, self._read_at = self._read(), state
        return dict(self._entries)

    def add(self, consent: Consent) -> None:
        """Remember a consent; StoreError where the folder cannot be written."""
        stamped = Consent(
            consent.fingerprint, consent.description, consent.kind, consent.allowed_at or datetime.now(UTC)
        )
        self._change(lambda entries: {**entries, consent.fingerprint: stamped})

    def remove(self, fingerprint: str) -> None:
        """Forget a consent; nothing happens where it is not there."""
        self._change(lambda entries: {key: value for key, value in entries.items() if key != fingerprint})

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        try:
            make_private_folder(self._folder)
            with FileLock(self._folder / "consents.lock", timeout=_LOCK_SECONDS, mode=0o600):
                entries = change(self._read())
                key = self._secret(make=True)
                text = json.dumps({"consents": [_row(one, key) for one in entries.values()]}, indent=1)
                write_private(self._file, text.encode())
        except (OSError, Timeout) as error:
            reason = getattr(error, "strerror", None) or "it is locked"
            raise StoreError(
                f"The consent could not be saved in {self._folder}: {reason}.",
                hint="Make the folder writable, or allow it for one command with --yes.",
                code="consent_not_saved",
            ) from error
        self._read_at = None

    def _read(self) -> Entries:
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            key = self._secret(make=False)
            with self._file.open("rb") as file:
                rows = loads_bounded(file.read(_MOST_BYTES))["consents"]
            consents = (_consent(row, key) for row in rows)
            return {consent.fingerprint: consent for consent in consents if consent}
        return {}

    def _secret(self, *, make: bool) -> bytes:
        """Return the secret that binds entries to this folder; made once, the first time something is allowed."""
        file = self._folder / "consents.key"
        try:
            found = file.read_bytes()
        except FileNotFoundError:
            found = b""
        if len(found) == _SECRET_BYTES or not make:
            return found if len(found) == _SECRET_BYTES else secrets.token_bytes(_SECRET_BYTES)
        made = secrets.token_bytes(_SECRET_BYTES)
        write_private(file, made)
        return made


def _row(consent: Consent, key: bytes) -> dict[str, str]:
    at = consent.allowed_at or datetime.now(UTC)
    row = {
        "fingerprint": consent.fingerprint,
        "kind": consent.kind.value,
        "description": consent.description.encode("utf-8", "backslashreplace").decode(),
        "allowed_at": at.isoformat(),
    }
    return {**row, "mac": _mac(row, key)}


def _mac(row: Mapping[str, str], key: bytes) -> str:
    return hmac.new(key, canonical(row).encode(), hashlib.sha256).hexdigest()


def _consent(row: object, key: bytes) -> Consent | None:
    """Return the consent of an entry; None where it was not made with this secret."""
    if not isinstance(row, dict):
        return None
    with suppress(ValueError, TypeError, KeyError):
        content = {name: value for name, value in row.items() if name != "mac"}
        if hmac.compare_digest(str(row["mac"]).encode(), _mac(content, key).encode()):
            at = datetime.fromisoformat(row["allowed_at"])
            return Consent(row["fingerprint"], row["description"], ConsentKind(row["kind"]), at)
    return None
