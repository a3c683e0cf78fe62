"""A newcomer's path in the real window: from the first start to the first verdict, in clicks and seconds."""

import time
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.shell.main_frame import MainFrame
from app.widgets import Button
from mcp_tef import BatchEnded, Event, RunEnded
from tests.support.windows import until
from tests.support.workbench import workbench

MOST_CLICKS = 3


async def test_the_first_verdict_is_two_clicks_from_the_first_start(qapp: QApplication, tmp_path: Path) -> None:
    began, clicks = time.monotonic(), 0
    heard: list[Event] = []
    async with workbench(workspace=tmp_path / "first.mcp-tef") as bench:
        assert bench.session is not None
        bench.session.events.connect(heard.extend)
        for words in ("Open the sample", "Run 30 cases offline"):
            button = await wanted(bench.frame, words)
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
            clicks += 1
        await until(lambda: any(isinstance(event, RunEnded) for event in heard))
        print(f"first verdict after {clicks} clicks and {time.monotonic() - began:.1f} s")
        assert clicks <= MOST_CLICKS
        await until(lambda: any(isinstance(event, BatchEnded) for event in heard))


async def wanted(frame: MainFrame, words: str) -> Button:
    """The button with these words, once it can be clicked."""

    def found() -> list[Button]:
        buttons = frame.findChildren(Button)
        return [one for one in buttons if one.text().startswith(words) and one.isVisible() and one.isEnabled()]

    await until(found)
    return found()[0]
