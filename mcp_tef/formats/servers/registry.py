"""The registry's `server.json`: packages that are run and remotes that are reached, in its current and older shapes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.entries import ServerEntry, Source, below, require_few, short
from mcp_tef.formats.servers.registry_inputs import Inputs, field, listed
from mcp_tef.formats.servers.settings import entry_of, named, refused, require_small
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec, require_complete

TITLE = "MCP registry"
_KNOWN = ("packages", "remotes")

SpecOf: TypeAlias = Callable[[str, Mapping[str, Json], Inputs], ServerSpec]


def fits(source: Source) -> bool:
    """Whether it is one: a server with packages or remotes, alone, wrapped, or in an answer of the registry."""
    return any(any(isinstance(below(item, key), list) for key in _KNOWN) for item in _servers(source.document)[:1])


def read(source: Source) -> tuple[ServerEntry, ...]:
    """One entry a way to run or reach each server; the ways after the first are alternatives."""
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
    full = str(below(server, "name") or "")
    label = full.rpartition("/")[2] or full
    ways = [(f"{kind} › {place}", kind, way) for kind in _KNOWN for place, way in enumerate(_list(server, kind), 1)]
    for place, kind, way in ways:
        if not isinstance(way, dict):
            yield refused(label, place, "it is not a list of settings.")
        else:
            yield _way(label, place, way, _package if kind == "packages" else _remote, len(ways))
    if not ways:
        yield refused(label, "packages", "it names neither a package nor a remote address.")


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
    """The program that runs a package, and its arguments up to the package's own."""
    kind = str(field(way, "registryType", "registry_type", "registry_name") or "").lower()
    hint = str(field(way, "runtimeHint", "runtime_hint") or "")
    package, version = str(field(way, "identifier", "name") or ""), str(field(way, "version") or "")
    if not package or package.startswith("-"):
        raise InputError("it names no package.")
    match kind:
        case "npm":
            yes = [] if {"-y", "--yes"} & {*before} or hint not in ("", "npx") else ["-y"]
            return hint or "npx", [*yes, *before, f"{package}@{version}" if version else package]
        case "pypi":
            return hint or "uvx", [*before, f"{package}=={version}" if version else package]
        case "oci" | "docker":
            named_variables = [part for variable in variables for part in ("-e", variable)]
            image = package if not version or ":" in package.rpartition("/")[2] else f"{package}:{version}"
            return hint or "docker", ["run", "-i", "--rm", *named_variables, *before, image]
        case "nuget":
            return hint or "dnx", [*before, f"{package}@{version}" if version else package, "--yes"]
    raise InputError("its package is of a kind that we cannot run: npm, PyPI, NuGet and containers can be.")


def _shared(name: str, settings: Mapping[str, Json]) -> ServerSpec:
    """The spec of settings in the shape that other configs have."""
    entry = entry_of(name, {key: value for key, value in settings.items() if value}, "")
    if entry.spec is None:
        raise InputError(entry.refused)
    return entry.spec
