"""Version 7: tools that were called by hand are kept, and the listing that the user last saw, where another came."""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_TABLES = """
CREATE TABLE tool_calls (
    id TEXT NOT NULL PRIMARY KEY,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    tool_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('sent', 'answered', 'tool_error', 'failed', 'cancelled')),
    asked_at TIMESTAMP NOT NULL,
    execution_time_ms INTEGER,
    reply TEXT,
    error_code TEXT,
    error_message TEXT,
    error_hint TEXT
);
CREATE INDEX ix_tool_calls_tool ON tool_calls (mcp_server_id, tool_name, asked_at DESC);

ALTER TABLE server_listings ADD COLUMN accepted TEXT;
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Make the table, and add the column."""
    run_script(connection, _TABLES)
