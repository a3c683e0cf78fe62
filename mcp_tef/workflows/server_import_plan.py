"""Decides what becomes of each server of a config: added, changed, unchanged or refused, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.entries import ServerEntry
from mcp_tef.formats.servers.secrets import Secrets
from mcp_tef.model.references import ReferenceKind, references
from mcp_tef.model.server_import import ImportedServer
from mcp_tef.model.servers import AuthType, Server, ServerSpec
from mcp_tef.model.transfer import FieldChange, ImportFate

_PLACE = ("transport", "url", "command", "args", "cwd", "env", "env_file", "project", "headers", "extra")
_ONLY_NAMES = ("env", "headers")
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
        """What becomes of an entry of the config at `origin`, or of a text that lies nowhere."""
        if entry.spec is None:
            return _refused(entry, entry.refused)
        if any(found.kind is ReferenceKind.KEYCHAIN for text in _texts(entry.spec) for found in references(text)):
            return _refused(entry, "It asks for an entry of your keychain, which only you may give to a server.")
        try:
            spec, secrets = self._secrets.taken_out(replace(entry.spec, origin=origin))
        except InputError as error:
            return _refused(entry, error.message)
        if twin := next((name for name, other in self._specs.items() if _same(spec, other)), None):
            return self._known(entry, spec, twin)
        spec = replace(spec, name=self._name(spec.name, origin))
        owners = [name for name, other in self._specs.items() if spec.url and other.url == spec.url]
        if owners and spec.name not in owners:
            return _refused(entry, f"The server {owners[0]} has that address already.")
        made = ImportedServer(
            label=entry.label,
            place=entry.place,
            fate=ImportFate.ADDED,
            spec=spec,
            secrets=secrets,
            needs=tuple(dict.fromkeys(self._needs(spec))),
            notes=(*entry.notes, *_remarks(spec)),
        )
        made = self._changed(made, spec)
        self._specs[made.name] = made.spec or spec
        self._taken.add(made.name)
        return made

    def _known(self, entry: ServerEntry, spec: ServerSpec, twin: str) -> ImportedServer:
        same = ImportedServer(
            label=entry.label, place=entry.place, fate=ImportFate.UNCHANGED, spec=spec, notes=entry.notes
        )
        if twin in self._taken:
            return replace(same, notes=(*entry.notes, f"It is the same as {twin} above."))
        self._taken.add(twin)
        return replace(same, spec=self._specs[twin], server_id=self._stored[twin].id)

    def _name(self, wanted: str, origin: str | None) -> str:
        """The name, or with the first number that is free; or that of what this very config brought before."""
        number, name = 1, wanted
        while name in self._taken or (name in self._specs and (origin is None or self._specs[name].origin != origin)):
            number += 1
            name = f"{wanted}-{number}"
        return name

    def _changed(self, made: ImportedServer, spec: ServerSpec) -> ImportedServer:
        stored = self._stored.get(spec.name)
        if stored is None:
            return made
        before = stored.spec
        moved = before.url != spec.url
        kept = {name: getattr(before, name) for name in (_OURS if moved else (*_OURS, *_SIGN_IN))}
        spec = replace(spec, **kept, disallowed_tools=spec.disallowed_tools or before.disallowed_tools)
        notes = (*made.notes, _SIGN_IN_LEFT) if moved and before.auth_type is not AuthType.NONE else made.notes
        changes = tuple(_changes(before, spec))
        return replace(made, fate=ImportFate.CHANGED, spec=spec, server_id=stored.id, changes=changes, notes=notes)

    def _needs(self, spec: ServerSpec) -> Iterator[str]:
        """The variables that are referred to, without a default, and not set."""
        defaults = {item.get("id"): item.get("default") for item in spec.inputs}
        for reference in (found for text in _texts(spec) for found in references(text)):
            asked = reference.kind is ReferenceKind.INPUT
            default = defaults.get(reference.name) if asked else reference.default
            unset = not self._environment.get(reference.variable, "").strip()
            if (asked or reference.kind is ReferenceKind.VARIABLE) and default is None and unset:
                yield reference.variable


def _texts(spec: ServerSpec) -> Iterator[str]:
    yield from (*spec.argv, *spec.env.values(), *spec.headers.values())
    yield from (spec.url or "", spec.cwd or "", spec.env_file or "", spec.secret or "")


def _remarks(spec: ServerSpec) -> Iterator[str]:
    found = [(reference, text) for text in _texts(spec) for reference in references(text)]
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
    """A value for people; variables and headers by their names, since values may be secrets."""
    if name == "extra":
        return "other settings"
    if name in _ONLY_NAMES and isinstance(value, Mapping):
        return ", ".join(sorted(value)) or "–"
    text = " ".join(value) if isinstance(value, tuple) else str(value or "")
    return text[:_WORDS_SHOWN] or "–"


def _refused(entry: ServerEntry, reason: str) -> ImportedServer:
    return ImportedServer(
        label=entry.label, place=entry.place, fate=ImportFate.REFUSED, reason=reason, notes=entry.notes
    )
