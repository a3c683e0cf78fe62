"""The config of Windsurf: `mcp_config.json`, where an address is called `serverUrl`."""

from mcp_tef.formats.servers.entries import ServerEntry, Source, is_mapping
from mcp_tef.formats.servers.settings import entries_of

TITLE = "Windsurf"


def fits(source: Source) -> bool:
    """Whether it is one, by its name."""
    return source.file_name == "mcp_config.json" and is_mapping(source.document, "mcpServers")


def read(source: Source) -> tuple[ServerEntry, ...]:
    """Its servers."""
    return entries_of(source.document["mcpServers"], source, "mcpServers")
