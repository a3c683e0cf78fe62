"""Starting a batch: what the form needs from the core, and the start itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.screens.runs.catalogue import ModelRow, model_rows
from app.screens.runs.presenter import Ask
from app.screens.runs.start import Field, Reading, StartForm, estimate_text, key_missing, read, tags_of
from mcp_tef import Batch, BatchRequest, ModelError, ModelFault, ModelInfo, ModelSettings, Secret, TestCase

if TYPE_CHECKING:
    from mcp_tef import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeed:
    """Whether a key must be typed for the model chosen, for whom, and which variable would do."""

    provider: str
    variable: str
    needed: bool


NO_KEY = KeyNeed(provider="", variable="", needed=False)


class Starting:
    """What the start form asks of the core. Keys pass through and are kept by the core's key ring only."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.cases: tuple[TestCase, ...] = ()
        self.suites: tuple[str, ...] = ()
        self.tags: tuple[str, ...] = ()
        self.models: tuple[ModelRow, ...] = ()

    async def load(self) -> None:
        """Read cases, suites and tags."""
        self.cases = await self._ask(lambda core: core.cases.list())
        self.suites = await self._ask(lambda core: core.cases.suites())
        self.tags = tags_of(self.cases)

    async def load_models(self) -> None:
        """Read the catalogue once; it may take a second or two the first time."""
        if not self.models:
            self.models = model_rows(await self._ask(lambda core: core.models.catalogue()))

    def read(self, form: StartForm) -> Reading:
        """Understand a form against the cases as they are."""
        return read(form, self.cases)

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """What the catalogue knows of a model."""
        return await self._ask(lambda core: core.models.info(settings))

    async def key_need(self, settings: ModelSettings) -> KeyNeed:
        """Whether the model needs a key that nobody has given yet."""
        if settings.offline:
            return NO_KEY
        return await self._ask(lambda core: _key_need(core, settings))

    async def estimate(self, request: BatchRequest) -> str:
        """What the batch would take, in one line."""
        return estimate_text(await self._ask(lambda core: core.runs.estimate(request)), request)

    async def hold(self, provider: str, key: Secret, *, remember: bool = False) -> None:
        """Keep a key for the session; remember it in the keychain only where that was asked for."""
        await self._ask(lambda core: _hold(core, provider, key, remember=remember))

    async def start(self, request: BatchRequest, keys: Mapping[str, Secret] | None = None) -> Batch:
        """Start a batch; returns at once."""
        return await self._ask(lambda core: core.runs.start(request, keys))


async def _key_need(core: "Engine", settings: ModelSettings) -> KeyNeed:
    variable = core.models.key_variable(settings.provider)
    return KeyNeed(provider=settings.provider, variable=variable, needed=core.models.needs_key(settings))


async def _hold(core: "Engine", provider: str, key: Secret, *, remember: bool) -> None:
    core.keys.set(provider, key)
    if remember:
        core.keys.remember(provider, key)


def problem_field(error: Exception) -> Field | None:
    """The field that an error of the start belongs to, where there is one."""
    if isinstance(error, ModelError) and error.fault is ModelFault.KEY_MISSING:
        return Field.KEY
    return None


def missing_key(need: KeyNeed, typed: str) -> str:
    """One sentence where the key is missing; empty where all is well."""
    return key_missing(need.provider, need.variable) if need.needed and not typed.strip() else ""
