"""Servers that an import offers, and the selection among them; knows no Qt."""

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from app.screens.servers.presenter import BY, TRANSPORT_TEXTS
from app.text.formatting import count
from mcp_tef import (
    CancellableWork,
    DetectedConfig,
    ImportedServer,
    ImportStatus,
    Server,
    ServerFileFormat,
    ServerId,
    ServerImportPreview,
    ServerSpec,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")

STATUS_TEXTS = {
    ImportStatus.ADDED: "New",
    ImportStatus.CHANGED: "Changed",
    ImportStatus.UNCHANGED: "Unchanged",
    ImportStatus.REFUSED: "Refused",
}
_USEFUL = (ImportStatus.ADDED, ImportStatus.CHANGED)


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """One server of a config, with the program and the path of the config."""

    source: str
    path: str
    server: ImportedServer

    @property
    def useful(self) -> bool:
        """True if importing it would change anything."""
        return self.server.fate in _USEFUL

    @property
    def transport(self) -> str:
        """Text of its transport; a dash if it was refused."""
        return TRANSPORT_TEXTS[self.server.spec.transport] if self.server.spec else "–"

    @property
    def address(self) -> str:
        """The program or the address; the reason if it was refused."""
        return self.server.spec.address if self.server.spec else self.server.reason

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield everything to know before the import, each text with its label."""
        server = self.server
        if server.reason:
            yield "Refused", server.reason
        if server.spec and server.name != server.label:
            yield "Original name", f"{server.label}, which is taken already"
        for change in server.changes:
            yield change.field.capitalize(), f"{change.before} → {change.after}"
        for secret in server.secrets:
            yield "Secret", f"Written in the {secret.where}. It is not stored; ${{{secret.variable}}} takes its place"
        if server.needs:
            yield "Set before use", ", ".join(server.needs)
        if self.kept:
            yield "Kept unchanged", ", ".join(self.kept)
        for note in server.notes:
            yield "Note", note
        yield "Found in", f"{self.path or self.source}, at {server.place}"

    @property
    def kept(self) -> tuple[str, ...]:
        """Settings that only the program of the config understands."""
        extra = self.server.spec.extra if self.server.spec else {}
        return tuple(name for name in extra if not name.startswith("${"))


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """Servers of one or several configs by key; `configs` are the files that they come from."""

    offers: dict[str, ImportEntry]
    configs: tuple[DetectedConfig, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each config that could not be read."""
        return tuple(f"{config.title}: {config.problem}" for config in self.configs if config.problem)

    @property
    def useful(self) -> tuple[str, ...]:
        """The keys of the servers that can be imported."""
        return tuple(key for key, offer in self.offers.items() if offer.useful)

    def summary(self) -> str:
        """Return the number of servers for each status, in one line."""
        found = [offer.server.fate for offer in self.offers.values()]
        counts = (f"{found.count(one):,} {text.lower()}" for one, text in STATUS_TEXTS.items() if one in found)
        return f"{count(len(found), 'server')}: {', '.join(counts)}." if found else "No servers found."

    def of(self, path: Path, keys: Collection[str]) -> int:
        """Return how many of these servers come from the config at a path."""
        return sum(self.offers[key].path == str(path) for key in keys)

    def chosen(self, keys: Collection[str]) -> ServerImportPreview:
        """Return the preview that imports these servers and nothing else."""
        servers = tuple(self.offers[key].server for key in self.offers if key in keys)
        return replace(_NOTHING, servers=servers)


_NOTHING = ServerImportPreview(source="", form=ServerFileFormat.SNIPPET, title="")


def choice_of_text(preview: ServerImportPreview) -> ImportChoice:
    """Return the servers of a pasted text."""
    return ImportChoice(dict(_keyed([ImportEntry("Pasted text", "", server) for server in preview.servers])))


def choice_of_configs(found: Sequence[DetectedConfig]) -> ImportChoice:
    """Return the servers of several configs."""
    offers = [
        ImportEntry(config.title, str(config.path), server)
        for config in found
        if config.preview
        for server in config.preview.servers
    ]
    return ImportChoice(dict(_keyed(offers)), tuple(found))


def _keyed(offers: Sequence[ImportEntry]) -> Iterator[tuple[str, ImportEntry]]:
    return ((str(number), offer) for number, offer in enumerate(offers))


@dataclass(frozen=True, slots=True)
class ServerImportChange:
    """Effect of an import: its first server, the ids it added, and the specs of changed servers before and after."""

    first: ServerId
    added: tuple[ServerId, ...]
    before: Mapping[ServerId, ServerSpec]
    after: Mapping[ServerId, ServerSpec]

    @property
    def number(self) -> int:
        """Number of servers that were added or changed."""
        return len(self.added) + len(self.after)


class ImportCalls(Protocol):
    """Calls into the core, as the session makes them; long ones show their title in the window."""

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T: ...

    async def call_long(self, what: str, do: "Callable[[Engine], Awaitable[T]]") -> T: ...


CancellableImport = Callable[
    [str, "Callable[[Engine, CancellableWork], Awaitable[Sequence[Server]]]"], Awaitable[Sequence[Server]]
]


class ServerImportPresenter:
    """Preview, import, undo and redo of servers; `call_cancellable` runs work that the user can stop."""

    def __init__(self, core: ImportCalls, call_cancellable: CancellableImport) -> None:
        self._core = core
        self._call_cancellable = call_cancellable

    async def discover(self) -> ImportChoice:
        """Return the servers that other programs on this computer have in their configs."""
        title = "Looking for servers on this computer"
        return choice_of_configs(
            await self._core.call_long(title, lambda core: core.server_files.discover(together=True))
        )

    async def preview_files(self, files: Sequence[Path]) -> ImportChoice:
        """Return the servers of config files; those that cannot be read are among its problems."""
        title = f"Reading {count(len(files), 'config')}"
        return choice_of_configs(await self._core.call_long(title, lambda core: core.server_files.preview_all(files)))

    async def preview_text(self, text: str) -> ImportChoice:
        """Return the servers of a pasted config; raise InputError if it cannot be read."""
        return choice_of_text(
            await self._core.call_long("Reading a config", lambda core: core.server_files.preview(text))
        )

    async def apply(self, choice: ImportChoice, keys: Collection[str]) -> ServerImportChange:
        """Import the servers with these keys, all or nothing; raise StoppedError if the user cancels in time."""
        preview = choice.chosen(keys)
        known = {server.id: server.spec for server in await self._core.call(lambda core: core.servers.list())}
        servers = await self._call_cancellable(
            "Importing servers", lambda core, work: core.server_files.apply(preview, by=BY, work=work)
        )
        return ServerImportChange(
            first=servers[0].id,
            added=tuple(server.id for server in servers if server.id not in known),
            before={server.id: known[server.id] for server in servers if server.id in known},
            after={server.id: server.spec for server in servers if server.id in known},
        )

    async def undo(self, change: ServerImportChange) -> None:
        """Remove the added servers, and restore the specs of the changed ones."""
        await self._core.call(lambda core: core.servers.remove(change.added, by=BY))
        await self._edit_all(change.before, change.after)

    async def redo(self, change: ServerImportChange) -> None:
        """Redo an import that was undone."""
        await self._core.call(lambda core: core.servers.restore(change.added, by=BY))
        await self._edit_all(change.after, change.before)

    async def _edit_all(self, specs: Mapping[ServerId, ServerSpec], seen: Mapping[ServerId, ServerSpec]) -> None:
        for server_id, spec in specs.items():
            await self._edit(server_id, spec, seen[server_id])

    async def _edit(self, server_id: ServerId, spec: ServerSpec, seen: ServerSpec) -> None:
        await self._core.call(lambda core: core.servers.edit(server_id, spec, seen=seen, by=BY))
