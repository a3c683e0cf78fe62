"""The servers page over an engine in memory."""

from collections.abc import AsyncIterator

import pytest
from PySide6.QtWidgets import QApplication

from app.screens.servers.page import ServersPage
from tests.support.fake_engine import FakeEngine
from tests.support.servers_page import page_over


@pytest.fixture
async def page(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[ServersPage]:
    """The page, with the core's events."""
    async with page_over(fake) as made:
        yield made
