"""One selector for each test, closed at its end."""

from collections.abc import AsyncIterator

import pytest

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector


@pytest.fixture
async def selector() -> AsyncIterator[LitellmSelector]:
    """The real selector over the real litellm."""
    selector = LitellmSelector(LitellmCatalogue())
    yield selector
    await selector.close()
