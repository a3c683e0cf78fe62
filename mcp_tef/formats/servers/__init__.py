"""Server configs of MCP clients and of the registry."""
