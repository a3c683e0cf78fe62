"""The configs of Claude Code: `.mcp.json` of a project, and `.claude.json` of a user and all their projects."""

from mcp_tef.errors import InputError
from mcp_tef.formats.servers.entries import ServerEntry, Source, is_mapping, require_few, short
from mcp_tef.formats.servers.settings import entries_of

TITLE = "Claude Code"


def fits(source: Source) -> bool:
    """Whether it is one: by its name, or by the projects in it."""
    document = source.document
    of_project = source.file_name == ".mcp.json" and is_mapping(document, "mcpServers")
    return of_project or source.file_name == ".claude.json" or is_mapping(document, "projects")


def read(source: Source) -> tuple[ServerEntry, ...]:
    """The servers of the user, or of the project that the file lies in; then those of each project."""
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
