"""The servers screen in tests: the page, or one of its dialogs, over servers in memory."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.settings import Settings
from app.screens.servers.page import ServersPage
from app.widgets import FlowText, Label
from mcp_tef import TefError, Tool
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, session_for, shown, until

T = TypeVar("T")
W = TypeVar("W", bound=QWidget)
AsyncTest = Callable[..., Coroutine[Any, Any, None]]
Servers = Mapping[str, Sequence[Tool] | TefError]


@asynccontextmanager
async def page_over(fake: FakeEngine, settings: Settings | None = None) -> AsyncIterator[ServersPage]:
    """Show the page, with the core's events."""
    async with session_for(fake, settings) as (session, _):
        page = ServersPage(session)
        session.events.connect(lambda events: page.on_events(events, visible=True))
        shown(page)
        page.request_refresh()
        await page.settled()
        yield page
        await page.settled()
        page.close()
        page.deleteLater()


def within(
    context: Callable[[FakeEngine], AbstractAsyncContextManager[object]], servers: Servers | None = None
) -> Callable[[AsyncTest], Callable[..., None]]:
    """Run an async test inside a context over these servers, on a loop that serves Qt.

    The test's first parameter is the context's value; a parameter `fake` is the engine, others are fixtures.
    """

    async def entered(test: AsyncTest, given: dict[str, Any]) -> None:
        fake = FakeEngine(dict(servers or {}))
        if "fake" in inspect.signature(test).parameters:
            given["fake"] = fake
        async with context(fake) as value:
            await test(value, **given)

    def decorate(test: AsyncTest) -> Callable[..., None]:
        def run(qapp: QApplication, **given: Any) -> None:
            drive(entered(test, given))

        signature = inspect.signature(test)
        fixtures = [one for one in list(signature.parameters.values())[1:] if one.name != "fake"]
        parameters = [inspect.Parameter("qapp", inspect.Parameter.KEYWORD_ONLY), *fixtures]
        kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        run.__signature__ = signature.replace(parameters=kept, return_annotation=None)  # type: ignore[attr-defined]  # functions take one
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate


def visible_text(widget: QWidget) -> str:
    """Return everything that can be read in a widget."""
    parts: list[Label | FlowText] = [*widget.findChildren(Label), *widget.findChildren(FlowText)]
    return "\n".join(part.text() for part in parts if part.isVisible())


async def opened_dialog(page: QWidget, kind: type[W]) -> W:
    """Return the dialog of a kind, once it is visible."""
    found: list[W] = []

    def is_visible() -> bool:
        found[:] = [dialog for dialog in page.findChildren(kind) if dialog.isVisible()]
        return bool(found)

    await until(is_visible)
    return found[0]
