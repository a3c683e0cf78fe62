"""Asking a model to rewrite descriptions: what it would cost, and how it goes."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core_link.model_requests import Ask, ModelAsking
from app.screens.similarity.presenter import SimilarityPresenter
from app.text.formatting import count, money
from mcp_tef import Estimate, ModelSettings, PairAdvice

Pairs = Sequence[tuple[int, int]]


def estimate_words(pairs: int, estimate: Estimate) -> str:
    """What it would take, before anything is spent; what cannot be known says so."""
    parts = [count(pairs, "pair")]
    parts += [f"about {count(estimate.tokens, 'token')}"] if estimate.tokens else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


class Asking(ModelAsking):
    """What the form asks of the core."""

    def __init__(self, ask: Ask, presenter: SimilarityPresenter) -> None:
        super().__init__(ask)
        self._presenter = presenter

    async def estimate(self, pairs: Pairs, model: ModelSettings) -> str:
        """What asking about these pairs would take, in one line."""
        analysis = self._presenter.analysis
        if analysis is None:
            return ""
        found = await self._ask(lambda core: core.recommend.estimate(analysis.similarity, tuple(pairs), model))
        return estimate_words(len(pairs), found)


@dataclass(slots=True)
class Progress:
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

    def farewell(self, *, stopped: bool) -> str:
        """What came of it, in one sentence."""
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = f" · {money(self.spent)}" if self.spent else ""
        made = f"{self.model} wrote about {count(self.done - self.failed, 'pair')}{failed}{cost}"
        return f"Stopped: {made}" if stopped else made
