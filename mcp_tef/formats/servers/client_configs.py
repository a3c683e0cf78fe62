"""Configs of MCP clients, told apart by file name, folder and content: Claude, Cursor, VS Code, Windsurf, Inspector."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.entries import (
    MAX_SERVERS,
    ConfigSource,
    ServerEntry,
    below,
    is_mapping,
    require_few,
    short,
)
from mcp_tef.formats.servers.settings import entries_of
from mcp_tef.model.json import Json

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
