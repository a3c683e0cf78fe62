"""Progress of comparing tools and of downloading a model, in the window's activity bar."""

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from app.core_link.session import Page
from app.screens.similarity.notices import SimilarityNotices
from app.screens.similarity.presenter import SimilarityPresenter
from mcp_tef import EmbedderKind

SLOW_MS = 300
WHAT = "Comparing tools"


class ComparisonProgress(QObject):
    """`heard` may be emitted on any thread; `stop` is called when the user wants no more of it."""

    heard = Signal(float)

    def __init__(self, page: Page, stop: Callable[[], object]) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(lambda: self.bar.show_share(WHAT, 0.0))
        page.session.closing.connect(self._slow.stop)
        self.bar.cancel_wanted.connect(stop)
        self.heard.connect(self._show)

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
