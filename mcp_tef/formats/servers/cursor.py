"""The configs of Cursor: `.cursor/mcp.json`, of the user or of a project."""

import os
from pathlib import Path

from mcp_tef.formats.servers.entries import ServerEntry, Source, is_mapping
from mcp_tef.formats.servers.settings import entries_of

TITLE = "Cursor"


def fits(source: Source) -> bool:
    """Whether it is one, by the folder that it lies in."""
    return source.folder_name == ".cursor" and is_mapping(source.document, "mcpServers")


def read(source: Source) -> tuple[ServerEntry, ...]:
    """Its servers; those of the user belong to no project."""
    project = source.project(2)
    of_user = project is not None and Path(project) == Path(os.path.expanduser("~"))
    return entries_of(source.document["mcpServers"], source, "mcpServers", project=None if of_user else project)
