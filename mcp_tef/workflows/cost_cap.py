"""The most that a batch may cost: it can only be kept where prices are known, and raised where it is used up."""

from collections.abc import Mapping, Sequence

from mcp_tef.errors import InputError
from mcp_tef.model.runs import Batch, PlannedRun

USED_UP = "cost_cap_used_up"


def require_cap(cap: float | None) -> None:
    """Raise InputError for a cap that could never be kept, or never be reached."""
    if cap is not None and not 0 < cap < float("inf"):
        raise InputError(f"A cost cap of {cap:g} is no amount of money.", hint="Give more than 0, or no cap.")


def known_cost(label: str, cost: float | None) -> float:
    """What a run of a model costs; InputError where nobody knows."""
    if cost is None:
        raise InputError(
            f"The price of {label} is not known, so a cost cap cannot be kept.", hint="Run it without a cost cap."
        )
    return cost


def require_room(batch: Batch, runs: Sequence[PlannedRun], cap: float | None, run_costs: Mapping[str, float]) -> None:
    """Raise InputError where the cap leaves no room for a single one of the runs; it tells what they would cost."""
    costs = [run_costs.get(run.settings.label, 0.0) for run in runs]
    spent = batch.cost_usd or 0.0
    if cap is None or spent + min(costs) <= cap:
        return
    raise InputError(
        f"The cost cap of ${cap:g} is used up: ${spent:.4f} was spent on {batch.name or 'the batch'}.",
        hint="Resume it with a higher cap.",
        code=USED_UP,
        context={"cap": cap, "spent": spent, "left": sum(costs)},
    )
