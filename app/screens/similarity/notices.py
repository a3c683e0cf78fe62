"""Notices above the map, texts shown while there is no map, and progress of comparisons and downloads."""

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.core_link.session import Page
from app.screens.similarity.analysis import GatheredTools
from app.screens.similarity.presenter import SimilarityPresenter
from app.text.formatting import count
from app.widgets import Action, EmptyState, Notice, column_layout
from mcp_tef import EmbedderKind


def missing_tools_text(gathered: GatheredTools) -> str:
    """Return which servers and tools are missing from the map; "" if none are."""
    parts = []
    if gathered.unreachable:
        names = ", ".join(one.server for one in gathered.unreachable[:3])
        more = len(gathered.unreachable) - 3
        parts.append(f"Not compared: {names}{f' and {more} more' if more > 0 else ''}.")
    if gathered.problems:
        parts.append(f"{count(len(gathered.problems), 'tool')} could not be read and {_were(gathered)} excluded.")
    return " ".join(parts)


def _were(gathered: GatheredTools) -> str:
    return "was" if len(gathered.problems) == 1 else "were"


def missing_tools_details(gathered: GatheredTools) -> str:
    """Return the reasons for missing tools, one per line."""
    missing = [f"{one.server}: {one.reason} {one.hint}".strip() for one in gathered.unreachable]
    aside = [f"{server}, {one.tool or 'a tool without a name'}: {one.reason}" for server, one in gathered.problems]
    return "\n".join([*missing, *aside])


class SimilarityNotices(QWidget):
    """Both notices."""

    servers_wanted = Signal()
    read_wanted = Signal()
    download_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.missing, self.embedder = Notice("info"), Notice("info")
        self._hidden: set[str] = set()
        column_layout(self, self.missing, self.embedder)

    def show_missing_tools(self, gathered: GatheredTools) -> None:
        """Say what is missing."""
        title = missing_tools_text(gathered)
        actions = [
            Action(text="Read the servers again", do=self.read_wanted.emit, kind="link"),
            Action(text="Go to Servers", do=self.servers_wanted.emit, kind="link"),
            Action(text="Hide", do=lambda: self._hide(self.missing, title), kind="link"),
        ]
        said = "" if title in self._hidden else title
        self.missing.show_message(said, "", actions, missing_tools_details(gathered))

    def show_embedder(self, notice: str | None, *, offer: bool) -> None:
        """Say that another embedder stood in; `offer` to download the local model."""
        said = notice if notice and notice not in self._hidden else ""
        fetch = Action(text="Download the local model", do=self.download_wanted.emit, kind="link")
        hide = Action(text="Hide", do=lambda: self._hide(self.embedder, notice or ""), kind="link")
        self.embedder.show_message(said, "", [fetch, hide] if offer else [hide])

    def _hide(self, notice: Notice, said: str) -> None:
        self._hidden.add(said)
        notice.clear()


ICON = "grid-four"
BUSY = (
    "Comparing your tools",
    "Each tool is compared with every other tool, as the servers listed them last.",
)


def show_comparing(empty: EmptyState) -> None:
    """Show that tools are being compared."""
    empty.set(ICON, *BUSY)


def show_stopped(empty: EmptyState, again: Callable[[], object]) -> None:
    """Show that the comparison was stopped."""

    def begin() -> None:
        show_comparing(empty)
        again()

    empty.set(ICON, "Comparison stopped", "No tools were compared.", [Action(text="Compare", do=begin, kind="primary")])


def show_too_few(empty: EmptyState, *, known: bool, actions: Sequence[Action]) -> None:
    """Show that fewer than two tools are known; `known` tells that there is one."""
    text = (
        "This page shows which tools are similar, why, and how to tell them apart. "
        f"{'Only one tool is' if known else 'No tools are'} known so far. A comparison needs two."
    )
    empty.set(ICON, "Nothing to compare yet", text, actions)


SLOW_MS = 300
WHAT = "Comparing tools"


class ComparisonProgress(QObject):
    """`reported` may be emitted on any thread; `stop` is called when the user cancels."""

    reported = Signal(float)

    def __init__(self, page: Page, stop: Callable[[], object]) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(lambda: self.bar.show_share(WHAT, 0.0))
        page.session.closing.connect(self._slow.stop)
        self.bar.cancel_wanted.connect(stop)
        self.reported.connect(self._show)

    def begin(self) -> None:
        """Start; the bar appears if the comparison takes long."""
        self._slow.start()

    def end(self) -> None:
        """Stop and hide the bar."""
        self._slow.stop()
        self.bar.clear()

    def _show(self, share: float) -> None:
        if not self.bar.isHidden():
            self.bar.show_share(WHAT, share)


class ModelDownloadTask(QObject):
    """One download at a time; when it is done, tools are compared again."""

    _heard = Signal(float)

    def __init__(self, page: Page, presenter: SimilarityPresenter, notices: SimilarityNotices) -> None:
        super().__init__(page)
        self._page = page
        self._presenter = presenter
        self._notices = notices
        self._work: asyncio.Task[None] | None = None
        self.bar = page.session.activity.add()
        self.bar.cancel_wanted.connect(self.stop)
        self._heard.connect(self._show)

    @property
    def busy(self) -> bool:
        """True while a model is downloaded."""
        return self._work is not None

    def start(self) -> None:
        """Begin, unless one is under way."""
        if self._work is None:
            self._work = self._page.session.spawn(self._fetch())

    def stop(self) -> None:
        """Stop the download; partial files are removed."""
        if self._work is not None:
            self._work.cancel()

    async def _fetch(self) -> None:
        self._notices.embedder.clear()
        self._show(0.0)
        try:
            await self._presenter.download(self._model(), self._heard.emit)
            self._page.session.toast("Downloaded the local model")
            await self._presenter.load(anew=True)
        finally:
            self._work = None
            self.bar.clear()
            self._page.request_refresh()

    def _model(self) -> str:
        """Return the requested model; "" for the default one."""
        choice = self._presenter.request.choice
        return choice.target if choice is not None and choice.kind is EmbedderKind.FASTEMBED else ""

    def _show(self, share: float) -> None:
        if self._work is not None:
            self.bar.show_share("Downloading the local model", share)
