"""Keys, consents and folders as the settings show them, and the calls into the core that change them; knows no Qt."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from app.text.formatting import count
from mcp_tef import Consent, TefError

if TYPE_CHECKING:
    from mcp_tef import KeyRing

BY = "settings"
VECTORS = "vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldKeys:
    """Names of providers with a key and of variables that hold one; never a key itself.

    Attributes:
        typed: providers whose key is in memory.
        remembered: providers whose key is in the keychain.
        variables: environment variables that hold a key.
        keychain: name of the system keychain; "" if there is none.
        problem: sentence about a keychain that cannot be read.
    """

    typed: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    keychain: str = ""
    problem: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all keys, wherever they are kept."""
        return (*self.typed, *self.remembered, *self.variables)

    def place(self, provider: str) -> str:
        """Return where the key of a provider is kept."""
        places = (("in memory until you quit", self.typed), ("in the keychain", self.remembered))
        return " and ".join(text for text, providers in places if provider in providers).capitalize()


def held_keys(keys: "KeyRing") -> HeldKeys:
    """Return the keys in a key ring; reading a keychain may take a moment."""
    known = HeldKeys(typed=keys.typed_providers(), variables=keys.variables(), keychain=keys.keychain())
    try:
        return replace(known, remembered=keys.remembered())
    except TefError as error:
        return replace(known, problem=error.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPaths:
    """Paths of the workspace, settings and log; `show` opens a folder."""

    workspace: Path | None
    settings: Path | None
    log: Path | None
    show: Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class DataLocation:
    """A folder or file of the application, its purpose, and its size in bytes."""

    title: str
    path: Path
    purpose: str
    size: int


def data_locations(paths: SettingsPaths) -> tuple[DataLocation, ...]:
    """Return every folder and file with its size, which may take a while."""
    from mcp_tef import default_workspace

    data = default_workspace().parent
    known = [
        (
            "Workspace",
            paths.workspace,
            "Servers, cases and runs. To keep a backup, use Save as, or: mcp-tef workspace backup FILE.",
        ),
        ("Data folder", data, "Everything that this program keeps for you, including the folders below."),
        ("Models", data / "models", "Downloaded embedding models."),
        (VECTORS.capitalize(), data / VECTORS, "Embeddings of texts, kept so that the next comparison is quick."),
        ("Log", paths.log, "Event log, for bug reports. It contains no keys and no answers."),
        ("Settings", paths.settings, "Your settings, and the state of the window."),
    ]
    return tuple(DataLocation(title, path, why, _size(path)) for title, path, why in known if path is not None)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    found = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(os.path.getsize(name) for name in found if os.path.isfile(name))


def size_text(size: int) -> str:
    """Return a size in the largest unit that fits: "1.5 KB"."""
    for unit, limit in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= limit:
            return f"{size / limit:.1f} {unit}" if size < 10 * limit else f"{size / limit:,.0f} {unit}"
    return count(size, "byte") if size else "nothing yet"


class SettingsPresenter:
    """Core calls of the settings dialog, made through the session's `ask`."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def keys(self) -> HeldKeys:
        """Return the names of the keys at hand."""
        return await self._ask(lambda core: asyncio.to_thread(held_keys, core.keys))

    async def forget_key(self, provider: str, *, in_keychain: bool) -> None:
        """Forget a key, in the keychain too if it is there."""
        await self._ask(lambda core: asyncio.to_thread(_forget, core.keys, provider, in_keychain))

    async def consents(self) -> tuple[Consent, ...]:
        """Return everything that the user allowed, newest first."""
        return tuple(await self._ask(lambda core: core.servers.consents()))

    async def revoke(self, consent: Consent) -> None:
        """Revoke a consent."""
        await self._ask(lambda core: core.servers.revoke_consent(consent.fingerprint, by=BY))

    async def restore(self, consent: Consent) -> None:
        """Restore a revoked consent."""
        await self._ask(lambda core: core.servers.restore_consent(consent, by=BY))

    async def forget_vectors(self) -> None:
        """Delete the kept embeddings."""
        await self._ask(lambda core: core.embedders.forget_vectors())


def _forget(keys: "KeyRing", provider: str, in_keychain: bool) -> None:
    keys.forget(provider)
    if in_keychain:
        keys.forget_remembered(provider)
