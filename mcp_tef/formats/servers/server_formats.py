"""Readers of server configurations of known clients and of pasted snippets, and the table that detects them."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, require_plain
from mcp_tef.formats.servers import mcp_registry
from mcp_tef.formats.servers.settings import (
    MAX_SERVERS,
    ConfigSource,
    ServerEntry,
    below,
    entries_of,
    entry_of,
    is_mapping,
    require_few,
    short,
)
from mcp_tef.model.json import Json
from mcp_tef.model.transfer import ServerFileFormat

_CODEX_TABLE = re.compile(r"^[^\S\n]*+\[mcp_servers\b", re.MULTILINE)
_SHELL_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_CODEX_NAMES = {"http_headers": "headers", "enabled_tools": "includeTools", "disabled_tools": "disabledTools"}


def is_toml(text: str, path: Path | None) -> bool:
    """Return True for a TOML file, and for a pasted part of one that lists servers."""
    return path.suffix.lower() == ".toml" if path else bool(_CODEX_TABLE.search(text))


def parse_toml(text: str, name: str) -> Json:
    """Return a TOML document; InputError names what is wrong."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of TOML, and of numbers with too many digits
        raise InputError(f"{name} is not valid TOML: {error}.", hint="Correct that line and try again.") from error


def is_codex(source: ConfigSource) -> bool:
    """Return True for `config.toml` of Codex, also without servers."""
    is_file = source.path is not None and source.path.suffix.lower() == ".toml"
    return is_file or is_mapping(source.document, "mcp_servers")


def read_codex(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return the servers under `mcp_servers`."""
    servers = _each(source.document.get("mcp_servers") or {}, _of_codex)
    return entries_of(servers, source, "mcp_servers", project=_project(source, ".codex"))


def _of_codex(settings: Mapping[str, Json]) -> dict[str, Json]:
    found = {_CODEX_NAMES.get(name, name): value for name, value in settings.items()}
    headers = _references(found, "env_http_headers")
    if isinstance(token := found.get("bearer_token_env_var"), str):
        headers |= {"Authorization": f"Bearer ${{{token}}}"}
        del found["bearer_token_env_var"]
    if isinstance(passed := found.get("env_vars"), list):
        found["env_vars"] = {str(name): name for name in map(_variable_name, passed)}
    env = _references(found, "env_vars")
    return _joined(_joined(found, "headers", headers), "env", env)


def _variable_name(item: Json) -> Json:
    """Return the name of a variable that is passed on, which may stand in a table with its source."""
    return item.get("name") if isinstance(item, dict) else item


def _references(settings: dict[str, Json], name: str) -> dict[str, Json]:
    """Take out a mapping to environment variables as references; anything else stays, to be named as left out."""
    variables = settings.get(name)
    if not isinstance(variables, dict) or not all(isinstance(one, str) for one in variables.values()):
        return {}
    del settings[name]
    return {key: f"${{{variable}}}" for key, variable in variables.items()}


def _joined(settings: dict[str, Json], name: str, more: dict[str, Json]) -> dict[str, Json]:
    """Return settings with more values under a name; what is there stays, and is refused later if it is no mapping."""
    there = settings.get(name) or {}
    return settings | {name: more | there} if more and isinstance(there, dict) else settings


def is_zed(source: ConfigSource) -> bool:
    """Return True for settings with `context_servers`, a key that no other client uses."""
    return is_mapping(source.document, "context_servers")


def read_zed(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return its servers; the command may be an object that holds arguments and variables as well."""
    servers = _each(source.document["context_servers"], _of_zed)
    return entries_of(servers, source, "context_servers", project=_project(source, ".zed"))


def _of_zed(settings: Mapping[str, Json]) -> dict[str, Json]:
    found = {name: value for name, value in settings.items() if (name, value) != ("source", "custom")}
    if isinstance(command := found.get("command"), dict) and isinstance(command.get("env"), dict):
        found["command"] = {name: value for name, value in command.items() if name != "env"}
        return _joined(found, "env", command["env"])
    return found


def is_gemini(source: ConfigSource) -> bool:
    """Return True for settings in a folder named `.gemini`."""
    return source.folder_name == ".gemini" and isinstance(source.document, dict)


def read_gemini(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return its servers; `$NAME` is written as `${NAME}`."""
    servers = _with_references(source.document.get("mcpServers") or {})
    excluded = below(source.document, "mcp", "excluded")
    if isinstance(servers, dict) and isinstance(excluded, list):
        servers = {name: _switched_off(one) if name in excluded else one for name, one in servers.items()}
    return entries_of(servers, source, "mcpServers", project=_project(source, ".gemini"))


def _switched_off(settings: Json) -> Json:
    return settings | {"disabled": True} if isinstance(settings, dict) else settings


def _with_references(value: Json) -> Json:
    if isinstance(value, str):
        return _SHELL_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, list):
        return [_with_references(item) for item in value]
    return {key: _with_references(item) for key, item in value.items()} if isinstance(value, dict) else value


def _each(servers: Json, read: Callable[[Mapping[str, Json]], dict[str, Json]]) -> Json:
    if not isinstance(servers, dict):
        return servers
    return {name: read(value) if isinstance(value, dict) else value for name, value in servers.items()}


def _project(source: ConfigSource, folder: str) -> str | None:
    """Return the project of a config in such a folder; None for the user's own config."""
    project = source.project(2) if source.folder_name == folder else None
    return None if project is None or Path(project) == Path(os.path.expanduser("~")) else project


MAX_CONFIG_CHARACTERS = 10 * 1024 * 1024
"""The largest configs that we know of, which also hold a history, have a few MB."""

_STRING = r'"(?:\\[\s\S]?|[^"\\])*+(?:"|\Z)'
_COMMENTED = re.compile(rf"({_STRING})|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z)")
_TRAILING = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])")


def parse_config(text: str, name: str) -> Json:
    """Return the document; InputError names the line that is wrong, or says what is too large or too deep."""
    if len(text) > MAX_CONFIG_CHARACTERS:
        raise InputError(f"{name} is larger than 10 MB.", hint="Import only the part that lists servers.")
    document = parse_json(_plain(text.removeprefix("\ufeff")), name)
    require_plain(document)
    return document


def _plain(text: str) -> str:
    """Return strict JSON, with every line where it was."""
    bare = _COMMENTED.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text)
    return _TRAILING.sub(lambda found: found[1] or "", bare)


_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_PLACES = ("command", "url", "serverUrl", "httpUrl")
_DEFAULT_NAME = "server"


def read_snippet(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return the servers under `mcpServers`, or of a mapping by name; or the one that the text describes."""
    document = source.document
    if isinstance(document, dict) and any(key in document and not _is_server(document[key]) for key in _PLACES):
        return (entry_of(_name_of(document), document, "the text"),)
    if is_mapping(document, "mcpServers"):
        return entries_of(document["mcpServers"], source, "mcpServers")
    if isinstance(document, dict) and any(_is_server(value) for value in document.values()):
        return entries_of(document, source, "the text")
    raise InputError(
        "No servers were found in it.",
        hint="Give a config with mcpServers, servers, packages or remotes, or one server with a command or a url.",
    )


def parse_snippet(text: str, path: Path | None = None) -> Json:
    """Return the document that a pasted text stands for; InputError where it is none."""
    inner = text.strip().removeprefix("\ufeff")
    if is_toml(inner, path):
        return _required_plain(parse_toml(inner, path.name if path else "The text"))
    if not inner.startswith(("{", "[", '"', "/")) and (fenced := _FENCE.search(inner)):
        inner = fenced[1].strip()
    if re.fullmatch(r"https?://\S+", inner):
        return {"url": inner}
    if inner.startswith('"'):
        inner = "{" + inner.rstrip(",") + "}"
    return parse_config(inner, path.name if path else "The text")


def _required_plain(document: Json) -> Json:
    require_plain(document)
    return document


def _is_server(value: Json) -> bool:
    return isinstance(value, dict) and any(value.get(key) for key in _PLACES)


def _name_of(document: dict[str, Json]) -> str:
    """Return a name for a server that has none of its own: what it says, its package, or its host."""
    said = document.get("name")
    if isinstance(said, str) and said.strip():
        return said
    if host := next(filter(None, (_host(document.get(key)) for key in _PLACES[1:])), None):
        return host
    return _package_name(document) or _DEFAULT_NAME


def _package_name(document: dict[str, Json]) -> str:
    """Return the last part of the first argument that is no flag, else of the command, without a version."""
    args = document.get("args")
    words = [word for word in args if isinstance(word, str)] if isinstance(args, list) else []
    package = next((word for word in words if word and not word.startswith("-")), document.get("command"))
    return re.split(r"[/\\]", package)[-1].partition("@")[0] if isinstance(package, str) else ""


def _host(url: Json) -> str:
    try:
        return urlsplit(url).hostname or "" if isinstance(url, str) else ""
    except ValueError:
        return ""


# VS Code's `mcp.json`, its older user settings, and the settings of a `.code-workspace` file.
_VSCODE_PATHS = (("servers",), ("mcp", "servers"), ("settings", "mcp", "servers"))


def named(file_name: str) -> Callable[[ConfigSource], bool]:
    """Return a test for configs of one file name that hold `mcpServers`."""
    return lambda source: source.file_name == file_name and is_mapping(source.document, "mcpServers")


def read_mcp_servers(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return the servers under `mcpServers`."""
    return entries_of(source.document["mcpServers"], source, "mcpServers")


def is_claude_code(source: ConfigSource) -> bool:
    """Return True for `.mcp.json` of a project and `.claude.json` of a user; the latter also by its projects."""
    document = source.document
    of_project = source.file_name == ".mcp.json" and is_mapping(document, "mcpServers")
    return of_project or source.file_name == ".claude.json" or is_mapping(document, "projects")


def read_claude_code(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return the servers of the user or of the file's project, then those of each listed project."""
    document = source.document
    if not isinstance(document, dict):
        raise InputError(f"{short(source.path)} holds no settings.")
    project = source.project(1) if source.file_name == ".mcp.json" else None
    found = list(entries_of(document.get("mcpServers") or {}, source, "mcpServers", project=project))
    projects = document.get("projects")
    for folder, settings in projects.items() if isinstance(projects, dict) else ():
        if isinstance(settings, dict) and settings.get("mcpServers"):
            found += entries_of(settings["mcpServers"], source, f"projects › {folder}", project=folder)
    require_few(len(found), short(source.path))
    return tuple(found)


def is_cursor(source: ConfigSource) -> bool:
    """Return True for a config in a folder named `.cursor`."""
    return source.folder_name == ".cursor" and is_mapping(source.document, "mcpServers")


def read_cursor(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return its servers; those of the user's own config belong to no project."""
    project = source.project(2)
    of_user = project is not None and Path(project) == Path(os.path.expanduser("~"))
    return entries_of(source.document["mcpServers"], source, "mcpServers", project=None if of_user else project)


def is_vscode(source: ConfigSource) -> bool:
    """Return True for a mapping of `servers`, a key that no other client uses, and for settings without servers."""
    return any(is_mapping(source.document, *path) for path in _VSCODE_PATHS) or _is_empty_vscode(source)


def read_vscode(source: ConfigSource) -> tuple[ServerEntry, ...]:
    """Return its servers, each with the `inputs` that its values refer to."""
    path = next((path for path in _VSCODE_PATHS if is_mapping(source.document, *path)), ("servers",))
    holder = below(source.document, *path[:-1])
    servers = below(source.document, *path) or {}
    project = source.project(2) if source.folder_name == ".vscode" else None
    return entries_of(servers, source, " › ".join(path), project=project, inputs=_inputs(holder.get("inputs")))


def _is_empty_vscode(source: ConfigSource) -> bool:
    named_so = source.file_name == "settings.json" or (source.file_name, source.folder_name) == ("mcp.json", ".vscode")
    return named_so and isinstance(source.document, dict)


def _inputs(value: Json) -> tuple[Mapping[str, Json], ...]:
    items = value[:MAX_SERVERS] if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, dict) and isinstance(item.get("id"), str))


@dataclass(frozen=True, slots=True)
class ServerFormat:
    """One format of configs: a test for it, and a reader of its servers."""

    form: ServerFileFormat
    title: str
    fits: Callable[[ConfigSource], bool]
    read: Callable[[ConfigSource], tuple[ServerEntry, ...]]


def _mcp_servers(form: ServerFileFormat, title: str, file_name: str) -> ServerFormat:
    return ServerFormat(form, title, named(file_name), read_mcp_servers)


FORMS = (
    _mcp_servers(ServerFileFormat.CLAUDE_DESKTOP, "Claude Desktop", "claude_desktop_config.json"),
    ServerFormat(ServerFileFormat.CLAUDE_CODE, "Claude Code", is_claude_code, read_claude_code),
    ServerFormat(ServerFileFormat.CODEX, "Codex", is_codex, read_codex),
    ServerFormat(ServerFileFormat.GEMINI, "Gemini CLI", is_gemini, read_gemini),
    ServerFormat(ServerFileFormat.ZED, "Zed", is_zed, read_zed),
    ServerFormat(ServerFileFormat.CURSOR, "Cursor", is_cursor, read_cursor),
    _mcp_servers(ServerFileFormat.WINDSURF, "Windsurf", "mcp_config.json"),
    _mcp_servers(ServerFileFormat.INSPECTOR, "MCP Inspector", "mcp.json"),
    ServerFormat(ServerFileFormat.REGISTRY, "MCP registry", mcp_registry.fits, mcp_registry.read),
    ServerFormat(ServerFileFormat.VSCODE, "VS Code", is_vscode, read_vscode),
    ServerFormat(ServerFileFormat.SNIPPET, "A list of servers", lambda _source: True, read_snippet),
)
"""Formats in the order of detection: by file name first, then by content; a pasted list comes last."""


def read_config(text: str, path: Path | None = None) -> tuple[ServerFormat, tuple[ServerEntry, ...]]:
    """Return the format of a config and its servers; InputError where it cannot be read as a whole."""
    source = ConfigSource(parse_snippet(text, path), path)
    form = next(form for form in FORMS if form.fits(source))
    return form, form.read(source)
