"""What screens share: the core, navigation, running calls, what is stale, what can be undone."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.bridge import Bridge
from app.commands import Command, Commands
from app.settings import Settings
from app.text import error_words
from app.widgets import ActivityBar, PageHeader
from mcp_tef import Event

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
LOG = logging.getLogger("app.session")
MOST_UNDOS = 50


class Undo:
    """One thing that can be taken back."""

    def __init__(self, text: str, do: Callable[[], object]) -> None:
        self.text = text
        self.do = do


class Session(QObject):
    """One window's work with one workspace.

    `navigated(screen, target)` asks the window for a screen; `events(tuple)` are the core's, in order;
    `toasted(text, undo | None)` and `failed(message, hint, details)` are words for the user; at `closing`
    whoever has a timer stops it.
    """

    navigated = Signal(str, object)
    events = Signal(tuple)
    toasted = Signal(str, object)
    failed = Signal(str, str, str)
    closing = Signal()

    def __init__(self, bridge: Bridge, settings: Settings, commands: Commands | None = None) -> None:
        super().__init__()
        self.bridge = bridge
        self.settings = settings
        self.commands = commands or Commands()
        self.activity = ActivityBar()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._undos: list[Undo] = []
        self._closed = False
        bridge.events.connect(self.events)

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """Await something of the core."""
        return await self.bridge.call(do)

    async def value(self, do: "Callable[[Engine], T]") -> T:
        """What the core answers at once, on its own thread."""
        return await self.bridge.value(do)

    def spawn(self, work: Coroutine[Any, Any, T], of: QObject | None = None) -> "asyncio.Task[T]":
        """Do work beside the window; an error that nobody catches is shown and logged.

        Work `of` a dialog ends with it: nothing may come back to widgets that are gone.
        """
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        if of is not None:
            of.destroyed.connect(lambda: task.cancel())
        return task

    def do(self, what: Callable[[], object]) -> None:
        """Do something that may be a plain function or give something to await."""
        result = what()
        if inspect.iscoroutine(result):
            self.spawn(result)

    def go(self, screen: str, target: object = None) -> None:
        """Show a screen, with something on it."""
        self.navigated.emit(screen, target)

    def toast(self, text: str, undo: Callable[[], object] | None = None) -> None:
        """Say what was done; `undo`, plain or async, takes it back, from the toast or with Ctrl+Z."""
        if undo is None:
            self.toasted.emit(text, None)
            return
        entry = self.remember(text, undo)
        self.toasted.emit(text, lambda: self.take_back(entry))

    def remember(self, text: str, undo: Callable[[], object]) -> Undo:
        """Let something be taken back with Ctrl+Z, without a word about it."""
        entry = Undo(text, undo)
        self._undos = [*self._undos[1 - MOST_UNDOS :], entry]
        return entry

    def forget(self, entry: Undo) -> None:
        """There is nothing to take back any more."""
        if entry in self._undos:
            self._undos.remove(entry)

    def can_undo(self) -> bool:
        """Whether there is something to take back."""
        return bool(self._undos)

    def undo(self) -> None:
        """Take back the last thing."""
        if self._undos:
            self.take_back(self._undos[-1])

    def take_back(self, entry: Undo) -> None:
        """Take back one thing, once."""
        if entry in self._undos:
            self._undos.remove(entry)
            self.do(entry.do)

    def show_error(self, error: BaseException) -> None:
        """Tell the user of an error, in words."""
        words = error_words(error)
        self.failed.emit(words.message, words.hint, words.details)

    async def close(self) -> None:
        """Stop every task and the core."""
        self._closed = True
        self.closing.emit()
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.bridge.stop()

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None or self._closed:
            return
        LOG.info("A call failed: %s", error, exc_info=error)
        self.show_error(error)


class Page(QWidget):
    """A screen: a header over a body. The window shows it, gives it events and asks for its commands.

    It is asked to `refresh` when first shown, when shown again after it went stale, and once per batch
    of events while it is visible; calls that come meanwhile are joined into one more.
    """

    badge_changed = Signal(int)

    def __init__(self, session: Session, *, key: str, title: str) -> None:
        super().__init__()
        self.session = session
        self.key = key
        self.title = title
        self.badge = 0
        self.stale = True
        self._refreshing: asyncio.Task[None] | None = None
        self._again = False
        self.setProperty("pane", "surface")
        self.setAccessibleName(title)
        self.header = PageHeader(title)
        self.body = QVBoxLayout()
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addLayout(self.body, 1)

    async def refresh(self) -> None:
        """Fetch and show what belongs here."""

    def concerns(self, event: Event) -> bool:
        """Whether an event makes what is shown stale."""
        return True

    def receive(self, events: tuple[Event, ...]) -> bool:
        """Take events while visible; True where that was enough and no refresh is needed."""
        return False

    def arrive(self, target: object) -> None:
        """Show something in particular; comes after the page is visible."""

    def leave(self) -> None:
        """Another screen is shown now."""

    async def finish(self) -> None:
        """The window is about to close: put away what is not saved."""

    def commands(self) -> Sequence[Command]:
        """What can be done here; the window offers them while the page is visible."""
        return ()

    def first_focus(self) -> QWidget | None:
        """What has the keyboard when the page is shown."""
        return None

    def set_badge(self, number: int) -> None:
        """How much here needs a look."""
        if number != self.badge:
            self.badge = number
            self.badge_changed.emit(number)

    def take(self, events: tuple[Event, ...], *, visible: bool) -> None:
        """What the window calls with every batch of events."""
        mine = tuple(event for event in events if self.concerns(event))
        if not mine:
            return
        if not visible:
            self.stale = True
        elif not self.receive(mine):
            self.request_refresh()

    def request_refresh(self) -> None:
        """Refresh soon; many requests become at most one more refresh."""
        self.stale = False
        if self._refreshing is not None and not self._refreshing.done():
            self._again = True
            return
        self._refreshing = self.session.spawn(self._refresh_until_quiet())

    async def settled(self) -> None:
        """Wait until no refresh is under way."""
        while self._refreshing is not None and not self._refreshing.done():
            await asyncio.wait({self._refreshing})

    def focus_search(self) -> None:
        """Put the keyboard into the search field, if there is one."""
        if self.header.search is not None:
            self.header.search.setFocus()
            self.header.search.selectAll()

    async def _refresh_until_quiet(self) -> None:
        await self.refresh()
        while self._again:
            self._again = False
            await self.refresh()
