"""Budgets of paid calls: a cost cap as users type it, raised where it is used up, and the budget of a whole session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from math import ceil, isfinite
from typing import TYPE_CHECKING, Final, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.model.run_fields import require_amount
from mcp_tef.workflows.estimate import USED_UP

if TYPE_CHECKING:
    from mcp_tef.engine import Engine
    from mcp_tef.model.ids import BatchId
    from mcp_tef.model.runs import Estimate


CENTS: Final = 100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UsedUpCap:
    """A cost cap that leaves no room for another run: the cap, what was spent, and the cost of the rest, in dollars."""

    cap: float
    spent: float
    left: float

    @property
    def suggestion(self) -> float:
        """A cap that the rest fits under with a tenth to spare: whole cents, or finer where it is less than one."""
        wanted = self.spent + self.left * 1.1
        unit = CENTS if wanted >= 1 / CENTS else CENTS**3
        return ceil(round(wanted * unit, 6)) / unit


async def start_within_cap(
    work: Callable[[float | None], Awaitable[T]], ask: Callable[[UsedUpCap], Awaitable[float | None]]
) -> T | None:
    """Do the work under its own cap; where that is used up, under one that the user names. None if the user cancels."""
    cap: float | None = None
    while True:
        try:
            return await work(cap)
        except InputError as error:
            if error.code != USED_UP:
                raise
            used_up = UsedUpCap(**{one.name: float(str(error.context[one.name])) for one in fields(UsedUpCap)})
        cap = await ask(used_up)
        if cap is None:
            return None


def parse_dollars(text: str) -> float | None:
    """Parse an amount in dollars; None for no amount, and for one that could be read in two ways, such as "1,000"."""
    try:
        number = float(text.strip().lstrip("$"))
    except ValueError:
        return None
    return number if isfinite(number) else None


OVER_BUDGET = "over_budget"
SESSION_CALLS, SESSION_COST_USD = 50, 0.50
"""What an agent may spend in one session where the user typed no limit."""


@dataclass(slots=True)
class SpendingRoom:
    """Limits of one piece of work, and the batch that spends them once it has started."""

    max_cost_usd: float | None
    max_calls: int | None
    batch: BatchId | None = None


class CallBudget:
    """The rest of a budget; None means no limit. Paid work is done one after another, so that none is counted twice."""

    def __init__(self, max_cost_usd: float | None = None, max_calls: int | None = None) -> None:
        require_amount(max_cost_usd)
        if max_calls is not None and max_calls < 1:
            raise InputError("A budget has at least one call.", hint="Give more calls, or no limit.")
        self.cost_left_usd = max_cost_usd
        self.calls_left = max_calls
        self._turn = asyncio.Lock()

    @classmethod
    def of_session(cls, max_cost_usd: float | None = None, max_calls: int | None = None) -> CallBudget:
        """Return the budget of an agent's session: what the user typed, else `SESSION_COST_USD` and `SESSION_CALLS`."""
        cost = SESSION_COST_USD if max_cost_usd is None else max_cost_usd
        return cls(cost, SESSION_CALLS if max_calls is None else max_calls)

    def require(self, estimate: Estimate) -> None:
        """Raise InputError (`over_budget`) where the estimate exceeds what is left."""
        hint = "Ask fewer cases or repeats, or let the user start the server with a larger budget."
        if self.calls_left is not None and estimate.runs > self.calls_left:
            message = f"This takes {estimate.runs:,} calls, and {self.calls_left:,} are left in the budget."
            raise InputError(message, hint=hint, code=OVER_BUDGET)
        left, cost = self.cost_left_usd, estimate.cost_usd
        if left is not None and (left <= 0 or (cost or 0) > left):
            message = f"This costs about ${cost or 0:.4f}, and ${max(left, 0):.4f} is left in the budget."
            raise InputError(message, hint=hint, code=OVER_BUDGET)

    @asynccontextmanager
    async def spending(self, engine: Engine, estimate: Estimate) -> AsyncIterator[SpendingRoom]:
        """Wait for other paid work, check what is left, and subtract what the batch spent, also if it was cancelled."""
        async with self._turn:
            self.require(estimate)
            room = SpendingRoom(self.cost_left_usd, self.calls_left)
            try:
                yield room
            finally:
                if room.batch is not None:
                    await self._subtract(engine, room.batch)

    async def _subtract(self, engine: Engine, batch_id: BatchId) -> None:
        batch = await engine.runs.batch(batch_id)
        calls = batch.total - batch.count("pending") - batch.count("cancelled")
        if self.calls_left is not None:
            self.calls_left = max(0, self.calls_left - calls)
        if self.cost_left_usd is not None:
            self.cost_left_usd -= batch.cost_usd or 0.0
