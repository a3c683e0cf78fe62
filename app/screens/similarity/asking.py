"""Asking a model to rewrite descriptions: who is asked, what is wrong with what was typed, what it would cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.screens.similarity.presenter import Ask, SimilarityPresenter
from app.text import count, money
from mcp_tef import Estimate, InputError, ModelInfo, ModelSettings, PairAdvice, Secret, parse_model

if TYPE_CHECKING:
    from mcp_tef import Engine

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeed:
    """Whether a key must be typed, for whom, and which variable would do."""

    provider: str = ""
    variable: str = ""
    needed: bool = False

    @property
    def hint(self) -> str:
        """Where else the key could come from."""
        return f"Kept in memory until you quit. The environment variable {self.variable} would do too."


def read_model(model: str, address: str) -> ModelSettings:
    """Who is to be asked; InputError says what is wrong."""
    if address.strip() and not address.strip().startswith(("http://", "https://")):
        raise InputError("The address does not start with http:// or https://.")
    if not model.strip():
        raise InputError("Choose a model, or write PROVIDER/NAME.")
    provider, name = parse_model(model)
    settings = ModelSettings(provider=provider, model=name, base_url=address.strip() or None)
    if settings.offline:
        raise InputError("The offline baseline ranks tools and cannot write. Choose a language model.")
    return settings


def estimate_words(pairs: int, estimate: Estimate) -> str:
    """What it would take, before anything is spent; what cannot be known says so."""
    parts = [count(pairs, "pair")]
    parts += [f"about {estimate.tokens:,} tokens"] if estimate.tokens else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


class Asking:
    """What the form asks of the core. Keys pass through and are kept by the core's key ring only."""

    def __init__(self, ask: Ask, presenter: SimilarityPresenter) -> None:
        self._ask = ask
        self._presenter = presenter

    async def models(self) -> tuple[ModelInfo, ...]:
        """Every model of the catalogue that can write."""
        known = await self._ask(lambda core: core.models.catalogue())
        return tuple(one for one in known if not ModelSettings(provider=one.provider, model=one.model).offline)

    async def key_need(self, model: ModelSettings) -> KeyNeed:
        """Whether the model needs a key that nobody has given yet."""
        return await self._ask(lambda core: _need(core, model))

    async def estimate(self, pairs: Pairs, model: ModelSettings) -> str:
        """What asking about these pairs would take, in one line."""
        analysis = self._presenter.analysis
        if analysis is None:
            return ""
        found = await self._ask(lambda core: core.recommend.estimate(analysis.similarity, tuple(pairs), model))
        return estimate_words(len(pairs), found)

    async def hold(self, provider: str, key: Secret, *, remember: bool) -> None:
        """Keep a key for the session; in the keychain only where that was asked for."""
        await self._ask(lambda core: _hold(core, provider, key, remember=remember))


async def _need(core: "Engine", model: ModelSettings) -> KeyNeed:
    variable = core.models.key_variable(model.provider)
    return KeyNeed(provider=model.provider, variable=variable, needed=core.models.needs_key(model))


async def _hold(core: "Engine", provider: str, key: Secret, *, remember: bool) -> None:
    core.keys.set(provider, key)
    if remember:
        core.keys.remember(provider, key)


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
