"""Rules on tool definitions."""
