"""Presenter of the start dialog: reads what can be run, and starts a batch."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall, ModelKeys, selecting_prompts
from app.screens.runs.labels import ModelRow, usual_order
from app.screens.runs.start_form import (
    OWN_PROVIDER,
    ParsedStartForm,
    StartForm,
    estimate_text,
    parse_start_form,
    tags_of,
)
from mcp_tef import (
    TARGET_PROVIDERS,
    Batch,
    BatchRequest,
    ClientProfile,
    ModelInfo,
    ModelSettings,
    NotFoundError,
    PromptTemplate,
    Secret,
    TestCase,
    is_baseline,
)

if TYPE_CHECKING:
    from mcp_tef import Engine


class StartPresenter(ModelKeys):
    """State of the start dialog: cases, suites, tags, clients and the model catalogue. Knows no Qt."""

    def __init__(self, ask: CoreCall) -> None:
        super().__init__(ask)
        self.cases: tuple[TestCase, ...] = ()
        self.suites: tuple[str, ...] = ()
        self.tags: tuple[str, ...] = ()
        self.models: tuple[ModelRow, ...] = ()
        self.clients: tuple[ClientProfile, ...] = ()
        self.prompts: dict[str, PromptTemplate] = {}

    async def load(self) -> None:
        """Read cases, suites and tags."""
        self.cases = await self._ask(lambda core: core.cases.list())
        self.suites = await self._ask(lambda core: core.cases.suites())
        self.tags = tags_of(self.cases)

    async def default_model(self) -> ModelSettings:
        """Return the model that the environment or the settings name, else the offline baseline."""
        return await self._ask(_default_model)

    async def load_models(self) -> None:
        """Read the catalogue once; it may take a second or two the first time."""
        if not self.models:
            self.models = usual_order(*await self._ask(_known_models))

    async def load_clients(self) -> None:
        """Read the client profiles once; most runs need none."""
        if not self.clients:
            self.clients = await self._ask(_client_profiles)

    async def load_prompts(self) -> None:
        """Read the prompts once; most runs need none of them."""
        if not self.prompts:
            self.prompts = await self._ask(selecting_prompts)

    async def served(self, address: str, key: Secret | None) -> tuple[str, ...]:
        """Return the models that an own server lists, whose address the user typed. Raises InputError, ModelError."""
        settings = ModelSettings(provider=OWN_PROVIDER, base_url=address)
        await self.add_typed_address(settings)
        return await self._ask(lambda core: core.models.served(settings, key))

    def parse(self, form: StartForm) -> ParsedStartForm:
        """Parse a form for the current cases."""
        return parse_start_form(form, self.cases, {one.name: one.label for one in self.clients}, self.prompts)

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """Return what is known of a model, a group or a router; None for one that is not known."""
        try:
            return await self._ask(lambda core: core.targets.info(settings))
        except NotFoundError:
            return None

    async def estimate(self, request: BatchRequest) -> str:
        """Return runs, time and cost of the batch in one line."""
        return estimate_text(await self._ask(lambda core: core.runs.estimate(request)), request)

    async def start(self, request: BatchRequest, keys: Mapping[str, Secret] | None = None) -> Batch:
        """Start a batch; returns at once."""
        return await self._ask(lambda core: core.runs.start(request, keys, may_pause=True))


async def _known_models(core: "Engine") -> tuple[tuple[ModelInfo, ...], tuple[str, ...], frozenset[str]]:
    """Return the catalogue, the models of batches, newest first, and the providers whose key is at hand."""
    known = (*await _named_targets(core), *await core.models.catalogue())
    ran = [label for batch in await core.runs.batches() for label in batch.models if not is_baseline(label)]
    at_hand = core.models.with_key({info.provider for info in known})
    return known, tuple(dict.fromkeys(ran)), at_hand | TARGET_PROVIDERS


async def _named_targets(core: "Engine") -> list[ModelInfo]:
    """Return the groups and routers of the workspace as rows of the catalogue."""
    named = [ModelSettings(provider="group", model=one.name) for one in await core.targets.groups()]
    named += [ModelSettings(provider="router", model=one.name) for one in await core.targets.routers()]
    return [info for one in named if (info := await core.targets.info(one))]


async def _default_model(core: "Engine") -> ModelSettings:
    return core.models.default


async def _client_profiles(core: "Engine") -> "tuple[ClientProfile, ...]":
    return core.clients.profiles()
