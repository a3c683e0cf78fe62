"""The servers file of the MCP Inspector: `mcpServers` in `mcp.json`, each with its transport as `type`."""

from mcp_tef.formats.servers.entries import ServerEntry, Source, is_mapping
from mcp_tef.formats.servers.settings import entries_of

TITLE = "MCP Inspector"


def fits(source: Source) -> bool:
    """Whether it is one, by its name."""
    return source.file_name == "mcp.json" and is_mapping(source.document, "mcpServers")


def read(source: Source) -> tuple[ServerEntry, ...]:
    """Its servers."""
    return entries_of(source.document["mcpServers"], source, "mcpServers")
