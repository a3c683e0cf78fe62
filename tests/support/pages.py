"""One page over a core in memory, for tests that are written as coroutines and run on the window's loop."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtWidgets import QApplication

from app.core_link.bridge import Bridge
from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.core_link.targets import Target
from tests.support.windows import drive, shown, until

if TYPE_CHECKING:
    from mcp_tef import Engine

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
