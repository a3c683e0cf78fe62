"""Version 3: verdicts that judging again has replaced are kept, with the expectation they were given by, and why."""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_TABLES = """
CREATE TABLE past_verdicts (
    id INTEGER NOT NULL PRIMARY KEY,
    test_run_id TEXT NOT NULL REFERENCES test_runs (id) ON DELETE CASCADE,
    replaced_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    classification TEXT NOT NULL CHECK (classification IN ('TP', 'FP', 'TN', 'FN')),
    kind TEXT NOT NULL,
    verdict TEXT NOT NULL,
    expectation TEXT,
    reason TEXT NOT NULL CHECK (reason IN ('expectation_changed', 'rules_changed'))
);
CREATE INDEX ix_past_verdicts_test_run_id ON past_verdicts (test_run_id);
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the table."""
    run_script(connection, _TABLES)
