"""The adapter to the mcp library: reaches servers and tools files, and brings the bundled sample server."""
