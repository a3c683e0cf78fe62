"""The first start."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.screens.welcome.page import WelcomePage
from mcp_tef import StoreError, TestCase
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, session_for, shown, until


class Unlucky(FakeEngine):
    """An engine that cannot open the sample."""

    async def open_sample(self) -> tuple[TestCase, ...]:
        raise StoreError("The disk is full.", hint="Make room.")


def test_one_click_opens_the_sample(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            page = WelcomePage(session)
            shown(page)
            opened: list[tuple[object, ...]] = []
            page.sample_opened.connect(opened.append)
            page.open_sample.click()
            await until(lambda: opened)
            assert len(opened[0]) == 4
            page.close()

    drive(work())


def test_enter_opens_the_sample_and_a_failure_says_what_to_do(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(Unlucky()) as (session, _):
            page = WelcomePage(session)
            shown(page)
            QTest.keyClick(page, Qt.Key.Key_Return)
            await until(lambda: page.failure.isVisible())
            assert page.failure.accessibleName() == "The disk is full. Make room."
            assert page.open_sample.isEnabled()
            page.close()

    drive(work())
