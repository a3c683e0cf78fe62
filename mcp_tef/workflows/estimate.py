"""Preparation of a batch before it starts: settings, cases, keys and prices; estimates, and its cost cap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import Destination
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.json import canonical
from mcp_tef.model.model_catalogue import TARGET_PROVIDERS, ModelInfo
from mcp_tef.model.runs import Batch, BatchRequest, Estimate, ModelSettings, PlannedRun, RunSummary
from mcp_tef.model.tools import Listing
from mcp_tef.trust.consents import ConsentError, ConsentRequest
from mcp_tef.workflows.cost_budget import BYTES_PER_TOKEN, CallPrice, byte_count, call_price, with_answer_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_tef.model.secrets import Secret
    from mcp_tef.ports import Selectors, Store
    from mcp_tef.ports.execution import RunSteering
    from mcp_tef.workflows.consent import Consents
    from mcp_tef.workflows.model_targets import ModelTargets
    from mcp_tef.workflows.models import Keys, Models

    TargetsOf = Callable[[], ModelTargets]

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
    own = len(model.system_prompt or "") // CHARACTERS_PER_TOKEN
    each = run_cost(tokens / cases + own, infos.get(model.label)) if cases else 0.0
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
    """The most that each run may cost under a cap: prices of the models, and tokens of the prompt of each case.

    `added` holds the tokens that come on top in runs of a repeat.
    """

    prices: Mapping[ModelSettings, CallPrice] = field(default_factory=dict)
    tokens: Mapping[CaseId, int] = field(default_factory=dict)
    added: Mapping[int, int] = field(default_factory=dict)

    def of(self, run: PlannedRun) -> tuple[CallPrice | None, int]:
        """Return the price of a run and the tokens of its prompt; no price without a cap, and for the baseline."""
        return self.prices.get(run.settings), self.tokens.get(run.case_id, 0) + self.added.get(run.repeat, 0)

    def dearest(self, settings: ModelSettings, case_id: CaseId) -> float:
        """Return US dollars of a run with the longest answer, in the repeat that adds least."""
        price = self.prices.get(settings)
        least = min(self.added.values(), default=0)
        return price.dearest(self.tokens[case_id] + least) if price else 0.0


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
    if cap is None or spent + min(costs, default=0.0) <= cap:
        return
    raise InputError(
        f"The cost cap of ${cap:g} is used up: ${spent:.4f} was spent on {batch.name or 'the batch'}.",
        hint="Resume it with a higher cap.",
        code=USED_UP,
        context={"cap": cap, "spent": spent, "left": sum(costs)},
    )


class BatchPreparation:
    """Gathers everything that a batch needs before it starts."""

    def __init__(self, store: Store, selectors: Selectors, models: Models, consents: Consents) -> None:
        self.targets: TargetsOf | None = getattr(selectors, "targets", None)
        self._store = store
        self._selectors = selectors
        self._models = models
        self._consents = consents

    async def resolved(self, request: BatchRequest) -> BatchRequest:
        """Return the request with the settings that its runs are done with."""
        models = [await self._settings(model, request.max_cost_usd) for model in request.models]
        return replace(request, models=tuple(dict.fromkeys(models)))

    async def cases(self, request: BatchRequest) -> tuple[TestCase, ...]:
        """Return the cases of a request."""
        return await self._store.cases.select(ids=request.cases, suites=request.suites, tags=request.tags)

    async def keys(
        self, request: BatchRequest, cases: Sequence[TestCase], given: Mapping[str, Secret], *, stored: bool = False
    ) -> Keys:
        """Return the keys to send; raises ConsentError with every open question about servers and keys at once.

        Addresses of groups and routers are asked about without a key too, and all of a request that was `stored`.
        """
        names = sorted({name for case in cases for name in case.draft.servers})
        missing = self._consents.missing([(await self._store.servers.find(name)).spec for name in names])
        asked = await self._asked(request.models)
        named = set() if stored else {model.destination for model in request.models}
        places = [model.destination for model in asked if not model.offline and model.destination not in named]
        missing = (*missing, *self._models.contacts(places, given))
        return self._keys_or_questions(asked, given, missing)

    def _keys_or_questions(
        self, asked: Sequence[ModelSettings], given: Mapping[str, Secret], missing: Sequence[ConsentRequest]
    ) -> Keys:
        try:
            keys = self._models.keys_for(asked, given)
        except ConsentError as error:
            raise ConsentError.of((*missing, *error.requests)) from None
        if missing:
            raise ConsentError.of(tuple(missing))
        return keys

    async def listings(self, cases: Sequence[TestCase]) -> dict[str, Listing]:
        """Return the last listings of the cases' servers by name; a server that was never listed is left out."""
        names = {name for case in cases for name in case.draft.servers}
        found = {name: await self._store.servers.listing((await self._store.servers.find(name)).id) for name in names}
        return {name: listing for name, listing in found.items() if listing}

    async def infos(self, models: Sequence[ModelSettings]) -> dict[str, ModelInfo | None]:
        """Return what is known of each model by its label."""
        return {model.label: await self._info(model) for model in models}

    async def recorded(self, batch_id: BatchId) -> tuple[ModelSettings, ...]:
        """Return the models that a batch was started with."""
        return (await self._store.runs.request(batch_id)).models

    async def destinations(self, models: Sequence[ModelSettings]) -> tuple[Destination, ...]:
        """Return where runs with these settings may go; nowhere for a baseline."""
        return tuple(one.destination for one in await self._asked(models) if not one.offline)

    async def _asked(self, models: Sequence[ModelSettings]) -> Sequence[ModelSettings]:
        """Return the models that may be asked, those of groups and routers among them."""
        by_name = self.targets and any(model.provider in TARGET_PROVIDERS for model in models)
        return await self.targets().expand(models) if self.targets and by_name else models

    async def _info(self, model: ModelSettings) -> ModelInfo | None:
        is_target = model.provider in TARGET_PROVIDERS
        return await (self.targets().info(model) if self.targets and is_target else self._models.info(model))

    async def _settings(self, model: ModelSettings, cap: float | None) -> ModelSettings:
        """Return settings with the name of the baseline that will run, and under a cost cap with an answer limit."""
        resolved = await self._selectors.resolve(model)
        return resolved if cap is None else with_answer_limit(resolved, await self._info(resolved))

    async def planned(self, runs: Sequence[PlannedRun], cap: float | None) -> Sequence[PlannedRun]:
        """Return runs with the settings that they are done with under a cost cap."""
        settings = {one: await self._settings(one, cap) for one in {run.settings for run in runs}}
        return [replace(run, settings=settings[run.settings]) for run in runs]

    async def costs(
        self, request: BatchRequest, cases: Sequence[TestCase], trial: RunSteering | None = None
    ) -> RunCosts:
        """Return the most that each run may cost; without a cap, no price is needed."""
        if request.max_cost_usd is None:
            return RunCosts()
        paid = [model for model in request.models if not model.offline]
        prices = {model: call_price(model, await self._info(model)) for model in paid}
        listings = trial.tools.listings() if trial else await self.listings(cases)
        added = trial.tools.added_tokens() if trial else {}
        return RunCosts(prices, most_input_tokens(cases, listings, request.models), added)
