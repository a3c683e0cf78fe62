"""The configs of VS Code: `mcp.json` with `servers` and `inputs`, or the same under `mcp` in its older settings."""

from collections.abc import Mapping

from mcp_tef.formats.servers.entries import MAX_SERVERS, ServerEntry, Source, below, is_mapping
from mcp_tef.formats.servers.settings import entries_of
from mcp_tef.model.json import Json

TITLE = "VS Code"


def fits(source: Source) -> bool:
    """Whether it is one: a mapping of servers is called so nowhere else."""
    return any(is_mapping(source.document, *path) for path in _PATHS) or _empty_settings(source)


_PATHS = (("servers",), ("mcp", "servers"), ("settings", "mcp", "servers"))


def read(source: Source) -> tuple[ServerEntry, ...]:
    """Its servers, each with the questions that its values refer to."""
    path = next((path for path in _PATHS if is_mapping(source.document, *path)), ("servers",))
    holder = below(source.document, *path[:-1])
    servers = below(source.document, *path) or {}
    project = source.project(2) if source.folder_name == ".vscode" else None
    return entries_of(servers, source, " › ".join(path), project=project, inputs=_inputs(holder.get("inputs")))


def _empty_settings(source: Source) -> bool:
    """Settings of VS Code that say nothing of servers."""
    named = source.file_name == "settings.json" or (source.file_name, source.folder_name) == ("mcp.json", ".vscode")
    return named and isinstance(source.document, dict)


def _inputs(value: Json) -> tuple[Mapping[str, Json], ...]:
    items = value[:MAX_SERVERS] if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, dict) and isinstance(item.get("id"), str))
