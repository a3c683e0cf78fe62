"""Version 5: a server remembers the config it came from, with what only that config's program understands."""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_COLUMNS = """
ALTER TABLE mcp_servers ADD COLUMN env_file TEXT;
ALTER TABLE mcp_servers ADD COLUMN project TEXT;
ALTER TABLE mcp_servers ADD COLUMN origin TEXT;
ALTER TABLE mcp_servers ADD COLUMN extra TEXT NOT NULL DEFAULT '{}';
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the columns."""
    run_script(connection, _COLUMNS)
