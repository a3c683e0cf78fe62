"""What a form is read from, and what it gives: one entry a server."""

from dataclasses import dataclass
from pathlib import Path, PurePath

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec

MAX_SERVERS = 1000
"""Servers of one config: a hundred times what people have, and few enough to show."""


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed config, and where it lies; a pasted text lies nowhere."""

    document: Json
    path: Path | None = None

    @property
    def file_name(self) -> str:
        """The last part of the path, in small letters."""
        return self.path.name.lower() if self.path else ""

    @property
    def folder_name(self) -> str:
        """The name of the folder that it lies in, in small letters."""
        return self.path.parent.name.lower() if self.path else ""

    def project(self, depth: int) -> str | None:
        """The folder so many levels above the file."""
        return str(self.path.absolute().parents[depth - 1]) if self.path else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One server as a config has it; one that cannot be taken has no spec, and in `refused` the reason."""

    label: str
    place: str
    spec: ServerSpec | None = None
    refused: str = ""
    notes: tuple[str, ...] = ()


def is_mapping(value: Json, *path: str) -> bool:
    """Whether a value has a mapping under these names."""
    return isinstance(below(value, *path), dict)


def below(value: Json, *path: str) -> Json:
    """What a document has under these names, one below the other; None where there is nothing."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def require_few(count: int, name: str) -> None:
    """InputError for more servers than anyone has."""
    if count > MAX_SERVERS:
        raise InputError(f"{name} lists {count:,} servers, and at most {MAX_SERVERS:,} can be imported at once.")


def short(path: PurePath | None) -> str:
    """The name of a file in a sentence, or of what was pasted."""
    return path.name if path else "The text"
