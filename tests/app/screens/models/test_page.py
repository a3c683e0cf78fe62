"""The frame of the Models screen: tabs, commands and targets."""

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowModels
from app.screens.models.page import ModelsPage
from app.screens.models.tab import TABS
from tests.support.fake_engine import FakeEngine
from tests.support.windows import page_bench


async def test_every_tab_is_reached_by_command_and_target_and_remembered(qapp: QApplication) -> None:
    async with page_bench(ModelsPage, FakeEngine()) as bench:
        page = bench.page
        for spec in reversed(TABS):
            next(one for one in page.commands() if one.id == f"models.{spec.key}").do()
            await page.settled()
            assert page.stack.currentWidget() is page.tab(spec.key)
            assert page.first_focus() is not None
        page.open_target(ShowModels("clients", "cursor"))
        await page.settled()
        assert page.current_target() == ShowModels("clients", "cursor")
        again = await bench.again()
        assert again.tabs.current() == "clients"
