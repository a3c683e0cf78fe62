"""Version 6: a server says as whom we sign in to it by OAuth."""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_COLUMNS = """
ALTER TABLE mcp_servers ADD COLUMN oauth TEXT NOT NULL DEFAULT '{}';
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the column."""
    run_script(connection, _COLUMNS)
