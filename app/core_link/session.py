"""Everything that screens share: the core, navigation, running calls, undo; and the base of every screen's page."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QWidget
from shiboken6 import isValid

from app.core_link.background_tasks import BackgroundTasks
from app.core_link.bridge import Bridge
from app.core_link.commands import Command, Commands
from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.preferences import Preferences
from app.core_link.refresh import LATER_MS, Refresh
from app.core_link.settings import Settings
from app.core_link.targets import Target
from app.core_link.undo import UndoHistory, UndoQueue, UndoRequest, UndoStep
from app.text.formatting import error_text
from app.widgets import Activities, ListTable, LoadingCover, PageHeader, Spoken, column_layout
from mcp_tef import DetectedFile, Event

if TYPE_CHECKING:
    from mcp_tef import Engine

MOST_SAID = 50
SLOW_S = 0.4
T = TypeVar("T")
LOG = logging.getLogger("app.core_link.session")


@dataclass(frozen=True, slots=True)
class Message:
    """A message that the window showed, and its time."""

    at: datetime
    text: str


class Session(QObject):
    """One window's work with one workspace.

    `navigated(target)` asks the window to show a target; `events(tuple)` are the core's, in order;
    `toasted(text, undo | None)` and `failed(message, hint, details)` are words for the user; `help_wanted(page)` asks
    for a page of the help; at `closing`, timers stop.
    """

    navigated = Signal(object)
    events = Signal(tuple)
    toasted = Signal(str, object)
    failed = Signal(str, str, str)
    help_wanted = Signal(str)
    closing = Signal()
    configured = Signal()

    def __init__(self, bridge: Bridge, settings: Settings, commands: Commands | None = None) -> None:
        super().__init__()
        self.bridge = bridge
        self.settings = settings
        self.preferences = Preferences(settings)
        self.workspace = ""  # path of the open file; set before the pages are made, which save their views by it
        self.commands = commands or Commands()
        self.activity = Activities()
        self._tasks = BackgroundTasks(self._on_failure)
        self._undos = UndoHistory()
        self._undo_queue = UndoQueue(self._undos, self.spawn, self._report_undo)
        self.messages: list[Message] = []
        self.toasted.connect(lambda text, _undo: self._note(text))
        self.failed.connect(lambda message, hint, _details: self._note(f"{message} {hint}".strip()))
        self._closed = False
        bridge.events.connect(self.events)

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        """Await a call of the core."""
        return await self.bridge.call(do)

    async def call_long(
        self, what: str, do: "Callable[[Engine], Awaitable[T]]", *, can_cancel: bool = True, slow_s: float = SLOW_S
    ) -> T:
        """Await a call of the core; a slow one appears at the bottom of the window and can be cancelled."""
        work, bar = asyncio.ensure_future(self.call(do)), self.activity.add()
        bar.cancel_wanted.connect(work.cancel)
        show = partial(bar.set_state, None, what, can_pause=False, can_cancel=can_cancel)
        late = asyncio.get_running_loop().call_later(slow_s, show)
        try:
            return await work
        finally:
            late.cancel()
            self.activity.drop(bar)

    async def value(self, do: "Callable[[Engine], T]") -> T:
        """Return what the core answers without waiting, as computed on its thread."""
        return await self.bridge.value(do)

    def spawn(self, work: Coroutine[Any, Any, T], of: QObject | None = None) -> "asyncio.Task[T]":
        """Run a task beside the window; an error that nobody catches is shown and logged.

        With `of` a dialog, the task ends with it: nothing may come back to widgets that are gone.
        """
        return self._tasks.spawn(work, of)

    def do(self, what: Callable[[], object]) -> None:
        """Call a plain or async function."""
        result = what()
        if inspect.iscoroutine(result):
            self.spawn(result)

    async def configure(self) -> None:
        """Save the preferences and apply them to the core at once; `configured` tells the screens."""
        self.settings.save()
        core = self.preferences.core()
        await self.value(lambda engine: engine.configure(core))
        self.configured.emit()

    def go(self, target: Target) -> None:
        """Show a target on its screen."""
        self.navigated.emit(target)

    def toast(
        self,
        text: str,
        undo: Callable[[], object] | None = None,
        again: Callable[[], object] | None = None,
        *,
        action: str = "",
    ) -> None:
        """Show a short message.

        `undo`, plain or async, reverses the action, from the toast or with Ctrl+Z; `again` redoes it. `action` is its
        name after "Undo": "remove files".
        """
        if undo is None:
            self.toasted.emit(text, None)
            return
        step = self.remember(action or f"“{text}”", undo, again)
        self.toasted.emit(text, lambda: self.take_back(step))

    def remember(self, action: str, undo: Callable[[], object], again: Callable[[], object] | None = None) -> UndoStep:
        """Add a step to the undo history without a message."""
        step = UndoStep(action, undo, again)
        self._undos.add(step)
        return step

    def keep(self, step: UndoStep, *, fresh: bool = True) -> None:
        """Add a ready-made step to the undo history; one that is not `fresh` keeps what can be redone."""
        self._undos.add(step, fresh=fresh)

    def forget(self, step: UndoStep) -> None:
        """Remove a step from the undo history."""
        self._undos.forget(step)

    def can_undo(self) -> bool:
        """Return True if there is a step to undo."""
        return self._undos.last() is not None

    def can_redo(self) -> bool:
        """Return True if there is a step to redo."""
        return self._undos.following() is not None

    def undo_words(self) -> str:
        """Return the text of the undo command: "Undo remove files"."""
        return _words("Undo", self._undos.last())

    def redo_words(self) -> str:
        """Return the text of the redo command."""
        return _words("Redo", self._undos.following())

    def undo(self) -> None:
        """Undo the last step, after those that are being undone, and say so once that is done."""
        if (step := self._undos.last()) is not None:
            self._undo_queue.add(self._undos.back(step))

    def redo(self) -> None:
        """Redo the step that was undone last, and say so once that is done."""
        self._undo_queue.add(self._undos.again())

    def take_back(self, step: UndoStep) -> None:
        """Undo one step, once, without a message."""
        self._undo_queue.add(self._undos.back(step, aloud=False))

    async def undone(self) -> None:
        """Wait until nothing is being undone or redone."""
        await self._undo_queue.idle()

    def _report_undo(self, turn: UndoRequest, error: BaseException | None) -> None:
        verb, action = "undo" if turn.back else "redo", turn.step.name
        if isinstance(error, asyncio.CancelledError):
            self.toasted.emit(f"Stopped: {verb} {action}", None)
        elif error is not None:
            LOG.info("Could not %s: %s", verb, error, exc_info=error)
            words = error_text(error)
            self.failed.emit(f"Could not {verb}: {action}. {words.message}", words.hint, words.details)
        elif turn.shows_message:
            self.toasted.emit(f"{'Undone' if turn.back else 'Done again'}: {action}", None)

    def _note(self, text: str) -> None:
        self.messages = [*self.messages[1 - MOST_SAID :], Message(datetime.now(UTC), text)]

    def show_error(self, error: BaseException) -> None:
        """Show an error to the user."""
        words = error_text(error)
        self.failed.emit(words.message, words.hint, words.details)

    async def begun(self) -> None:
        """Wait until every task that was started so far has ended, except the caller's."""
        await self._tasks.begun()

    async def close(self) -> None:
        """Stop every task and the core."""
        self._closed = True
        self.closing.emit()
        await self._tasks.end()
        await self.bridge.stop()

    def _on_failure(self, error: BaseException) -> None:
        if not self._closed:
            LOG.info("A call failed: %s", error, exc_info=error)
            self.show_error(error)


def _words(verb: str, step: UndoStep | None) -> str:
    return f"{verb} {step.name}" if step else verb


class Page(QWidget):
    """A screen: a header over a body. The window shows it, gives it events and asks for its commands.

    The window asks it to `refresh` when it is first shown, when it is shown again after going stale, and once per batch
    of events while it is visible; requests during a refresh are joined into one more.
    """

    SPOKEN_AS = Spoken.Grouping

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
        self._loaded = False
        self._later = QTimer(self, singleShot=True, interval=LATER_MS)
        self._later.timeout.connect(self.request_refresh)
        session.closing.connect(self._later.stop)
        self.setProperty("pane", "surface")
        self.setAccessibleName(title)
        self.header = PageHeader(title)
        self.header.offer_help(lambda: session.help_wanted.emit(key))
        self.body = column_layout()
        column = column_layout(self, self.header)
        content = QGridLayout()  # the cover lies over the body, which stays visible and keeps the keyboard
        content.addLayout(self.body, 0, 0)
        self.loading = LoadingCover(self)
        content.addWidget(self.loading, 0, 0)
        column.addLayout(content, 1)

    async def refresh(self) -> None:
        """Fetch and show the page's data."""

    def loading_text(self) -> str:
        """Return the text that stands for content that was never loaded; "" if there is some to show."""
        return "" if self._loaded else f"Loading {self.title.lower()}…"

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes this page out of date."""
        return Refresh.NOW

    def receive(self, events: tuple[Event, ...]) -> bool:
        """Show what the events carry while visible; return True if no refresh is needed."""
        return False

    def open_target(self, target: Target) -> None:
        """Show a target; called after the page is visible."""

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        """Preview the import of dropped or pasted files, and return the result for each; the page is visible."""
        return [DropOutcome(arrival.name, DropStatus.LEFT, "") for arrival in arrivals]

    def current_target(self) -> Target | None:
        """Return what is shown now, as a target for `open_target`; None for the screen as a whole."""
        return None

    def leave(self) -> None:
        """React to another screen being shown."""

    def unsaved(self) -> int:
        """Return the number of edits here that cannot be saved as they are."""
        return 0

    async def finish(self) -> None:
        """Save or drop what is unsaved, before the window closes."""

    def commands(self) -> Sequence[Command]:
        """Return the commands that the window offers while the page is visible."""
        return ()

    def first_focus(self) -> QWidget | None:
        """Return the widget that has the keyboard when the page is shown."""
        return None

    def restore_layout(self, key: str, table: ListTable) -> None:
        """Restore the layout of a table, and save later changes."""
        table.restore_layout(self.session.settings.get(key, {}))
        table.layout_changed.connect(lambda: self.session.settings.set(key, table.layout_state()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return the focus to the page's main widget on Esc, and on Down in the search field."""
        back = event.key() == Qt.Key.Key_Escape or (event.key() == Qt.Key.Key_Down and self._in_search())
        widget = self.first_focus() if back else None
        if widget is not None and not widget.hasFocus():
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def _in_search(self) -> bool:
        return self.header.search is not None and self.header.search.hasFocus()

    def set_badge(self, number: int) -> None:
        """Show the number of items that need attention."""
        if number != self.badge:
            self.badge = number
            self.badge_changed.emit(number)

    def on_events(self, events: tuple[Event, ...], *, visible: bool) -> None:
        """Refresh now, later or when shown again, as a batch of events asks for."""
        urgencies = [self.handle(event) for event in events]
        relevant = tuple(event for event, urgency in zip(events, urgencies, strict=True) if urgency)
        if not relevant:
            return
        if not visible:
            self.stale = True
        elif self.receive(relevant):
            return
        elif Refresh.NOW in urgencies:
            self.request_refresh()
        elif not self._later.isActive():
            self._later.start()

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
        await self._load()
        while self._again:
            self._again = False
            await self._load()

    async def _load(self) -> None:
        if text := self.loading_text():
            self.loading.show_soon(text)
        try:
            await self.refresh()
        finally:
            self._loaded = True
            if isValid(self.loading):
                self.loading.remove()
