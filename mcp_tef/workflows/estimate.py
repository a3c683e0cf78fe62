"""Estimates of a batch before it starts (runs, tokens, cost, time), and its cost cap."""

from collections.abc import Iterable, Mapping, Sequence

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.json import canonical
from mcp_tef.model.runs import Batch, BatchRequest, Estimate, ModelInfo, ModelSettings, PlannedRun, RunSummary
from mcp_tef.model.tools import Listing

CHARACTERS_PER_TOKEN = 4
PROMPT_TOKENS = 150
ANSWER_TOKENS = 120


def input_tokens(case: TestCase, listings: Mapping[str, Listing]) -> int:
    """Estimate the tokens of a case's question, at four characters a token."""
    tools = (tool for name in case.draft.servers if name in listings for tool in listings[name].tools)
    characters = len(case.draft.query) + sum(len(canonical(tool.raw)) for tool in tools)
    return PROMPT_TOKENS + characters // CHARACTERS_PER_TOKEN


def run_cost(tokens_in: float, info: ModelInfo | None) -> float | None:
    """Return US dollars of one run with a model; None where its price is not known."""
    if info is None or info.input_price is None or info.output_price is None:
        return None
    return tokens_in * info.input_price + ANSWER_TOKENS * info.output_price


def estimate(
    request: BatchRequest,
    cases: Sequence[TestCase],
    listings: Mapping[str, Listing],
    infos: Mapping[str, ModelInfo | None],
    past: Iterable[RunSummary],
) -> Estimate:
    """Return runs, tokens, cost and time of a batch; what cannot be known is None. `infos` goes by model label."""
    tokens = sum(input_tokens(case, listings) for case in cases)
    rounds = len(request.models) * request.repeats
    costs = [_model_cost(model, tokens, len(cases), infos) for model in request.models]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        runs=len(cases) * rounds,
        tokens=(tokens + ANSWER_TOKENS * len(cases)) * rounds,
        cost_usd=sum(known) * request.repeats if len(known) == len(costs) else None,
        seconds=_seconds(request, len(cases) * request.repeats, list(past)),
    )


def _model_cost(model: ModelSettings, tokens: int, cases: int, infos: Mapping[str, ModelInfo | None]) -> float | None:
    if model.offline:
        return 0.0
    each = run_cost(tokens / cases, infos.get(model.label)) if cases else 0.0
    return None if each is None else each * cases


def _seconds(request: BatchRequest, runs: int, past: Sequence[RunSummary]) -> float | None:
    totals = [_model_seconds(model, runs, past) for model in request.models]
    known = [seconds for seconds in totals if seconds is not None]
    return sum(known) / request.concurrency if known and len(known) == len(totals) else None


def _model_seconds(model: ModelSettings, runs: int, past: Sequence[RunSummary]) -> float | None:
    times = [run.execution_time_ms for run in past if run.model == model.label and run.execution_time_ms]
    return runs * sum(times) / len(times) / 1000 if times else None


USED_UP = "cost_cap_used_up"


def require_cap(cap: float | None) -> None:
    """Raise InputError for a cap that could never be kept, or never be reached."""
    if cap is not None and not 0 < cap < float("inf"):
        raise InputError(f"A cost cap of {cap:g} is no amount of money.", hint="Give more than 0, or no cap.")


def known_cost(label: str, cost: float | None) -> float:
    """Return the cost of a run of a model; InputError where its price is unknown."""
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
