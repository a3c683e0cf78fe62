"""The similarity page over two servers with similar tools."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from PySide6.QtWidgets import QApplication

from app.screens.similarity.page import SimilarityPage
from tests.support.fake_engine import FakeEngine
from tests.support.similarity_page import Bench, docs_and_desk
from tests.support.windows import page_bench


@pytest.fixture
def engine() -> Callable[[], Awaitable[FakeEngine]]:
    """Return the function that makes the engine."""
    return docs_and_desk


@pytest.fixture
async def bench(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[Bench]:
    """The page over an engine."""
    async with page_bench(SimilarityPage, fake) as made:
        yield made


@pytest.fixture
def page(bench: Bench) -> SimilarityPage:
    """The page itself."""
    return bench.page
