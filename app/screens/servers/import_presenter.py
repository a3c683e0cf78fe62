"""Servers that an import offers, and the selection among them; knows no Qt."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.screens.servers.presenter import TRANSPORT_TEXTS
from app.text.formatting import count
from mcp_tef import DetectedConfig, ImportedServer, ImportStatus, ServerFileFormat, ServerImportPreview

STATUS_TEXTS = {
    ImportStatus.ADDED: "New",
    ImportStatus.CHANGED: "Changed",
    ImportStatus.UNCHANGED: "Same",
    ImportStatus.REFUSED: "Refused",
}
_USEFUL = (ImportStatus.ADDED, ImportStatus.CHANGED)


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """One server of a config, and whose config it is."""

    source: str
    path: str
    server: ImportedServer

    @property
    def useful(self) -> bool:
        """Whether importing it would do anything."""
        return self.server.fate in _USEFUL

    @property
    def transport(self) -> str:
        """How it is reached, in a word."""
        return TRANSPORT_TEXTS[self.server.spec.transport] if self.server.spec else "–"

    @property
    def address(self) -> str:
        """The program or the address; where it was refused, why."""
        return self.server.spec.address if self.server.spec else self.server.reason

    def remarks(self) -> Iterator[tuple[str, str]]:
        """What there is to say of it, each under a word."""
        server = self.server
        if server.reason:
            yield "Refused", server.reason
        if server.spec and server.name != server.label:
            yield "Its name there", f"{server.label}, which is taken here"
        for change in server.changes:
            yield f"Its {change.field}", f"{change.before} → {change.after}"
        for secret in server.secrets:
            yield "A secret", f"is written out in its {secret.where}; here it is ${{{secret.variable}}}, and not kept"
        if server.needs:
            yield "To be set", f"{', '.join(server.needs)}, before it is used"
        if self.kept:
            yield "Kept as it is", ", ".join(self.kept)
        for note in server.notes:
            yield "Note", note
        yield "Found in", f"{self.path or self.source}, at {server.place}"

    @property
    def kept(self) -> tuple[str, ...]:
        """Settings that only its own program understands."""
        extra = self.server.spec.extra if self.server.spec else {}
        return tuple(name for name in extra if not name.startswith("${"))


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """Servers of one or several configs by key, and what could not be read."""

    offers: dict[str, ImportEntry]
    problems: tuple[str, ...] = ()

    @property
    def useful(self) -> tuple[str, ...]:
        """The keys of what can be imported."""
        return tuple(key for key, offer in self.offers.items() if offer.useful)

    def summary(self) -> str:
        """How many of each fate, in one line."""
        fates = [offer.server.fate for offer in self.offers.values()]
        counts = (f"{fates.count(fate):,} {STATUS_TEXTS[fate].lower()}" for fate in STATUS_TEXTS if fate in fates)
        return f"{count(len(fates), 'server')}: {', '.join(counts)}." if fates else "No servers were found."

    def of(self, path: Path, keys: Collection[str]) -> int:
        """How many of these are of the config at a path."""
        return sum(self.offers[key].path == str(path) for key in keys)

    def chosen(self, keys: Collection[str]) -> ServerImportPreview:
        """The preview that brings in these and nothing else."""
        servers = tuple(self.offers[key].server for key in self.offers if key in keys)
        return replace(_NOTHING, servers=servers)


_NOTHING = ServerImportPreview(source="", form=ServerFileFormat.SNIPPET, title="")


def choice_of_text(preview: ServerImportPreview) -> ImportChoice:
    """What a pasted text offers."""
    return ImportChoice(dict(_keyed([ImportEntry("Pasted text", "", server) for server in preview.servers])))


def choice_of_configs(found: Sequence[DetectedConfig]) -> ImportChoice:
    """What several configs offer."""
    offers = [
        ImportEntry(config.title, str(config.path), server)
        for config in found
        if config.preview
        for server in config.preview.servers
    ]
    problems = tuple(f"{config.title}: {config.problem}" for config in found if config.problem)
    return ImportChoice(dict(_keyed(offers)), problems)


def _keyed(offers: Sequence[ImportEntry]) -> Iterator[tuple[str, ImportEntry]]:
    return ((str(number), offer) for number, offer in enumerate(offers))
