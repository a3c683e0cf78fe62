"""Servers of a config: the layout that most share, one entry per server, each field checked, unknown fields kept."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import urlsplit

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.servers import (
    INPUTS,
    ReferenceKind,
    ServerSpec,
    Transport,
    references,
    require_complete,
    variable_name,
)

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
    """One server as a config has it; one that cannot be taken has no spec, and in `refused` the reason.

    `given` are the keys that the config names, where it is known.
    """

    label: str
    place: str
    spec: ServerSpec | None = None
    refused: str = ""
    notes: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


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

    def folder(self, path: str | None, project: str | None) -> str | None:
        """Return a path; one that is relative is taken from the project's folder, or remarked upon without one."""
        kinds = (PurePosixPath, PureWindowsPath)
        if path is None or path.startswith(("${", "~")) or any(kind(path).is_absolute() for kind in kinds):
            return path
        if project is None:
            self.notes.append(f"Its path “{path}” is relative, and no folder is known for it.")
        return str(Path(project) / path) if project else path

    def command(self) -> tuple[str, ...]:
        """Return the command line, of a command that is a text or a list; arguments alone have no program."""
        value = self.left.pop("command", None)
        if isinstance(value, dict):
            inner = Fields(value)
            words = (inner.text("path", "command") or "", *inner.texts("args"), *self.texts("args"))
            self.left |= {f"command.{name}": one for name, one in inner.left.items()}
            return words
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


MAX_NAME_CHARACTERS = 200
MAX_SERVER_CHARACTERS = 256 * 1024
"""All that is said of one server: a command line may not be longer on any system."""

_TRANSPORTS = {
    "stdio": Transport.STDIO,
    "local": Transport.STDIO,
    "sse": Transport.SSE,
    "http": Transport.STREAMABLE_HTTP,
    "remote": Transport.STREAMABLE_HTTP,
    "streamablehttp": Transport.STREAMABLE_HTTP,
}
_SWITCHES = ("disabled", "enabled")
_MOST_UNKNOWN = 20
_LONGEST_UNKNOWN = 60
_URLS = ("url", "serverUrl", "httpUrl")


def entries_of(
    servers: Json,
    source: ConfigSource,
    place: str,
    *,
    project: str | None = None,
    inputs: tuple[Mapping[str, Json], ...] = (),
) -> tuple[ServerEntry, ...]:
    """Return the servers of a mapping by name. `project` is the folder that they belong to, if any."""
    if not isinstance(servers, dict):
        raise InputError(f"{short(source.path)} has no list of servers under “{place}”.")
    require_few(len(servers), short(source.path))
    return tuple(entry_of(name, value, f"{place} › {name}", project, inputs) for name, value in servers.items())


def entry_of(
    name: str, value: Json, place: str, project: str | None = None, inputs: tuple[Mapping[str, Json], ...] = ()
) -> ServerEntry:
    """Return one server; where it cannot be taken, the reason."""
    try:
        if not isinstance(value, dict):
            raise InputError("it is not a list of settings.")
        require_small(value)
        fields = Fields({key: one for key, one in value.items() if (key, one) != ("name", name)})
        spec = _spec(named(name), fields, project)
        used = _used(spec, inputs)
        fields.left.pop(INPUTS, None)
        extra = {**fields.left, INPUTS: used} if used else fields.left
        notes = (*fields.notes, *_remarks(spec, fields.left), *_questions(used))
        return ServerEntry(
            label=name, place=place, spec=replace(spec, extra=extra), notes=notes, given=frozenset(value)
        )
    except InputError as error:
        return refused(name, place, error.message)


def require_small(settings: Json) -> None:
    """Raise InputError for more than one server can need."""
    if len(canonical(settings)) > MAX_SERVER_CHARACTERS:
        raise InputError("its settings are larger than 256 KB.")


def refused(name: str, place: str, why: str) -> ServerEntry:
    """Return an entry that cannot be taken; `why` is the rest of a sentence, or a whole one."""
    return ServerEntry(label=name, place=place, refused=why[:1].upper() + why[1:].rstrip(".") + ".")


def named(name: str) -> str:
    """Return a name that can be shown; InputError."""
    tidy = plain_text(name, "its name").strip()
    if not tidy:
        raise InputError("it has no name.")
    if len(tidy) > MAX_NAME_CHARACTERS:
        raise InputError(f"its name is longer than {MAX_NAME_CHARACTERS} characters.")
    if not tidy.isprintable():
        raise InputError("its name holds characters that cannot be shown.")
    return tidy


def _spec(name: str, fields: Fields, project: str | None) -> ServerSpec:
    program, *args = fields.command() or ("",)
    url = _web_address(fields.text(*_URLS[::-1]))
    project = plain_text(project, "its project") if project else None
    transport = _transport(fields.text("type", "transport"), url)
    _require_one_place(program, url, transport)
    place: dict[str, Any] = {"url": url, "headers": fields.headers()} if url else {}
    if program:
        cwd, env_file = (fields.folder(fields.text(name), project) for name in ("cwd", "envFile"))
        env = fields.variables()
        place = {"command": program, "args": tuple(args), "env": env, "cwd": cwd or project, "env_file": env_file}
    offered, blocked = fields.texts("includeTools"), (*fields.texts("disabledTools"), *fields.texts("excludeTools"))
    spec = ServerSpec(name=name, transport=transport, project=project, disallowed_tools=blocked, **place)
    return require_complete(replace(spec, allowed_tools=offered))


def _require_one_place(program: str, url: str | None, transport: Transport) -> None:
    if program and url:
        raise InputError("it has both a command and an address.")
    if not (program or url):
        raise InputError("it has neither a command nor an address.")
    if (transport is Transport.STDIO) != bool(program):
        raise InputError("what it says of its transport does not fit the rest.")


def _transport(said: str | None, url: str | None) -> Transport:
    if said is not None:
        transport = _TRANSPORTS.get(said.lower().replace("-", "").replace("_", ""))
        if transport is None:
            raise InputError("its transport is none of stdio, sse and streamable HTTP.")
        return transport
    if url is None:
        return Transport.STDIO
    return Transport.SSE if urlsplit(url).path.rstrip("/").endswith("/sse") else Transport.STREAMABLE_HTTP


def _web_address(url: str | None) -> str | None:
    """Return the address as it is; InputError, without it, where it cannot be one."""
    try:
        scheme = urlsplit(url or "https:").scheme
    except ValueError:
        scheme = ""
    if scheme not in ("http", "https") and not (url or "").startswith("${"):
        raise InputError("its address does not begin with http:// or https://.")
    return url


def _remarks(spec: ServerSpec, left: Mapping[str, Json]) -> Iterator[str]:
    if left.get("disabled") is True or left.get("enabled") is False:
        yield "It is switched off there."
    if unknown := sorted(name for name, value in left.items() if not _is_switch(name, value)):
        yield f"Not taken over: {_some_of(unknown)}."
    if spec.command and " " in spec.command and not spec.args:
        yield "Its command holds a space. It is taken for the name of one program, since no shell splits it."


def _is_switch(name: str, value: Json) -> bool:
    return name in _SWITCHES and isinstance(value, bool)


def _some_of(names: list[str]) -> str:
    named = ", ".join(name[:_LONGEST_UNKNOWN] for name in names[:_MOST_UNKNOWN])
    return f"{named} and {len(names) - _MOST_UNKNOWN} more" if len(names) > _MOST_UNKNOWN else named


def _used(spec: ServerSpec, inputs: tuple[Mapping[str, Json], ...]) -> list[Mapping[str, Json]]:
    """Return the questions of a config that this server's values refer to; a secret's default is not kept."""
    said = "\n".join((*spec.argv, *spec.env.values(), *spec.headers.values(), spec.url or "", spec.cwd or ""))
    used = {found.name for found in references(said) if found.kind is ReferenceKind.INPUT}
    asked = (item for item in inputs if item.get("id") in used)
    return [
        {key: value for key, value in item.items() if not (key == "default" and item.get("password") is True)}
        for item in asked
    ]


def _questions(inputs: list[Mapping[str, Json]]) -> Iterator[str]:
    for item in inputs:
        about = item.get("description")
        words = f" ({' '.join(about.split())[:200]})" if isinstance(about, str) and about.strip() else ""
        yield f"It asks for “{item['id']}”{words}: set the environment variable {variable_name(str(item['id']))}."
