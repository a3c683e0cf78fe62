"""Configs of Codex, Zed and Gemini CLI, in terms of the layout that most clients share."""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.settings import ConfigSource, ServerEntry, below, entries_of, is_mapping
from mcp_tef.model.json import Json

_CODEX_TABLE = re.compile(r"^\s*\[mcp_servers\b", re.MULTILINE)
_SHELL_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
_CODEX_NAMES = {"http_headers": "headers", "enabled_tools": "includeTools", "disabled_tools": "disabledTools"}


def is_toml(text: str, path: Path | None) -> bool:
    """Return True for a TOML file, and for a pasted part of one that lists servers."""
    return path.suffix.lower() == ".toml" if path else bool(_CODEX_TABLE.search(text))


def parse_toml(text: str, name: str) -> Json:
    """Return a TOML document; InputError names what is wrong."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
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
