"""The page of test cases over the sample."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from PySide6.QtWidgets import QApplication

from app.screens.cases.page import CasesPage
from tests.support.cases_page import Bench, a_bike_shop
from tests.support.fake_engine import FakeEngine
from tests.support.windows import page_bench


@pytest.fixture
def engine() -> Callable[[], Awaitable[FakeEngine]]:
    """Return the function that makes the engine."""
    return a_bike_shop


@pytest.fixture
async def bench(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[Bench]:
    """The page over an engine."""
    async with page_bench(CasesPage, fake) as made:
        yield made


@pytest.fixture
def page(bench: Bench) -> CasesPage:
    """The page itself."""
    return bench.page
