"""Files that are databases, as workspaces are."""

import sqlite3
from contextlib import closing
from pathlib import Path


def a_workspace(folder: Path) -> Path:
    """A database in a folder, under the name that workspaces have."""
    file = folder / "work.mcp-tef"
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE TABLE kept (word TEXT)")
    return file
