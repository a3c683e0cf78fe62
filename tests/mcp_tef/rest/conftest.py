"""An engine on a workspace of its own, for tests of REST."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef import Engine


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on an empty workspace."""
    async with await Engine.open(tmp_path / "rest.db", environment={}) as opened:
        yield opened
