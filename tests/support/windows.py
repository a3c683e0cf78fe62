"""Qt windows and pages in tests: a loop that serves Qt and asyncio, over a core in memory."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
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
from app.dialogs.consent import ConsentDialog
from app.theme import ThemeMode, theme
from tests.support.fake_engine import FakeEngine

if TYPE_CHECKING:
    from mcp_tef import Engine


T = TypeVar("T")
W = TypeVar("W", bound=QWidget)
PATIENCE = 100.0
"""Seconds that a wait may take: a machine that others use, too, is slow. pytest's own limit of a test is 120."""
LEAST_OFTEN = 0.1


class TestApplication(QApplication):
    """An application whose events wait while the loop of a coroutine test stands still.

    pytest-qt has them processed between fixtures and tests, when no loop is there for the tasks that slots start.
    """

    loop: asyncio.AbstractEventLoop | None = None

    def processEvents(self, *arguments: Any) -> None:  # type: ignore[override]  # that is static
        """Process what waits, unless a coroutine test will."""
        if self.loop is None or self.loop.is_closed() or self.loop.is_running():
            super().processEvents(*arguments)


def loop_over_application() -> asyncio.AbstractEventLoop:
    """Return a new loop over the application."""
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    class Loop(QEventLoop):  # type: ignore[misc]  # it ships no types
        def run_until_complete(self, future: Awaitable[T]) -> T:
            """Run until it is done, and let later events wait; qasync processes them although it has stopped."""
            task = asyncio.ensure_future(future, loop=self)
            task.add_done_callback(lambda _: self.stop())
            self.run_forever()
            return task.result()

    application = QApplication.instance()
    assert isinstance(application, TestApplication)
    application.loop = loop = Loop(application)
    return loop


@asynccontextmanager
async def session_for(
    fake: FakeEngine | None = None, settings: Settings | None = None
) -> AsyncIterator[tuple[Session, FakeEngine]]:
    """A session over a core in memory; closed in order at the end."""
    engine = fake or FakeEngine()
    session = Session(Bridge(engine.open), settings or Settings(None))
    session.bridge.start()
    try:
        yield session, engine
    finally:
        await session.close()
        session.activity.deleteLater()
        session.bridge.deleteLater()
        session.deleteLater()


async def until(holds: Callable[[], object], seconds: float = PATIENCE, every: float = 0.005) -> None:
    """Wait until something holds, looking less and less often, and letting Qt and the loop work meanwhile."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not holds():
        assert loop.time() < deadline, f"it never came true: {_source(holds)}"
        await asyncio.sleep(every)
        every = min(1.25 * every, LEAST_OFTEN)


def _source(holds: Callable[[], object]) -> str:
    """Return the line of a condition, which its name alone ("<lambda>") would not tell."""
    return inspect.getsource(holds).strip() if inspect.isfunction(holds) else repr(holds)


async def opened_dialog(page: QWidget, kind: type[W]) -> W:
    """Return the dialog of a kind, once it is visible."""
    found: list[W] = []

    def is_visible() -> bool:
        found[:] = [dialog for dialog in page.findChildren(kind) if dialog.isVisible()]
        return bool(found)

    await until(is_visible)
    return found[0]


async def consent_for(page: QWidget, server: str) -> ConsentDialog:
    """The sheet that asks whether a server's program may be started, once it is there."""
    title = f"Start {server}?"

    def sheet() -> ConsentDialog | None:
        sheets = page.findChildren(ConsentDialog)
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


class PageBench(Generic[P]):
    """Shows one page as the window would, and keeps what it says to the user and where it goes."""

    def __init__(self, kind: Callable[[Session], P], session: Session, fake: FakeEngine) -> None:
        self._kind = kind
        self.page = kind(session)
        theme().apply_to(self.page)
        self.session = session
        self.fake = fake
        self.said: list[str] = []
        self.failed: list[str] = []
        self.gone: list[Target] = []
        session.toasted.connect(lambda text, _: self.said.append(text))
        session.failed.connect(lambda message, *_: self.failed.append(message))
        session.navigated.connect(self.gone.append)
        session.events.connect(lambda events: self.page.on_events(events, visible=True))

    async def open(self, width: int = 1104, height: int = 800) -> None:
        """Show the page, and wait until it has read everything."""
        shown(self.page, width, height)
        self.page.request_refresh()
        await self.page.settled()

    async def again(self) -> P:
        """Make the page as at the next start, with the settings that were saved."""
        bench = PageBench(self._kind, self.session, self.fake)
        await bench.open()
        return bench.page

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds, and fail at once if the user is told of a failure."""
        await until(lambda: holds() or self.failed)
        assert self.failed == [], self.failed

    async def close(self) -> None:
        """Close everything that opened, in order."""
        assert self.failed == [], self.failed
        for widget in QApplication.topLevelWidgets():
            if widget is not self.page:
                widget.close()
        await self.page.finish()
        self.session.events.disconnect()
        self.page.close()
        self.page.deleteLater()


@asynccontextmanager
async def page_bench(kind: Callable[[Session], P], fake: FakeEngine) -> AsyncIterator[PageBench[P]]:
    """Show a page over an engine in memory; close everything at the end."""
    async with session_for(fake) as (session, _):
        bench = PageBench(kind, session, fake)
        await bench.open()
        yield bench
        await bench.close()


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


def delete_windows(application: QApplication) -> None:
    """Delete all windows, so that what they hold can be collected with what the test has left.

    A hidden one would also be restyled by each later change of theme: with the widgets of the whole suite, that took
    a second each.
    """
    for left in application.topLevelWidgets():
        theme().forget(left)
        left.hide()
        left.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def renew(application: QApplication) -> None:
    """Return to an empty clipboard, the light theme in its usual size, and no exit with the last window.

    The theme styles parts of windows, as in the product: a sheet for the whole application triples the cost of a page.
    """
    application.setQuitOnLastWindowClosed(False)
    application.setApplicationName("tests")
    application.setDesktopFileName("")
    application.clipboard().clear()
    theme().set_text_size(100)
    theme().install(ThemeMode.LIGHT, application_wide=False)
