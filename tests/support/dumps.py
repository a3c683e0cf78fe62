"""Workspace files as SQL text, so that a database of every past version can be kept among the tests.

`python -m tests.support.dumps WORKSPACE > tests/migrations/version_N.sql` keeps one.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

PRAGMAS = ("application_id", "user_version")


def dumped(path: Path) -> str:
    """The whole file as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        pragmas = [f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};" for name in PRAGMAS]
        return "\n".join([*connection.iterdump(), *pragmas, ""])


def loaded(dump: Path, path: Path) -> None:
    """Make a file of SQL text."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text("utf-8"))


def schema(path: Path) -> dict[str, str]:
    """The statement behind each table, index and trigger, without differences in white space."""
    with closing(sqlite3.connect(path)) as connection:
        statements = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {name: " ".join(sql.split()) for name, sql in statements}


if __name__ == "__main__":
    sys.stdout.write(dumped(Path(sys.argv[1])))
