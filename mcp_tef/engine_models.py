"""Use cases of an engine that are about models: the catalogue, groups, routers and search tools."""

from functools import cached_property
from typing import TYPE_CHECKING

from mcp_tef.engine_adapters import ServerAdapters

if TYPE_CHECKING:
    from mcp_tef.workflows.model_checks import ModelChecks
    from mcp_tef.workflows.model_definitions import ModelDefinitions
    from mcp_tef.workflows.model_targets import ModelTargets
    from mcp_tef.workflows.models import Models
    from mcp_tef.workflows.route_comparisons import RouteComparisons
    from mcp_tef.workflows.search_tools import SearchExecutor, SearchTools


class ModelWorkflows(ServerAdapters):
    """What an engine does with models, beside the adapters."""

    @cached_property
    def models(self) -> "Models":
        """Models that can be asked, and the keys that they need."""
        from mcp_tef.workflows.models import Models

        return Models(self._catalogue, self.keys, self.consents, self._current)

    @cached_property
    def targets(self) -> "ModelTargets":
        """Groups of models and routers, which run like models."""
        from mcp_tef.workflows.model_targets import ModelTargets

        return ModelTargets(self._store.definitions, self.models, self.embedders)

    @cached_property
    def model_checks(self) -> "ModelChecks":
        """Checks of models by one call, and model servers on this machine."""
        from mcp_tef.workflows.model_checks import ModelChecks

        return ModelChecks(self._selectors, self.models, self.targets)

    @cached_property
    def route_comparisons(self) -> "RouteComparisons":
        """Comparisons of routers with always asking one model."""
        from mcp_tef.workflows.route_comparisons import RouteComparisons

        return RouteComparisons(self.targets, self._store.runs)

    @cached_property
    def searches(self) -> "SearchTools":
        """Search tools by name."""
        from mcp_tef.servers.web_search import HttpWebSearcher
        from mcp_tef.workflows.search_tools import SearchTools

        return SearchTools(self._store.definitions, self.models, HttpWebSearcher())

    @cached_property
    def _search_executor(self) -> "SearchExecutor":
        from mcp_tef.workflows.search_tools import SearchExecutor

        return SearchExecutor(lambda: self.searches)

    @cached_property
    def model_definitions(self) -> "ModelDefinitions":
        """Groups, routers and search tools in and out of one file."""
        from mcp_tef.workflows.model_definitions import ModelDefinitions

        return ModelDefinitions(self.targets, self._store.definitions)
