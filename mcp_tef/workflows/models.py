"""Which models there are, and whether a key for one is at hand."""

from collections.abc import Mapping, Sequence

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.model.runs import ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import KeySource, ModelCatalogue


class Models:
    """The catalogue, seen together with the keys that are at hand."""

    def __init__(self, catalogue: ModelCatalogue, keys: KeySource, default: ModelSettings) -> None:
        self._catalogue = catalogue
        self._keys = keys
        self.default = default

    async def catalogue(self) -> tuple[ModelInfo, ...]:
        """Every known model; the offline baseline first."""
        return await self._catalogue.models()

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """What is known of one model."""
        return await self._catalogue.find(settings)

    def key_variable(self, provider: str) -> str:
        """The environment variable that would hold the provider's key."""
        return self._catalogue.key_variable(provider)

    def needs_key(self, settings: ModelSettings) -> bool:
        """Whether a run would fail for want of a key."""
        return self._catalogue.asks_for_key(settings) and not self._keys.key(settings.provider)

    def keys_for(self, models: Sequence[ModelSettings], given: Mapping[str, Secret]) -> dict[str, Secret]:
        """The key of each provider: given for this batch, else at hand; raises ModelError where one is missing."""
        asked = [model for model in models if not model.offline]
        found = {model.provider: given.get(model.provider) or self._keys.key(model.provider) for model in asked}
        for model in asked:
            if not found[model.provider] and self._catalogue.asks_for_key(model):
                raise self._missing(model.provider)
        return {provider: key for provider, key in found.items() if key}

    def _missing(self, provider: str) -> ModelError:
        variable = self.key_variable(provider)
        return ModelError(
            ModelFault.KEY_MISSING,
            f"There is no key for {provider}.",
            hint=f"Type it when you start the run, or set {variable}.",
            context={"provider": provider, "variable": variable},
        )
