"""A fresh workspace for each test of the store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.ports import Store
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.memory_store import MemoryStore


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


@pytest.fixture(params=["file", "memory"])
async def any_store(request: pytest.FixtureRequest, workspace: Path) -> AsyncIterator[Store]:
    """An empty store of each kind."""
    opened: Store = MemoryStore() if request.param == "memory" else await open_store(workspace)
    yield opened
    await opened.close()
