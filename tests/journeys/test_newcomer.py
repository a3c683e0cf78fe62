"""A newcomer's path in the real window: from the first start to the first verdict, in clicks and seconds."""

import asyncio
import time
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.shell.main_frame import MainFrame
from app.shell.process import open_engine
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Button
from mcp_tef import BatchEnded, Event, RunEnded
from tests.support.windows import drive, shown, until

MOST_CLICKS = 3


def test_the_first_verdict_is_two_clicks_from_the_first_start(qapp: QApplication, tmp_path: Path) -> None:
    async def work() -> None:
        began, clicks = time.monotonic(), 0
        frame, settings = MainFrame(Settings(None)), Settings(None)
        bench = WorkspaceController(frame, settings, open_engine)
        shown(frame)
        life = asyncio.create_task(bench.live(tmp_path / "first.mcp-tef"))
        heard: list[Event] = []
        await until(lambda: bench.window is not None)
        assert bench.session is not None
        bench.session.events.connect(heard.extend)
        for words in ("Open the sample", "Run 30 cases offline"):
            button = await wanted(frame, words)
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            clicks += 1
        await until(lambda: any(isinstance(event, RunEnded) for event in heard))
        print(f"first verdict after {clicks} clicks and {time.monotonic() - began:.1f} s")
        assert clicks <= MOST_CLICKS
        await until(lambda: any(isinstance(event, BatchEnded) for event in heard))
        bench.leave()
        await life
        frame.close()
        frame.deleteLater()

    drive(work())


async def wanted(frame: MainFrame, words: str) -> Button:
    """The button with these words, once it can be clicked."""

    def found() -> list[Button]:
        buttons = frame.findChildren(Button)
        return [one for one in buttons if one.text().startswith(words) and one.isVisible() and one.isEnabled()]

    await until(found)
    return found()[0]
