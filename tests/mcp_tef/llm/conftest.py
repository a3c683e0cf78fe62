"""One selector for each test, closed at its end; each test with one runs over both paths to a model."""

from collections.abc import AsyncIterator

import pytest

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector


@pytest.fixture(params=["", "litellm"], ids=["direct", "litellm"])
async def selector(request: pytest.FixtureRequest) -> AsyncIterator[LitellmSelector]:
    """The real selector: as it chooses by itself, and over the real litellm."""
    selector = LitellmSelector(LitellmCatalogue(), through=lambda: str(request.param))
    yield selector
    await selector.close()
