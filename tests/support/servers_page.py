"""The servers screen in tests: the page, or one of its dialogs, over servers in memory."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from PySide6.QtWidgets import QWidget

from app.core_link.settings import Settings
from app.screens.servers.page import ServersPage
from app.widgets import FlowText, Label
from mcp_tef import Event, TefError, Tool
from tests.support.fake_engine import FakeEngine
from tests.support.windows import session_for, shown

T = TypeVar("T")
W = TypeVar("W", bound=QWidget)
Servers = Mapping[str, Sequence[Tool] | TefError]


@asynccontextmanager
async def page_over(fake: FakeEngine, settings: Settings | None = None) -> AsyncIterator[ServersPage]:
    """Show the page, with the core's events."""
    async with session_for(fake, settings) as (session, _):
        page = ServersPage(session)

        def hear(events: tuple[Event, ...]) -> None:
            page.on_events(events, visible=True)

        session.events.connect(hear)
        shown(page)
        page.request_refresh()
        await page.settled()
        yield page
        session.events.disconnect(hear)  # late events would start a refresh that nobody waits for
        await page.settled()
        page.close()
        page.deleteLater()


def visible_text(widget: QWidget) -> str:
    """Return everything that can be read in a widget."""
    parts: list[Label | FlowText] = [*widget.findChildren(Label), *widget.findChildren(FlowText)]
    return "\n".join(part.text() for part in parts if part.isVisible())
