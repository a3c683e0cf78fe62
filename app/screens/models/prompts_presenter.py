"""State of the Prompts tab: templates with their versions; knows no Qt."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from mcp_tef import DefinitionsChanged, Event, PromptTemplate


@dataclass(slots=True)
class PromptsPresenter:
    """The state of the tab. Everything that is asked of the core goes through `ask`."""

    ask: CoreCall
    prompts: dict[str, PromptTemplate] = field(default_factory=dict)

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        return Refresh.NOW if isinstance(event, DefinitionsChanged) else Refresh.NONE

    async def load(self) -> None:
        """Read the templates."""
        found = await self.ask(lambda core: core.prompts.list())
        self.prompts = {one.name: one for one in found}

    async def versions(self, name: str) -> Sequence[PromptTemplate]:
        """Return every version of a template, newest first."""
        return await self.ask(lambda core: core.prompts.versions(name))
