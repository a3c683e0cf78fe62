"""A fresh workspace for each test of the store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.storage.store import SqliteStore, open_store


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Where the workspace file is."""
    return tmp_path / "workspace.db"


@pytest.fixture
async def store(workspace: Path) -> AsyncIterator[SqliteStore]:
    """An open, empty workspace."""
    opened = await open_store(workspace)
    yield opened
    await opened.close()
