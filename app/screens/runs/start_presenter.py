"""Core calls of the start dialog: cases, catalogue, estimate, keys and the start itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall, ModelKeys
from app.screens.runs.model_field import ModelRow, model_rows
from app.screens.runs.start_form import ParsedStartForm, StartForm, estimate_text, parse_start_form, tags_of
from mcp_tef import Batch, BatchRequest, ModelInfo, ModelSettings, Secret, TestCase

if TYPE_CHECKING:
    from mcp_tef import Engine


class StartPresenter(ModelKeys):
    """State of the start dialog: cases, suites, tags and the model catalogue. Knows no Qt."""

    def __init__(self, ask: CoreCall) -> None:
        super().__init__(ask)
        self.cases: tuple[TestCase, ...] = ()
        self.suites: tuple[str, ...] = ()
        self.tags: tuple[str, ...] = ()
        self.models: tuple[ModelRow, ...] = ()

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
            self.models = model_rows(await self._ask(lambda core: core.models.catalogue()))

    def parse(self, form: StartForm) -> ParsedStartForm:
        """Understand a form against the cases as they are."""
        return parse_start_form(form, self.cases)

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue's entry for a model."""
        return await self._ask(lambda core: core.models.info(settings))

    async def estimate(self, request: BatchRequest) -> str:
        """Return runs, time and cost of the batch in one line."""
        return estimate_text(await self._ask(lambda core: core.runs.estimate(request)), request)

    async def start(self, request: BatchRequest, keys: Mapping[str, Secret] | None = None) -> Batch:
        """Start a batch; returns at once."""
        return await self._ask(lambda core: core.runs.start(request, keys))


async def _default_model(core: "Engine") -> ModelSettings:
    return core.models.default
