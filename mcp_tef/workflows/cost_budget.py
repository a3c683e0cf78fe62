"""Cost caps of paid calls: what a call may cost at most, and the room that a cap leaves for another one."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings

CAPPED_ANSWER_TOKENS: Final = 1024
"""Answer limit under a cost cap where the user set none; honest answers have a few hundred tokens."""
BYTES_PER_TOKEN: Final = 3
"""UTF-8 bytes per token of a prompt, few, so that costs are not underestimated.

Measured with cl100k_base: listings of tools 3.6 to 4.1 at the median of three collections (183 listings, the lowest
2.1), English 4.0, Chinese 3.0. What a provider reports beyond the estimate raises later estimates.
"""
TOO_LOW: Final = "cost_cap_too_low"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPrice:
    """Prices of a model in US dollars per token, and the longest answer that it is asked for, in tokens."""

    label: str
    input: float
    output: float
    answer_limit: int

    def dearest(self, tokens_in: float) -> float:
        """Return the cost of a call with so long a prompt and the longest answer."""
        return tokens_in * self.input + self.answer_limit * self.output


def byte_count(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def with_answer_limit(settings: ModelSettings, info: ModelInfo | None) -> ModelSettings:
    """Return settings with the answer limit that is sent under a cost cap."""
    if settings.offline or settings.max_tokens is not None:
        return settings
    own = info.extra.get("output_tokens") if info else None
    return replace(settings, max_tokens=min(own or CAPPED_ANSWER_TOKENS, CAPPED_ANSWER_TOKENS))


def call_price(settings: ModelSettings, info: ModelInfo | None) -> CallPrice:
    """Return the price of calls to a model; InputError where it is unknown."""
    if info is None or info.input_price is None or info.output_price is None:
        raise InputError(
            f"The price of {settings.label} is not known, so a cost cap cannot be kept.",
            hint="Give its price, or run it without a cost cap.",
        )
    limit = settings.max_tokens or CAPPED_ANSWER_TOKENS
    return CallPrice(label=settings.label, input=info.input_price, output=info.output_price, answer_limit=limit)


def require_one(cap: float | None, cheapest: float, thing: str) -> None:
    """Raise InputError where not even the cheapest call fits under a cap."""
    if cap is not None and cheapest > cap:
        raise InputError(
            f"Not even one {thing} fits under the cost cap of ${cap:g}: one may cost ${cheapest:.2g}.",
            hint="Raise the cap, or lower the answer limit.",
            code=TOO_LOW,
        )


class CostBudget:
    """The cap of several calls, with what they spent and what is reserved for those under way, in US dollars.

    Prompts are counted by estimates. So the first call to each model goes alone, and the largest excess of reported
    over estimated tokens raises the estimates of later calls.
    """

    def __init__(self, cap: float | None, spent: float = 0.0) -> None:
        self._cap = cap
        self._spent = spent
        self._reserved = 0.0
        self._going: Counter[str] = Counter()
        self._excess: dict[str, float] = {}
        self._one_ended = asyncio.Event()

    def fits(self, price: CallPrice | None, tokens_in: float) -> bool:
        """Return True if the dearest answer to a call fits beside what was spent and reserved."""
        if self._cap is None or price is None:
            return True
        first = price.label not in self._excess
        return (
            not (first and self._going[price.label])
            and self._spent + self._reserved + self._dearest(price, tokens_in) <= self._cap
        )

    async def room(self, price: CallPrice | None, tokens_in: float) -> bool:
        """Wait for calls under way until another one fits; return False if it never will."""
        while not self.fits(price, tokens_in):
            if not self.busy:
                return False
            await self.one_ended()
        return True

    @property
    def busy(self) -> bool:
        """True while a call is under way."""
        return self._going.total() > 0

    async def one_ended(self) -> None:
        """Wait until a call under way has ended."""
        await self._one_ended.wait()

    @contextmanager
    def call(self, price: CallPrice | None, tokens_in: float) -> Iterator["CallCost"]:
        """Reserve the dearest answer during a call, and count what it really cost."""
        label = price.label if price else ""
        reserved = self._dearest(price, tokens_in) if price else 0.0
        cost = CallCost(reserved)
        self._reserved += reserved
        self._going[label] += 1
        try:
            yield cost
        finally:
            self._reserved -= reserved
            self._spent += cost.spent
            self._going[label] -= 1
            excess = (cost.tokens_in or 0) / max(tokens_in, 1.0)
            self._excess[label] = max(1.0, excess, self._excess.get(label, 1.0))
            self._one_ended.set()
            self._one_ended = asyncio.Event()

    def _dearest(self, price: CallPrice, tokens_in: float) -> float:
        return price.dearest(tokens_in * self._excess.get(price.label, 1.0))


@dataclass(slots=True)
class CallCost:
    """Cost of one call, in US dollars, as it is settled at its end."""

    reserved: float
    spent: float = 0.0
    tokens_in: int | None = None

    def settle(self, cost: float | None, tokens_in: int | None = None) -> None:
        """Note the cost of an answer; an unknown one counts as the dearest."""
        self.spent = self.reserved if cost is None else cost
        self.tokens_in = tokens_in
