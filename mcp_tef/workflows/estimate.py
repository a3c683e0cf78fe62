"""Estimates of a batch before it starts (runs, tokens, cost, time), and its cost cap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import canonical
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import Batch, BatchRequest, Estimate, ModelSettings, PlannedRun, RunSummary
from mcp_tef.model.tools import Listing
from mcp_tef.workflows.cost_budget import BYTES_PER_TOKEN, CallPrice, byte_count

CHARACTERS_PER_TOKEN = 4
PROMPT_TOKENS = 150
ANSWER_TOKENS = 120


def input_tokens(case: TestCase, listings: Mapping[str, Listing]) -> int:
    """Estimate the tokens of a case's question, at four characters a token."""
    tools = (tool for name in case.draft.servers if name in listings for tool in listings[name].tools)
    messages = len(case.draft.query) + sum(len(message.content) for message in case.draft.before)
    characters = messages + sum(len(canonical(tool.raw)) for tool in tools)
    return PROMPT_TOKENS + characters // CHARACTERS_PER_TOKEN


def run_cost(tokens_in: float, info: ModelInfo | None) -> float | None:
    """Return US dollars of one run with a model; None where its price is not known."""
    return writing_cost(info, tokens_in, ANSWER_TOKENS)


def writing_cost(info: ModelInfo | None, tokens_in: float, tokens_out: int) -> float | None:
    """Return US dollars of texts that a model writes; None where its price is not known."""
    if info is None or info.input_price is None or info.output_price is None:
        return None
    return tokens_in * info.input_price + tokens_out * info.output_price


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


@dataclass(frozen=True, slots=True)
class RunCosts:
    """The most that each run may cost under a cap: prices of the models, and tokens of the prompt of each case."""

    prices: Mapping[ModelSettings, CallPrice] = field(default_factory=dict)
    tokens: Mapping[CaseId, int] = field(default_factory=dict)

    def of(self, run: PlannedRun) -> tuple[CallPrice | None, int]:
        """Return the price of a run and the tokens of its prompt; no price without a cap, and for the baseline."""
        return self.prices.get(run.settings), self.tokens.get(run.case_id, 0)

    def dearest(self, settings: ModelSettings, case_id: CaseId) -> float:
        """Return US dollars of a run with the longest answer."""
        price = self.prices.get(settings)
        return price.dearest(self.tokens[case_id]) if price else 0.0


def most_input_tokens(
    cases: Sequence[TestCase], listings: Mapping[str, Listing], models: Sequence[ModelSettings]
) -> dict[CaseId, int]:
    """Return at least as many tokens as the prompt of each case has with any of the models."""
    shared = max(byte_count(model.system_prompt or "") for model in models)
    sizes = {name: sum(byte_count(canonical(tool.raw)) for tool in listing.tools) for name, listing in listings.items()}

    def size(case: TestCase) -> int:
        texts = (case.draft.query, *(message.content for message in case.draft.before))
        return shared + sum(map(byte_count, texts)) + sum(sizes.get(name, 0) for name in case.draft.servers)

    return {case.id: PROMPT_TOKENS + size(case) // BYTES_PER_TOKEN for case in cases}


USED_UP = "cost_cap_used_up"


def require_room(batch: Batch, costs: Sequence[float], cap: float | None) -> None:
    """Raise InputError where the cap leaves no room for a single run of these costs; it tells what they would cost."""
    spent = batch.cost_usd or 0.0
    if cap is None or spent + min(costs) <= cap:
        return
    raise InputError(
        f"The cost cap of ${cap:g} is used up: ${spent:.4f} was spent on {batch.name or 'the batch'}.",
        hint="Resume it with a higher cap.",
        code=USED_UP,
        context={"cap": cap, "spent": spent, "left": sum(costs)},
    )
