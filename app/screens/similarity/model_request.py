"""Request to a model to rewrite descriptions: the form, its cost estimate, the progress and the result."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import CoreCall, ModelForm, WritingModels
from app.core_link.session import Page, Session
from app.dialogs.model_request import AskedFor, ModelSheet
from app.screens.similarity.presenter import SimilarityPresenter
from app.text.formatting import count, money
from mcp_tef import Estimate, ModelSettings, PairAdvice

Pairs = Sequence[tuple[int, int]]


def estimate_text(pairs: int, estimate: Estimate) -> str:
    """What it would take, before anything is spent; what cannot be known says so."""
    parts = [count(pairs, "pair")]
    parts += [f"about {count(estimate.tokens, 'token')}"] if estimate.tokens else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


class AdviceModelRequest(WritingModels):
    """What the form asks of the core."""

    def __init__(self, ask: CoreCall, presenter: SimilarityPresenter) -> None:
        super().__init__(ask)
        self._presenter = presenter

    async def estimate(self, pairs: Pairs, model: ModelSettings) -> str:
        """Return the cost of asking about these pairs in one line."""
        return estimate_text(len(pairs), await self._presenter.estimate(pairs, model))


@dataclass(slots=True)
class AdviceProgress:
    """How far the asking is."""

    model: str
    total: int
    done: int = 0
    failed: int = 0
    spent: float = 0.0

    def take(self, advice: PairAdvice) -> None:
        """Count one answer."""
        self.done += 1
        self.failed += advice.failure is not None
        self.spent += advice.cost_usd or 0.0

    @property
    def lead(self) -> str:
        """ "3 of 12 pairs"."""
        return f"{self.done:,} of {count(self.total, 'pair')}"

    @property
    def parts(self) -> list[str]:
        """What else is known while it goes on."""
        failed = [f"{self.failed:,} failed"] if self.failed else []
        return [*failed, *([money(self.spent)] if self.spent else []), f"{self.model} writes descriptions"]

    def result_text(self, *, stopped: bool) -> str:
        """What came of it, in one sentence."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = f" · {money(self.spent)}" if self.spent else ""
        made = f"{self.model} wrote about {count(self.done - self.failed, 'pair')}{failed}{cost}"
        return f"Stopped: {made}" if stopped else made


WHAT = (
    "A model reads both definitions and what makes them hard to tell apart, and writes new descriptions. Nothing is "
    "changed on any server: you copy or save what you like."
)


def model_dialog(
    session: Session, asking: AdviceModelRequest, pairs: Pairs, form: ModelForm, parent: QWidget
) -> ModelSheet:
    """The form, about these pairs."""
    wanted = AskedFor(
        title="Ask a model for descriptions",
        what=WHAT,
        button=lambda: f"Ask about {count(len(pairs), 'pair')}",
        cost=lambda model: asking.estimate(pairs, model),
    )
    return ModelSheet(session, asking, form, wanted, parent)


MODEL_KEY = "similarity.ask"


class AdviceRequests(QObject):
    """One asking at a time. `changed` tells that advice came in."""

    changed = Signal()
    _heard = Signal(object)

    def __init__(self, page: Page, presenter: SimilarityPresenter) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self.sheet: ModelSheet | None = None
        self._page = page
        self._presenter = presenter
        self._asking = AdviceModelRequest(page.session.call, presenter)
        self._progress: AdviceProgress | None = None
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
        kept = settings.get(MODEL_KEY, [])
        model, address = (str(part) for part in kept) if len(kept) == 2 else ("", "")
        form = ModelForm(model=model, base_url=address)
        self.sheet = model_dialog(self._page.session, self._asking, pairs, form, self._page)
        try:
            await self.sheet.done_with()
            chosen = self.sheet.agreed
        finally:
            self.sheet = None
        if chosen is not None:
            settings.set(MODEL_KEY, [chosen.label, chosen.base_url or ""])
            self._work = self._page.session.spawn(self._write(pairs, chosen))

    async def _write(self, pairs: Pairs, model: ModelSettings) -> None:
        progress = self._progress = AdviceProgress(model=model.label, total=len(pairs))
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
        self._page.session.toast(progress.result_text(stopped=stopped))

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
