"""Import of servers from the configs of other programs: usual places, a preview, then all or nothing."""

import asyncio
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Any

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import EventStream, ServersChanged
from mcp_tef.formats.cases.texts import read_text
from mcp_tef.formats.servers.secrets import Secrets
from mcp_tef.formats.servers.server_formats import ServerFormat, read_config
from mcp_tef.formats.servers.settings import ServerEntry
from mcp_tef.model.cancellation import CancellableWork
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.servers import AuthType, Reference, ReferenceKind, Server, ServerSpec, references
from mcp_tef.model.transfer import (
    DetectedConfig,
    FieldChange,
    ImportedServer,
    ImportStatus,
    PlainTextSecret,
    ServerImportPreview,
)
from mcp_tef.ports import ServerStore
from mcp_tef.workflows.cancellation import to_its_end

_EDITORS = ("Code", "Code - Insiders", "VSCodium")


@dataclass(frozen=True, slots=True)
class ConfigPlace:
    """One usual place, whether or not there is a file: whose config it would be, and its path."""

    title: str
    path: PurePath


def usual_places(platform: str, environment: Mapping[str, str], project: str | None = None) -> tuple[ConfigPlace, ...]:
    """Return the places of a user on a system (as in `sys.platform`), then those of a project's folder, if given.

    A pure function of its arguments: it looks at no disk. Without a home in the environment only the project's.
    """
    kind = PureWindowsPath if platform == "win32" else PurePosixPath
    home = environment.get("USERPROFILE" if platform == "win32" else "HOME")
    found = _of_user(kind(home), platform, environment) if home else []
    if project:
        folder = kind(project)
        found += [
            ConfigPlace("Claude Code (project)", folder / ".mcp.json"),
            ConfigPlace("Codex (project)", folder / ".codex" / "config.toml"),
            ConfigPlace("Gemini CLI (project)", folder / ".gemini" / "settings.json"),
            ConfigPlace("Zed (project)", folder / ".zed" / "settings.json"),
            ConfigPlace("Cursor (project)", folder / ".cursor" / "mcp.json"),
            ConfigPlace("VS Code (project)", folder / ".vscode" / "mcp.json"),
            ConfigPlace("MCP Inspector", folder / "mcp.json"),
            ConfigPlace("MCP registry", folder / "server.json"),
        ]
    return tuple(found)


def _of_user(home: PurePath, platform: str, environment: Mapping[str, str]) -> list[ConfigPlace]:
    settings = _settings(home, platform, environment)
    code, codex = environment.get("CLAUDE_CONFIG_DIR"), environment.get("CODEX_HOME")
    editors = [settings / editor / "User" / name for editor in _EDITORS for name in ("mcp.json", "settings.json")]
    return [
        ConfigPlace("Claude Desktop", settings / "Claude" / "claude_desktop_config.json"),
        ConfigPlace("Claude Code", (type(home)(code) if code else home) / ".claude.json"),
        ConfigPlace("Codex", (type(home)(codex) if codex else home / ".codex") / "config.toml"),
        ConfigPlace("Gemini CLI", home / ".gemini" / "settings.json"),
        ConfigPlace("Zed", (settings / "Zed" if platform == "win32" else home / ".config" / "zed") / "settings.json"),
        ConfigPlace("Cursor", home / ".cursor" / "mcp.json"),
        *(ConfigPlace("VS Code", path) for path in editors),
        ConfigPlace("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
    ]


def _settings(home: PurePath, platform: str, environment: Mapping[str, str]) -> PurePath:
    """Return the folder in which applications keep a user's settings."""
    match platform:
        case "win32":
            return type(home)(environment.get("APPDATA") or home / "AppData" / "Roaming")
        case "darwin":
            return home / "Library" / "Application Support"
    return type(home)(environment.get("XDG_CONFIG_HOME") or home / ".config")


_PLACE = ("transport", "url", "command", "args", "cwd", "env", "env_file", "project", "headers", "extra")
_ONLY_NAMES = ("env", "headers")
_MAY_BE_ABSENT = {"env": "env", "cwd": "cwd", "envFile": "env_file", "headers": "headers"}
_WORDS_SHOWN = 200
_OURS = ("alias", "allowed_tools")
_SIGN_IN = ("auth_type", "secret", "oauth")
_SIGN_IN_LEFT = "Its address is another one, so the secret that you gave it for the old one is not kept."


class ServerPlan:
    """Finds a fate for one entry after the other, as if those before it had been brought in.

    What is here is never overwritten by what came from elsewhere.
    """

    def __init__(self, servers: Sequence[Server], environment: Mapping[str, str]) -> None:
        self._stored = {server.name: server for server in servers}
        self._specs = {server.name: server.spec for server in servers}
        self._taken: set[str] = set()
        self._environment = environment
        self._secrets = Secrets(environment)

    def planned(self, entry: ServerEntry, origin: str | None) -> ImportedServer:
        """Plan the import of a config entry; `origin` is the config's path, or None for pasted text."""
        if entry.spec is None:
            return _refused(entry, entry.refused)
        if any(found.kind is ReferenceKind.KEYCHAIN for found, _ in _references(entry.spec)):
            return _refused(entry, "It asks for an entry of your keychain, which only you may give to a server.")
        try:
            spec, secrets = self._secrets.taken_out(replace(entry.spec, origin=origin))
        except InputError as error:
            return _refused(entry, error.message)
        if twin := next((name for name, other in self._specs.items() if _same(spec, other)), None):
            return self._known(entry, spec, twin)
        return self._new(entry, replace(spec, name=self._name(spec.name, origin)), secrets)

    def _new(self, entry: ServerEntry, spec: ServerSpec, secrets: tuple[PlainTextSecret, ...]) -> ImportedServer:
        owners = [name for name, other in self._specs.items() if spec.url and other.url == spec.url]
        if owners and spec.name not in owners:
            return _refused(entry, f"The server {owners[0]} has that address already.")
        made = ImportedServer(
            label=entry.label,
            place=entry.place,
            fate=ImportStatus.ADDED,
            spec=spec,
            secrets=secrets,
            needs=tuple(dict.fromkeys(self._needs(spec))),
            notes=(*entry.notes, *_remarks(spec)),
        )
        made = self._changed(made, spec, entry.given)
        self._specs[made.name] = made.spec or spec
        self._taken.add(made.name)
        return made

    def _known(self, entry: ServerEntry, spec: ServerSpec, twin: str) -> ImportedServer:
        same = ImportedServer(
            label=entry.label, place=entry.place, fate=ImportStatus.UNCHANGED, spec=spec, notes=entry.notes
        )
        if twin in self._taken:
            return replace(same, notes=(*entry.notes, f"It is the same as {twin} above."))
        self._taken.add(twin)
        return replace(same, spec=self._specs[twin], server_id=self._stored[twin].id)

    def _name(self, wanted: str, origin: str | None) -> str:
        """Return the name, or with the first number that is free; or that of what this very config brought before."""
        number, name = 1, wanted
        while name in self._taken or (name in self._specs and (origin is None or self._specs[name].origin != origin)):
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _changed(self, made: ImportedServer, spec: ServerSpec, given: Set[str]) -> ImportedServer:
        """Return the fate over a stored server of the name; what the config does not name stays, at the same place."""
        stored = self._stored.get(spec.name)
        if stored is None:
            return made
        before = stored.spec
        moved = before.url != spec.url
        kept = {name: getattr(before, name) for name in (_OURS if moved else (*_OURS, *_SIGN_IN))}
        kept |= _absent(before, spec, given)
        spec = replace(spec, **kept, disallowed_tools=spec.disallowed_tools or before.disallowed_tools)
        notes = (*made.notes, _SIGN_IN_LEFT) if moved and before.auth_type is not AuthType.NONE else made.notes
        made = replace(made, server_id=stored.id, before=before, notes=notes, changes=tuple(_changes(before, spec)))
        if made.changes:
            return replace(made, fate=ImportStatus.CHANGED, spec=spec, edited=not stored.imported)
        return replace(made, fate=ImportStatus.UNCHANGED, spec=before)

    def _needs(self, spec: ServerSpec) -> Iterator[str]:
        """Yield the variables that are referred to, without a default, and not set."""
        defaults = {item.get("id"): item.get("default") for item in spec.inputs}
        for reference, _ in _references(spec):
            asked = reference.kind is ReferenceKind.INPUT
            default = defaults.get(reference.name) if asked else reference.default
            unset = not self._environment.get(reference.variable, "").strip()
            if (asked or reference.kind is ReferenceKind.VARIABLE) and default is None and unset:
                yield reference.variable


def _absent(before: ServerSpec, spec: ServerSpec, given: Set[str]) -> dict[str, Any]:
    """Return the stored values of what a config does not name; none for another program, or where it is not known."""
    if not given or (before.command, before.url) != (spec.command, spec.url):
        return {}
    return {ours: getattr(before, ours) for key, ours in _MAY_BE_ABSENT.items() if key not in given}


def _texts(spec: ServerSpec) -> Iterator[str]:
    yield from (*spec.argv, *spec.env.values(), *spec.headers.values())
    yield from (spec.url or "", spec.cwd or "", spec.env_file or "", spec.secret or "")


def _references(spec: ServerSpec) -> Iterator[tuple[Reference, str]]:
    """Yield each reference of a definition with the text that holds it."""
    return ((reference, text) for text in _texts(spec) for reference in references(text))


def _remarks(spec: ServerSpec) -> Iterator[str]:
    found = list(_references(spec))
    unknown = {text[item.start : item.end] for item, text in found if item.kind is ReferenceKind.UNKNOWN}
    yield from (f"{text[:80]} means something to its own program only. Write the value itself." for text in unknown)
    homeless = any(item.kind is ReferenceKind.PLACE and item.name.startswith("workspace") for item, _ in found)
    if homeless and not spec.project:
        yield "${workspaceFolder} is a folder that only its own program knows. Write the folder itself."


def _same(one: ServerSpec, other: ServerSpec) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in _PLACE)


def _changes(before: ServerSpec, after: ServerSpec) -> Iterator[FieldChange]:
    for name in _PLACE:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield FieldChange(name.replace("_", " "), _words(name, old), _words(name, new))


def _words(name: str, value: object) -> str:
    """Return a value for people; variables and headers by their names, since values may be secrets."""
    if name == "extra":
        return "other settings"
    if name in _ONLY_NAMES and isinstance(value, Mapping):
        return ", ".join(sorted(value)) or "–"
    text = " ".join(value) if isinstance(value, tuple) else str(value or "")
    return text[:_WORDS_SHOWN] or "–"


def _refused(entry: ServerEntry, reason: str) -> ImportedServer:
    return ImportedServer(
        label=entry.label, place=entry.place, fate=ImportStatus.REFUSED, reason=reason, notes=entry.notes
    )


class ServerFiles:
    """Imports servers from configs, and looks for configs. Nothing that a config names is ever started here."""

    def __init__(
        self, store: ServerStore, events: EventStream, environment: Mapping[str, str], platform: str = sys.platform
    ) -> None:
        self._store = store
        self._events = events
        self._environment = environment
        self._platform = platform

    async def preview(self, source: Path | str) -> ServerImportPreview:
        """Preview the import of a file or a pasted text; raises InputError if it is unreadable as a whole."""
        path, form, entries = await asyncio.to_thread(_read, source)
        plan = ServerPlan(await self._store.all(), self._environment)
        return await asyncio.to_thread(_planned, plan, form, entries, path)

    async def preview_all(self, paths: Sequence[Path]) -> tuple[DetectedConfig, ...]:
        """Preview importing files one after the other; a server that several of them list is imported once."""
        plan = ServerPlan(await self._store.all(), self._environment)
        return tuple([await asyncio.to_thread(_found, plan, path) for path in paths])

    def chosen(self, preview: ServerImportPreview, names: Collection[str]) -> ServerImportPreview:
        """Return only the servers of these names (as the config or as the preview has them); NotFoundError."""
        known = {name for server in preview.servers for name in (server.name, server.label)}
        if missing := [name for name in names if name not in known]:
            raise NotFoundError(
                f"{preview.source} has no server named {missing[0]}.",
                hint=did_you_mean(missing[0], known, "Look at the preview for its names."),
            )
        kept = tuple(server for server in preview.servers if {server.name, server.label} & {*names})
        return replace(preview, servers=kept)

    async def apply(
        self, preview: ServerImportPreview, *, by: str = "", work: CancellableWork | None = None
    ) -> tuple[Server, ...]:
        """Do what a preview said, in one transaction; ConflictError or NotFoundError, and nothing has changed.

        StoppedError, and nothing has changed, where `work` was stopped before it was done.
        """
        added = [server.spec for server in preview.of(ImportStatus.ADDED) if server.spec]
        changed = {
            server.server_id: server.spec
            for server in preview.of(ImportStatus.CHANGED)
            if server.server_id and server.spec
        }
        if not (added or changed):
            return ()
        steered = work or CancellableWork()
        applying = self._store.apply(added, changed, seen=preview.seen, step=steered.step)
        servers = await to_its_end(steered, applying)
        self._events.publish(ServersChanged(tuple(server.id for server in servers), by))
        return servers

    async def discover(self, project: Path | None = None, *, together: bool = False) -> tuple[DetectedConfig, ...]:
        """Return the configs in the usual places that list servers or cannot be read, and what each would bring.

        `together` counts those before it as brought in, as `preview_all` does.
        """
        places = self._places(project)
        servers = await self._store.all()
        plan, found = ServerPlan(servers, self._environment), list[DetectedConfig]()
        for place in places:
            if await asyncio.to_thread(os.path.isfile, place.path):
                own = plan if together else ServerPlan(servers, self._environment)
                found.append(await asyncio.to_thread(_found, own, Path(place.path), place.title))
        return tuple(config for config in found if config.problem or (config.preview and config.preview.servers))

    def _places(self, project: Path | None) -> tuple[ConfigPlace, ...]:
        return usual_places(self._platform, self._environment, os.path.abspath(project) if project else None)


def _found(plan: ServerPlan, path: Path, title: str = "") -> DetectedConfig:
    try:
        origin, form, entries = _read(path)
    except InputError as error:
        return DetectedConfig(path=path, title=title or path.name, problem=error.message)
    return DetectedConfig(path=path, title=title or form.title, preview=_planned(plan, form, entries, origin))


def _planned(
    plan: ServerPlan, form: ServerFormat, entries: tuple[ServerEntry, ...], path: Path | None
) -> ServerImportPreview:
    found = tuple(plan.planned(entry, str(path) if path else None) for entry in entries)
    source = path.name if path else "The text"
    return ServerImportPreview(source=source, form=form.form, title=form.title, servers=found)


def _read(source: Path | str) -> tuple[Path | None, ServerFormat, tuple[ServerEntry, ...]]:
    if isinstance(source, str):
        return None, *read_config(source)
    path = source.absolute()
    return path, *read_config(read_text(path), path)
