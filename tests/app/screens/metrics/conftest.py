"""The metrics page on a qasync loop, over an engine in memory with a past."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core_link.settings import Settings
from app.screens.metrics.filters import Dimension
from app.screens.metrics.page import MetricsPage
from mcp_tef import ModelSettings
from tests.support.fake_engine import FakeEngine
from tests.support.run_factories import SMALL, past_batch, past_runs, remember
from tests.support.windows import PageBench, session_for


class Desk(PageBench[MetricsPage]):
    """The page with a past, to be used as a user would."""

    async def filter(self, dimension: Dimension, value: str) -> None:
        """Choose a value of a filter."""
        self.page.filters.toggle(dimension, value)
        await self.page.settled()

    def button(self, start: str) -> QPushButton:
        """The visible button whose text starts so."""
        found = [one for one in self.page.findChildren(QPushButton) if one.text().startswith(start) and one.isVisible()]
        assert found, f"there is no button {start!r}"
        return found[0]

    def tools(self) -> list[list[str]]:
        """The table of tools as text."""
        rows = self.page.overview.tools.rows
        return [[cell.text for cell in rows.row(number).cells] for number in range(rows.rowCount())]


def past(fake: FakeEngine) -> None:
    """Two batches of one suite, and one of the baseline."""
    newer, older, baseline = past_batch(1), past_batch(2), past_batch(3, "Other", models=(ModelSettings().label,))
    better = {**SMALL, "search_code": {"search_code": 15, "search_files": 4, None: 1}}
    remember(
        fake,
        (newer, past_runs(newer, better)),
        (older, past_runs(older, SMALL)),
        (baseline, past_runs(baseline, SMALL, model=ModelSettings().label, repeats=2)),
    )


@asynccontextmanager
async def metrics_page(settings: Settings | None = None, *, empty: bool = False) -> AsyncIterator[Desk]:
    """The page over a past, or over nothing."""
    fake = FakeEngine()
    if not empty:
        past(fake)
    async with session_for(fake, settings) as (session, _):
        made = Desk(MetricsPage, session, fake)
        await made.open()
        yield made
        await made.close()


@pytest.fixture
async def desk(qtbot: QtBot) -> AsyncIterator[Desk]:
    """The page over a past."""
    async with metrics_page() as made:
        yield made
