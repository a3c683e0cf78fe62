"""Page of an empty workspace."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Session
from app.core_link.workspaces import WorkspaceMenu
from app.screens.welcome.page import WelcomePage
from app.screens.welcome.presenter import program_rows
from app.widgets import Button, Label
from mcp_tef import StoreError, TestCase
from tests.support.configs import CLOCK, written
from tests.support.fake_engine import FakeEngine
from tests.support.windows import session_for, shown, until

DESK = {"url": "https://desk.test/mcp"}


async def _nowhere(_: object) -> None:
    """No other workspace is opened here."""


def welcome(session: Session) -> WelcomePage:
    """The page, over no workspaces that were opened before."""
    return WelcomePage(
        session, WorkspaceMenu(QWidget(), session.settings, _nowhere, _nowhere, _nowhere, lambda _: None)
    )


class Unlucky(FakeEngine):
    """An engine that cannot open the sample."""

    async def open_sample(self, name: str = "bike-shop") -> tuple[TestCase, ...]:
        raise StoreError("The disk is full.", hint="Make room.")


async def test_one_click_opens_the_sample(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = welcome(session)
        shown(page)
        opened: list[tuple[object, ...]] = []
        page.sample_opened.connect(opened.append)
        page.open_sample.click()
        await until(lambda: opened)
        assert len(opened[0]) == 4
        page.close()


async def test_the_second_sample_is_offered_as_a_link(qapp: QApplication) -> None:
    async with session_for(FakeEngine()) as (session, engine):
        page = welcome(session)
        shown(page)
        opened: list[tuple[object, ...]] = []
        page.sample_opened.connect(opened.append)
        (link,) = [one for one in page.findChildren(Button) if "reading room" in one.text()]
        link.click()
        await until(lambda: opened)
        assert engine.samples == ["reading-room"]
        page.close()


async def test_servers_of_other_programs_are_counted_and_offered(qapp: QApplication, tmp_path: Path) -> None:
    written(tmp_path / ".config" / "Claude" / "claude_desktop_config.json", {"mcpServers": {"a": CLOCK, "b": DESK}})
    written(tmp_path / ".codeium" / "windsurf" / "mcp_config.json", {"mcpServers": {"c": CLOCK, "d": {"command": "x"}}})
    async with session_for(FakeEngine(environment={"HOME": str(tmp_path)})) as (session, _):
        page = welcome(session)
        shown(page)
        wanted: list[str] = []
        page.servers_wanted.connect(wanted.append)
        await until(lambda: page.use_servers.text() == "Select from 3 servers…")
        assert {"Claude Desktop", "2 servers", "Windsurf", "1 server"} <= {
            label.text() for label in page.findChildren(Label) if label.isVisible()
        }
        page.use_servers.click()
        assert wanted == ["find"]
        page.close()


async def test_where_none_are_found_a_config_can_be_given(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        page = welcome(session)
        shown(page)
        wanted: list[str] = []
        page.servers_wanted.connect(wanted.append)
        await until(lambda: any(label.text() == "Found here" for label in page.findChildren(Label)))
        page.use_servers.click()
        assert wanted == ["import"]
        page.close()


@pytest.mark.parametrize(
    ("found", "shown_as"),
    [
        ([], []),
        ([("VS Code", 1), ("VS Code", 2), ("Cursor", 0)], [("VS Code", "3 servers")]),
        (
            [("A", 4), ("B", 3), ("C", 2), ("D", 1)],
            [("A", "4 servers"), ("B", "3 servers"), ("Other programs", "3 servers")],
        ),
    ],
)
def test_programs_take_no_more_lines_than_there_are(
    found: list[tuple[str, int]], shown_as: list[tuple[str, str]]
) -> None:
    assert program_rows(found) == shown_as


async def test_enter_opens_the_sample_and_a_failure_says_what_to_do(qapp: QApplication) -> None:
    async with session_for(Unlucky()) as (session, _):
        page = welcome(session)
        shown(page)
        QTest.keyClick(page, Qt.Key.Key_Return)
        await until(lambda: page.failure.isVisible())
        assert page.failure.accessibleName() == "The disk is full. Make room."
        assert page.open_sample.isEnabled()
        page.close()
