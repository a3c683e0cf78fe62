"""Servers of a foreign config: one entry per server, with each field checked and unknown fields kept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec

MAX_SERVERS = 1000
"""Servers of one config: a hundred times what people have, and few enough to show."""


@dataclass(frozen=True, slots=True)
class ConfigSource:
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
        """Return the folder so many levels above the file."""
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
    """Return True if a value has a mapping under these names."""
    return isinstance(below(value, *path), dict)


def below(value: Json, *path: str) -> Json:
    """Return the value of a document under these nested names, or None."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def require_few(count: int, name: str) -> None:
    """Raise InputError for more servers than anyone has."""
    if count > MAX_SERVERS:
        raise InputError(f"{name} lists {count:,} servers, and at most {MAX_SERVERS:,} can be imported at once.")


def short(path: PurePath | None) -> str:
    """Return the name of a file in a sentence, or of what was pasted."""
    return path.name if path else "The text"


MAX_TEXT_CHARACTERS = 64 * 1024
_UNGIVABLE = re.compile("[\0\ud800-\udfff]")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Fields:
    """The fields that nobody has taken yet, and remarks about those that were."""

    def __init__(self, value: Mapping[str, Json]) -> None:
        self.left = dict(value)
        self.notes: list[str] = []

    def text(self, *names: str) -> str | None:
        """Return the first of these fields that is there and not empty; InputError where it is no text."""
        for name in names:
            value = self.left.get(name)
            if value is not None and value != "":
                return plain_text(self.left.pop(name), f"its “{name}”").strip()
        return None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; a single one counts as a list of one."""
        value = self.left.pop(name, None)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        return tuple(plain_text(item, f"an item of its “{name}”") for item in items)

    def command(self) -> tuple[str, ...]:
        """Return the command line, of a command that is a text or a list; arguments alone have no program."""
        value = self.left.pop("command", None)
        if isinstance(value, dict):
            inner = Fields(value)
            return (inner.text("path", "command") or "", *inner.texts("args"), *self.texts("args"))
        first = value if isinstance(value, list) and value else [value or ""]
        return (*(plain_text(item, "its “command”") for item in first), *self.texts("args"))

    def variables(self) -> dict[str, str]:
        """Return the environment variables; a number is written out, and nothing means that it is not set."""
        found = self._pairs("env")
        if wrong := next((name for name in found if not name or "=" in name or "\0" in name), None):
            raise InputError(f"“{wrong}” is no name of an environment variable.")
        return found

    def headers(self) -> dict[str, str]:
        """Return the headers; InputError for what cannot be sent as one."""
        found = {name: value.strip() for name, value in self._pairs("headers").items()}
        for name, value in found.items():
            if not _HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise InputError("one of its headers holds characters that cannot be sent.")
        return found

    def _pairs(self, name: str) -> dict[str, str]:
        value = self.left.pop(name, None)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise InputError(f"its “{name}” is not a list of names and values.")
        return {
            plain_text(key, f"a name in its “{name}”"): plain_text(item, f"a value in its “{name}”")
            for key, item in value.items()
            if item is not None
        }


def plain_text(value: Json, what: str) -> str:
    """Return a value as text that a program can be given; InputError for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise InputError(f"{what} is not text.")
    if len(value) > MAX_TEXT_CHARACTERS:
        raise InputError(f"{what} is longer than 64 KB.")
    if _UNGIVABLE.search(value):
        raise InputError(f"{what} holds characters that no program can be given.")
    return value
