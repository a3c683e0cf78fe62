"""The config of Claude Desktop: `mcpServers` in `claude_desktop_config.json`."""

from mcp_tef.formats.servers.entries import ServerEntry, Source, is_mapping
from mcp_tef.formats.servers.settings import entries_of

TITLE = "Claude Desktop"


def fits(source: Source) -> bool:
    """Whether it is one, by its name."""
    return source.file_name == "claude_desktop_config.json" and is_mapping(source.document, "mcpServers")


def read(source: Source) -> tuple[ServerEntry, ...]:
    """Its servers."""
    return entries_of(source.document["mcpServers"], source, "mcpServers")
