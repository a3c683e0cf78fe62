"""Version 8: a batch that was removed is only hidden until the next open, so that it can be brought back."""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_COLUMN = "ALTER TABLE batches ADD COLUMN removed_at TIMESTAMP;"


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the column."""
    run_script(connection, _COLUMN)
