"""Preparation of a batch: cases, settings, keys, listings and prices, gathered before anything is stored or sent."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_tef.model.cases import TestCase
from mcp_tef.model.consents import ConsentError
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import BatchRequest, ModelSettings, PlannedRun
from mcp_tef.model.secrets import Secret
from mcp_tef.model.tools import Listing
from mcp_tef.ports import Selectors, Store
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.cost_budget import call_price, with_answer_limit
from mcp_tef.workflows.estimate import RunCosts, most_input_tokens
from mcp_tef.workflows.models import Keys, Models
from mcp_tef.workflows.trial_steering import TrialSteering


class BatchPreparation:
    """Gathers everything that a batch needs before it starts."""

    def __init__(self, store: Store, selectors: Selectors, models: Models, consents: Consents) -> None:
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

    async def keys(self, request: BatchRequest, cases: Sequence[TestCase], given: Mapping[str, Secret]) -> Keys:
        """Return the keys to send; raises ConsentError with every open question about servers and keys at once."""
        names = sorted({name for case in cases for name in case.draft.servers})
        missing = self._consents.missing([(await self._store.servers.find(name)).spec for name in names])
        try:
            keys = self._models.keys_for(request.models, given)
        except ConsentError as error:
            raise ConsentError.of((*missing, *error.requests)) from None
        if missing:
            raise ConsentError.of(missing)
        return keys

    async def listings(self, cases: Sequence[TestCase]) -> dict[str, Listing]:
        """Return the last listings of the cases' servers by name; a server that was never listed is left out."""
        names = {name for case in cases for name in case.draft.servers}
        found = {name: await self._store.servers.listing((await self._store.servers.find(name)).id) for name in names}
        return {name: listing for name, listing in found.items() if listing}

    async def infos(self, models: Sequence[ModelSettings]) -> dict[str, ModelInfo | None]:
        """Return what is known of each model by its label."""
        return {model.label: await self._models.info(model) for model in models}

    async def _settings(self, model: ModelSettings, cap: float | None) -> ModelSettings:
        """Return settings with the name of the baseline that will run, and under a cost cap with an answer limit."""
        resolved = await self._selectors.resolve(model)
        return resolved if cap is None else with_answer_limit(resolved, await self._models.info(resolved))

    async def planned(self, runs: Sequence[PlannedRun], cap: float | None) -> Sequence[PlannedRun]:
        """Return runs with the settings that they are done with under a cost cap."""
        settings = {one: await self._settings(one, cap) for one in {run.settings for run in runs}}
        return [replace(run, settings=settings[run.settings]) for run in runs]

    async def costs(
        self, request: BatchRequest, cases: Sequence[TestCase], trial: TrialSteering | None = None
    ) -> RunCosts:
        """Return the most that each run may cost; without a cap, no price is needed."""
        if request.max_cost_usd is None:
            return RunCosts()
        paid = [model for model in request.models if not model.offline]
        prices = {model: call_price(model, await self._models.info(model)) for model in paid}
        listings = trial.tools.listings() if trial else await self.listings(cases)
        return RunCosts(prices, most_input_tokens(cases, listings, request.models))
