"""Runs several SQL statements inside the transaction that is open (`executescript` would commit it)."""

import sqlite3


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run each statement of `script`; triggers, with semicolons inside, count as one."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
