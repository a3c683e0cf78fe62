"""Servers of the MCP registry (`server.json`): packages to run and remotes to reach, in current and older layouts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.settings import (
    ConfigSource,
    ServerEntry,
    below,
    entry_of,
    named,
    plain_text,
    refused,
    require_few,
    require_small,
    short,
)
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec, require_complete, variable_name

MAX_VARIABLES = 100
"""Places in one value that are filled in, so that a small file cannot unfold into a huge one."""

_TEMPLATE = re.compile(r"(?<!\$)\{([A-Za-z0-9_.-]{1,100})\}")


def field(value: Mapping[str, Json], *names: str) -> Json:
    """Return the first of these fields that is there: the current name, then older ones."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def listed(value: Mapping[str, Json], *names: str) -> list[Mapping[str, Json]]:
    """Return the mappings in a list."""
    items = field(value, *names)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


class Inputs:
    """Fills in what is known, and writes `${NAME}` with a remark for what the user must set."""

    def __init__(self, server: str) -> None:
        self.notes: list[str] = []
        self._server = server

    def named_values(self, items: list[Mapping[str, Json]], *, own: bool = False) -> dict[str, str]:
        """Return variables of the program, or headers; optional ones without a value are only mentioned."""
        found: dict[str, str] = {}
        for item in items:
            name = _name(item)
            value = self._value(item, name, name if own else None)
            if value is not None:
                found[name] = value
        return found

    def arguments(self, items: list[Mapping[str, Json]]) -> list[str]:
        """Return arguments in order; a named one gives its name and then its value."""
        return [argument for item in items for argument in self._argument(item)]

    def filled(self, item: Mapping[str, Json], text: Json) -> str:
        """Return a text with each `{variable}` that the item explains filled in."""
        variables = item.get("variables")
        known = variables if isinstance(variables, dict) else {}

        def value(found: re.Match[str]) -> str:
            about = known.get(found[1])
            return self._value(about, found[1], needed=True) or "" if isinstance(about, dict) else found[0]

        return _TEMPLATE.sub(value, plain_text(text or "", "a value"), count=MAX_VARIABLES)

    def _argument(self, item: Mapping[str, Json]) -> Iterator[str]:
        name = _name(item)
        if item.get("type") != "named":
            value = self._value(item, str(field(item, "valueHint", "value_hint") or name or "argument"))
            yield from [value] if value is not None else []
        elif field(item, "value", "default") is None and not _required(item):
            self._mention(item, name, "It can take the argument")
        else:
            value = self._value(item, name)
            yield from [name, value] if value else [name]

    def _value(
        self, item: Mapping[str, Json], name: str, variable: str | None = None, *, needed: bool = False
    ) -> str | None:
        given = field(item, "value", "default")
        if given is not None and given != "":
            return plain_text(given, "a value") if needed else self.filled(item, given)
        if not (needed or _required(item)):
            self._mention(item, name, "It can take")
            return None
        variable = variable or variable_name(f"{self._server}_{name}")
        self._mention(item, variable, "Set the environment variable")
        return f"${{{variable}}}"

    def _mention(self, item: Mapping[str, Json], name: str, words: str) -> None:
        about = item.get("description")
        why = f": {' '.join(about.split())[:200]}" if isinstance(about, str) and about.strip() else ""
        self.notes.append(f"{words} {name}{why}".rstrip(".") + ".")


def _name(item: Mapping[str, Json]) -> str:
    return plain_text(field(item, "name") or "", "a name")


def _required(item: Mapping[str, Json]) -> bool:
    return bool(field(item, "isRequired", "is_required"))


_KNOWN = ("packages", "remotes")

SpecOf: TypeAlias = Callable[[str, Mapping[str, Json], Inputs], ServerSpec]


def fits(source: ConfigSource) -> bool:
    """Return True for a registry server with packages or remotes: alone, wrapped, or in a response of the registry."""
    return any(any(isinstance(below(item, key), list) for key in _KNOWN) for item in _servers(source.document)[:1])


def read(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return one entry a way to run or reach each server; the ways after the first are alternatives."""
    servers = _servers(source.document)
    require_few(len(servers), short(source.path))
    entries = tuple(entry for server in servers for entry in _ways(server))
    require_few(len(entries), short(source.path))
    return entries


def _servers(document: Json) -> list[Json]:
    items = below(document, "servers")
    items = items if isinstance(items, list) else [document]
    return [item["server"] if isinstance(below(item, "server"), dict) else item for item in items]


def _ways(server: Json) -> Iterator[ServerEntry]:
    label = _label(server)
    ways = [(f"{kind} › {place}", kind, way) for kind in _KNOWN for place, way in enumerate(_list(server, kind), 1)]
    for place, kind, way in ways:
        if not isinstance(way, dict):
            yield refused(label, place, "it is not a list of settings.")
        else:
            yield _way(label, place, way, _package if kind == "packages" else _remote, len(ways))
    if not ways:
        yield refused(label, "packages", "it names neither a package nor a remote address.")


def _label(server: Json) -> str:
    """Return the last part of the server's name, which the registry writes behind a reversed domain."""
    full = str(below(server, "name") or "")
    return full.rpartition("/")[2] or full


def _list(server: Json, kind: str) -> Sequence[Json]:
    value = below(server, kind)
    return value if isinstance(value, list) else []


def _way(label: str, place: str, way: Mapping[str, Json], spec_of: SpecOf, count: int) -> ServerEntry:
    inputs = Inputs(label)
    try:
        require_small(way)
        spec = require_complete(spec_of(named(label), way, inputs))
    except InputError as error:
        return refused(label, place, error.message)
    others = (f"It is one of {count} ways to have this server.",) if count > 1 else ()
    return ServerEntry(label=label, place=place, spec=spec, notes=(*others, *inputs.notes))


def _remote(name: str, way: Mapping[str, Json], inputs: Inputs) -> ServerSpec:
    headers = inputs.named_values(listed(way, "headers"))
    settings = {"type": field(way, "type", "transport_type"), "url": inputs.filled(way, field(way, "url"))}
    return _shared(name, {**settings, "headers": headers})


def _package(name: str, way: Mapping[str, Json], inputs: Inputs) -> ServerSpec:
    transport = below(way, "transport", "type") or "stdio"
    if transport != "stdio":
        raise InputError("it is a program that serves over HTTP: start it yourself, and import its address.")
    env = inputs.named_values(listed(way, "environmentVariables", "environment_variables"), own=True)
    before = inputs.arguments(listed(way, "runtimeArguments", "runtime_arguments"))
    after = inputs.arguments(listed(way, "packageArguments", "package_arguments"))
    command, args = _runner(way, before, list(env))
    return _shared(name, {"command": command, "args": [*args, *after], "env": env})


def _runner(way: Mapping[str, Json], before: list[str], variables: list[str]) -> tuple[str, list[str]]:
    """Return the program that runs a package, and its arguments up to the package's own."""
    program = _text(way, "runtimeHint", "runtime_hint")
    package, version = _text(way, "identifier", "name"), _text(way, "version")
    if not package or package.startswith("-"):
        raise InputError("it names no package.")
    match _text(way, "registryType", "registry_type", "registry_name").lower():
        case "npm":
            usual, arguments = "npx", [*_agreement(program, before), *before, _pinned(package, "@", version)]
        case "pypi":
            usual, arguments = "uvx", [*before, _pinned(package, "==", version)]
        case "oci" | "docker":
            passed = chain.from_iterable(("-e", variable) for variable in variables)
            usual, arguments = "docker", ["run", "-i", "--rm", *passed, *before, _image(package, version)]
        case "nuget":
            usual, arguments = "dnx", [*before, _pinned(package, "@", version), "--yes"]
        case _:
            raise InputError("its package is of a kind that we cannot run: npm, PyPI, NuGet and containers can be.")
    return program or usual, arguments


def _agreement(program: str, before: Sequence[str]) -> list[str]:
    """Return the flag that keeps npx from asking before it installs, unless it is given already."""
    return ["-y"] if program in ("", "npx") and {"-y", "--yes"}.isdisjoint(before) else []


def _text(way: Mapping[str, Json], *names: str) -> str:
    return str(field(way, *names) or "")


def _pinned(package: str, mark: str, version: str) -> str:
    return f"{package}{mark}{version}" if version else package


def _image(image: str, version: str) -> str:
    return image if ":" in image.rpartition("/")[2] else _pinned(image, ":", version)


def _shared(name: str, settings: Mapping[str, Json]) -> ServerSpec:
    """Return the spec of settings in the shape that other configs have."""
    entry = entry_of(name, {key: value for key, value in settings.items() if value}, "")
    if entry.spec is None:
        raise InputError(entry.refused)
    return entry.spec
