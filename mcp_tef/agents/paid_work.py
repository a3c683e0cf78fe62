"""Work that asks models on behalf of an agent: its model, the cost told before it is spent, and the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcp_tef import InputError, batch_to_its_end, parse_model

if TYPE_CHECKING:
    from mcp_tef import (
        Batch,
        BatchProgressed,
        CallBudget,
        CallingAgent,
        Engine,
        Estimate,
        JsonObject,
        ModelSettings,
        SpendingRoom,
    )


@dataclass(frozen=True, slots=True)
class PaidWork:
    """The engine with the model settings and the budget that the user set when the server was started."""

    engine: Engine
    settings: ModelSettings
    budget: CallBudget

    def model(self, arguments: JsonObject) -> ModelSettings:
        """Return the settings for the model of a call; an address that the user set is for that provider only.

        Under a budget of calls a failed call is not repeated, so that no call is uncounted.
        """
        settings = self.settings
        if named := arguments.get("model"):
            provider, model = parse_model(named)
            base_url = settings.base_url if provider == settings.provider else None
            settings = replace(settings, provider=provider, model=model, base_url=base_url)
        return settings if self.budget.calls_left is None else replace(settings, max_retries=0)

    async def is_agreed(
        self, model: ModelSettings, estimate: Estimate, arguments: JsonObject, agent: CallingAgent
    ) -> bool:
        """Return False where the user still has to accept the cost; InputError where they declined."""
        if model.offline:
            return True
        self.budget.require(estimate)
        agreed = await agent.confirm(f"{self.cost_text(estimate)} Allow {estimate.runs:,} calls to {model.label}?")
        if agreed is False:
            raise InputError("The user declined the cost, so nothing was asked.", hint="Ask the user.", code="declined")
        return agreed or arguments.get("accept_cost") is True

    def cost_text(self, estimate: Estimate) -> str:
        """Return the number of calls, their cost, and what is left in the budget."""
        cost = "an unknown price" if estimate.cost_usd is None else f"about ${estimate.cost_usd:.4f}"
        left = []
        if self.budget.calls_left is not None:
            left.append(f"{self.budget.calls_left:,} calls")
        if self.budget.cost_left_usd is not None:
            left.append(f"${max(self.budget.cost_left_usd, 0):.4f}")
        rest = f" {' and '.join(left)} are left in the budget." if left else ""
        return f"This takes up to {estimate.runs:,} calls at {cost}.{rest}"

    async def done(
        self,
        model: ModelSettings,
        estimate: Estimate,
        start: Callable[[SpendingRoom | None], Awaitable[Batch]],
        agent: CallingAgent,
    ) -> Batch:
        """Do the work within the budget, reporting progress; a cancelled call cancels the batch."""
        if model.offline:
            return await self._followed(start(None), agent)
        async with self.budget.spending(self.engine, estimate) as room:

            async def started() -> Batch:
                batch = await start(room)
                room.batch = batch.id
                return batch

            return await self._followed(started(), agent)

    async def _followed(self, start: Awaitable[Batch], agent: CallingAgent) -> Batch:
        latest: list[BatchProgressed] = []
        changed = asyncio.Event()

        def hear(event: BatchProgressed) -> None:
            latest[:] = [event]
            changed.set()

        async def tell() -> None:
            while True:
                await changed.wait()
                changed.clear()
                (event,) = latest
                await agent.progress(event.done, event.batch.total, f"{event.done} of {event.batch.total} runs")

        telling = asyncio.create_task(tell())
        try:
            return await batch_to_its_end(self.engine, start, hear)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
