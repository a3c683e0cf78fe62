"""Runs pieces of the window in tests: a loop that serves Qt and asyncio, a core in memory, pictures to look at."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.bridge import Bridge
from app.core_link.session import Session
from app.core_link.settings import Settings
from app.dialogs.consent import ConsentSheet
from app.theme import Contrast, ThemeMode, theme
from tests.support.fake_engine import FakeEngine

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
PATIENCE = 30.0


def drive(work: Coroutine[Any, Any, T], mode: ThemeMode = ThemeMode.LIGHT, contrast: Contrast = Contrast.SYSTEM) -> T:
    """Run a coroutine on a loop that serves Qt; the tests that use it are plain functions."""
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    running = QApplication.instance() or QApplication(["tests"])
    QApplication.setQuitOnLastWindowClosed(False)
    theme().install(mode, contrast)
    loop = QEventLoop(running)
    complaints: list[str] = []
    loop.set_exception_handler(lambda _, context: complaints.append(str(context.get("exception") or context)))
    gc.disable()  # a Qt object must not die on the core's thread
    with loop:
        result: T = loop.run_until_complete(asyncio.wait_for(work, PATIENCE * 3))
    gc.collect()
    gc.enable()
    assert not complaints, complaints
    return result


@asynccontextmanager
async def session_for(
    fake: FakeEngine | None = None, settings: Settings | None = None
) -> AsyncIterator[tuple[Session, FakeEngine]]:
    """A session over a core in memory; closed in order at the end."""
    engine = fake or FakeEngine()
    session = Session(Bridge(opener(engine)), settings or Settings(None))
    session.bridge.start()
    try:
        yield session, engine
    finally:
        await session.close()
        session.activity.deleteLater()
        session.bridge.deleteLater()
        session.deleteLater()


def opener(fake: FakeEngine) -> "Callable[[], Awaitable[Engine]]":
    """What a bridge opens."""
    return fake.open


async def until(holds: Callable[[], object], seconds: float = PATIENCE, every: float = 0.005) -> None:
    """Wait until something holds, looking every so many seconds, and letting Qt and the loop work meanwhile."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not holds():
        assert loop.time() < deadline, "it never came true"
        await asyncio.sleep(every)


async def consent_for(page: QWidget, server: str) -> ConsentSheet:
    """The sheet that asks whether a server's program may be started, once it is there."""
    title = f"Start {server}?"

    def sheet() -> ConsentSheet | None:
        sheets = page.findChildren(ConsentSheet)
        return next((one for one in sheets if one.isVisible() and one.windowTitle() == title), None)

    await until(sheet)
    found = sheet()
    assert found is not None
    return found


def shown(widget: QWidget, width: int = 1280, height: int = 800) -> QWidget:
    """Show a widget at a size."""
    widget.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen, False)
    widget.resize(width, height)
    widget.show()
    return widget


def grab(widget: QWidget, file: Path | str, scale: float = 1.0) -> None:
    """Save a picture of a widget, drawn at a scale."""
    image = QImage(widget.size() * scale, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    widget.render(image)
    image.save(str(file))


def until_spent(seconds: float) -> None:
    """Compute for as long on this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
