"""Asking a model for its opinion: what is typed, what is wrong with it, what it would cost, and how it goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from app.screens.quality.presenter import Ask
from app.screens.quality.words import tokens
from app.text import count, duration, money
from mcp_tef import Estimate, InputError, ModelInfo, ModelSettings, Secret, ToolQuality, ToolSet, parse_model

if TYPE_CHECKING:
    from mcp_tef import Engine

KEPT: Final = ("model", "base_url")


class Blank(StrEnum):
    """A part of the form that can be wrong."""

    MODEL = "model"
    BASE_URL = "base_url"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class AskForm:
    """What is typed."""

    model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """Who would be asked, or what is wrong, a sentence a field."""

    model: ModelSettings | None
    problems: Mapping[Blank, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeed:
    """Whether a key must be typed, for whom, and which variable would do."""

    provider: str = ""
    variable: str = ""
    needed: bool = False


def read(form: AskForm) -> Reading:
    """Understand a form."""
    address = form.base_url.strip()
    problems: dict[Blank, str] = {}
    if address and not address.startswith(("http://", "https://")):
        problems[Blank.BASE_URL] = "The address does not start with http:// or https://."
    if not form.model.strip():
        return Reading(None, {**problems, Blank.MODEL: "Choose a model, or write PROVIDER/NAME."})
    try:
        provider, name = parse_model(form.model)
        model = ModelSettings(provider=provider, model=name, base_url=address or None)
    except InputError as error:
        return Reading(None, {**problems, Blank.MODEL: f"{error.message} {error.hint}".strip()})
    if model.offline:
        problems[Blank.MODEL] = "The offline baseline ranks tools and cannot write. Choose a language model."
    return Reading(None if problems else model, problems)


def estimate_words(tools: int, estimate: Estimate) -> str:
    """What it would take, before anything is spent; what cannot be known says so."""
    parts = [count(tools, "question")]
    parts += [f"about {tokens(rounded(estimate.tokens))}"] if estimate.tokens else []
    parts += [f"about {duration(estimate.seconds)}"] if estimate.seconds else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


def rounded(number: int) -> int:
    """A number with two digits that mean something."""
    return int(float(f"{number:.1e}"))


class Asking:
    """What the form asks of the core. Keys pass through and are kept by the core's key ring only."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def models(self) -> tuple[ModelInfo, ...]:
        """Every model of the catalogue that can write."""
        known = await self._ask(lambda core: core.models.catalogue())
        return tuple(one for one in known if not ModelSettings(provider=one.provider, model=one.model).offline)

    async def key_need(self, model: ModelSettings) -> KeyNeed:
        """Whether the model needs a key that nobody has given yet."""
        return await self._ask(lambda core: _need(core, model))

    async def estimate(self, tools: Sequence[ToolQuality], model: ModelSettings) -> str:
        """What asking about these tools would take, in one line."""
        chosen = ToolSet(tools=tuple(one.tool for one in tools))
        return estimate_words(len(tools), await self._ask(lambda core: core.quality.estimate(chosen, model)))

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
    priced: bool = True

    def take(self, quality: ToolQuality) -> None:
        """Count one answer."""
        self.done += 1
        self.failed += quality.failure is not None
        cost = quality.review.cost_usd if quality.review else None
        self.spent += cost or 0.0
        self.priced = self.priced and (cost is not None or quality.review is None)

    @property
    def lead(self) -> str:
        """ "12 of 60"."""
        return f"{self.done:,} of {self.total:,}"

    @property
    def parts(self) -> list[str]:
        """What else is known while it goes on."""
        failed = [f"{self.failed:,} failed"] if self.failed else []
        return [*failed, *self._cost(), f"{self.model} reads the definitions"]

    def farewell(self, *, stopped: bool) -> str:
        """What came of it, in one sentence."""
        heard = self.done - self.failed
        what = f"{self.model} reviewed {count(heard, 'tool')}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "".join(f" · {part}" for part in self._cost())
        return f"{'Stopped: ' if stopped else ''}{what}{failed}{cost}"

    def _cost(self) -> list[str]:
        return [money(self.spent)] if self.priced and self.spent else []
