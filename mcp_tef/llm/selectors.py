"""Which selector answers for which model: the built-in baseline, or litellm."""

import asyncio
from collections.abc import Mapping

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.litellm_selector import LitellmSelector
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import ModelCatalogue, Selector

_NO_VARIABLES: Mapping[str, str] = {}


class ModelSelectors:
    """Both selectors, made once and closed together; `baseline` answers for `offline/retrieval`."""

    def __init__(
        self,
        baseline: Selector,
        catalogue: ModelCatalogue | None = None,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: Limits = USUAL,
    ) -> None:
        self._baseline = baseline
        self._models = LitellmSelector(catalogue or LitellmCatalogue(), environment, limits)

    def hold_to(self, limits: Limits) -> None:
        """Apply other limits from now on."""
        self._models.hold_to(limits)

    def selector_for(self, settings: ModelSettings) -> Selector:
        """The selector for this model."""
        return self._baseline if settings.offline else self._models

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await asyncio.gather(self._baseline.close(), self._models.close())
