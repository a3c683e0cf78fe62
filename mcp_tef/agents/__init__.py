"""The MCP server for coding agents: what each of its tools, resources and prompts does."""
