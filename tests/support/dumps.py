"""Workspace files as SQL text, so that one of an older version can be kept among the tests.

`python -m tests.support.dumps WORKSPACE > tests/data/workspace_version_N.sql` keeps one.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

VERSION_8 = Path(__file__).parents[1] / "data" / "workspace_version_8.sql"
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


if __name__ == "__main__":
    sys.stdout.write(dumped(Path(sys.argv[1])))
