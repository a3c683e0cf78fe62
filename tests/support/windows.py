"""Qt windows and pages in tests: a loop that serves Qt and asyncio, over a core in memory."""

import asyncio
import gc
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QImage
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.bridge import Bridge
from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.core_link.targets import Target
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


P = TypeVar("P", bound=Page)
PageTest = Callable[..., Coroutine[Any, Any, None]]


class PageBench(Generic[P]):
    """Shows one page as the window would, and keeps what it says to the user and where it goes."""

    def __init__(self, make: Callable[[Session], P], open_core: "Callable[[], Awaitable[Engine]]") -> None:
        self.session = Session(Bridge(open_core), Settings(None))
        self.toasts: list[tuple[str, object]] = []
        self.failures: list[tuple[str, ...]] = []
        self.went: list[Target] = []
        self.session.toasted.connect(lambda text, undo: self.toasts.append((text, undo)))
        self.session.failed.connect(lambda *words: self.failures.append(words))
        self.session.navigated.connect(self.went.append)
        self._make = make
        self.page = make(self.session)
        self.session.events.connect(lambda events: self.page.on_events(events, visible=True))

    async def show(self) -> None:
        """Start the core, show the page, and wait until it has read everything."""
        QApplication.setQuitOnLastWindowClosed(False)
        self.session.bridge.start()
        await self._show(self.page)

    async def again(self) -> P:
        """The page as it is made at the next start, with what was remembered."""
        page = self._make(self.session)
        await self._show(page)
        return page

    @staticmethod
    async def _show(page: P) -> None:
        shown(page, 1104, 800)
        page.request_refresh()
        await page.settled()

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        await until(holds)

    async def close(self) -> None:
        """Close everything that opened, in order."""
        for widget in QApplication.topLevelWidgets():
            if widget is not self.page:
                widget.close()
        await self.page.finish()
        await self.session.close()
        self.session.events.disconnect()
        self.page.close()
        self.page.deleteLater()
        await asyncio.sleep(0)


def page_test(
    make: Callable[[Session], P], open_core: "Callable[[], Awaitable[Engine]]"
) -> Callable[[PageTest], Callable[..., None]]:
    """A decorator for `async def test(bench, …)`: gives it a bench with the page, and runs it on the window's loop."""

    async def opened(test: PageTest, given: dict[str, Any]) -> None:
        bench = PageBench(make, open_core)
        await bench.show()
        try:
            await test(bench, **given)
        finally:
            await bench.close()
        assert bench.failures == [], bench.failures

    def decorate(test: PageTest) -> Callable[..., None]:
        def run(qapp: QApplication, **given: Any) -> None:
            drive(opened(test, given))

        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name != "bench"]
        application = inspect.Parameter("qapp", inspect.Parameter.KEYWORD_ONLY)
        kept = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in fixtures]
        run.__signature__ = signature.replace(parameters=[application, *kept], return_annotation=None)  # type: ignore[attr-defined]  # functions take one
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate


def drop(window: QWidget, *files: Path) -> None:
    """Let files go over the window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    copy, keys = Qt.DropAction.CopyAction, (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(40, 40), copy, data, *keys))
    QApplication.sendEvent(window, QDropEvent(QPointF(40, 40), copy, data, *keys))


class HeldAsks:
    """`waiting` are the questions held back so far, oldest first; set one to have it asked."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self.holding = False
        self.waiting: list[asyncio.Event] = []
        self._came = asyncio.Event()

    async def __call__(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """What the core answers, once the question is let go."""
        if self.holding:
            gate = asyncio.Event()
            self.waiting.append(gate)
            self._came.set()
            await gate.wait()
        return await do(self._engine)

    async def held(self, number: int) -> None:
        """Wait until so many questions are held back."""
        while len(self.waiting) < number:
            self._came.clear()
            await self._came.wait()


def renew(application: QApplication) -> None:
    """Return to no window, an empty clipboard, the light theme in its usual size, and no exit with the last window.

    Windows that earlier tests left are deleted, not only hidden: a change of theme restyles every widget that exists,
    and with the widgets of the whole suite each of the later tests took a second.
    """
    for left in application.topLevelWidgets():
        left.hide()
        left.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    application.setQuitOnLastWindowClosed(False)
    application.setApplicationName("tests")
    application.setDesktopFileName("")
    application.clipboard().clear()
    theme().set_text_size(100)
    theme().install(ThemeMode.LIGHT)
