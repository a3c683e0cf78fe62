"""Has a model write about pairs, beside the window: the form, the progress, the end."""

import asyncio
from contextlib import suppress

from PySide6.QtCore import QObject, Signal

from app.core_link.model_requests import AskForm
from app.core_link.session import Page
from app.dialogs.model_request import ModelSheet
from app.screens.similarity.ask_sheet import ask_sheet
from app.screens.similarity.asking import Asking, Pairs, Progress
from app.screens.similarity.presenter import SimilarityPresenter
from mcp_tef import ModelSettings, PairAdvice

KEPT = "similarity.ask"


class Advising(QObject):
    """One asking at a time. `changed` tells that advice came in."""

    changed = Signal()
    _heard = Signal(object)

    def __init__(self, page: Page, presenter: SimilarityPresenter) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self.sheet: ModelSheet | None = None
        self._page = page
        self._presenter = presenter
        self._asking = Asking(page.session.call, presenter)
        self._progress: Progress | None = None
        self._work: asyncio.Task[None] | None = None
        self._heard.connect(self._take)
        self.bar.cancel_wanted.connect(self.stop)

    @property
    def busy(self) -> bool:
        """Whether a model is being asked."""
        return self._progress is not None

    def stop(self) -> None:
        """End the asking; what was heard is kept."""
        if self._work is not None:
            self._work.cancel()

    async def ask(self, pairs: Pairs) -> None:
        """Show the form, then have the model write."""
        if self.busy or self.sheet is not None or not pairs:
            return
        settings = self._page.session.settings
        kept = settings.get(KEPT, [])
        model, address = (str(part) for part in kept) if len(kept) == 2 else ("", "")
        form = AskForm(model=model, base_url=address)
        self.sheet = ask_sheet(self._page.session, self._asking, pairs, form, self._page)
        try:
            await self.sheet.done_with()
            chosen = self.sheet.agreed
        finally:
            self.sheet = None
        if chosen is not None:
            settings.set(KEPT, [chosen.label, chosen.base_url or ""])
            self._work = self._page.session.spawn(self._write(pairs, chosen))

    async def _write(self, pairs: Pairs, model: ModelSettings) -> None:
        progress = self._progress = Progress(model=model.label, total=len(pairs))
        self._show()
        stopped = True
        try:
            with suppress(asyncio.CancelledError):
                await self._presenter.advise(pairs, model, self._heard.emit)
                stopped = False
        finally:
            self._progress = self._work = None
            self.bar.clear()
        self.changed.emit()
        self._page.session.toast(progress.farewell(stopped=stopped))

    def _take(self, advice: PairAdvice) -> None:
        if self._progress is not None:
            self._progress.take(advice)
            self._show()
        self.changed.emit()

    def _show(self) -> None:
        progress = self._progress
        if progress is not None:
            share = progress.done / max(1, progress.total)
            self.bar.set_state(share, progress.lead, progress.parts, can_pause=False)
