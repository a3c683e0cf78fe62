"""State of the Clients tab: client profiles with the sources of their figures; knows no Qt."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from mcp_tef import ClientProfile

if TYPE_CHECKING:
    from mcp_tef import Engine


@dataclass(slots=True)
class ClientsPresenter:
    """The state of the tab. Everything that is asked of the core goes through `ask`."""

    ask: CoreCall
    clients: dict[str, ClientProfile] = field(default_factory=dict)

    async def load(self) -> None:
        """Read the profiles."""
        found = await self.ask(_profiles)
        self.clients = {one.name: one for one in found}


async def _profiles(core: "Engine") -> tuple[ClientProfile, ...]:
    return core.clients.profiles()
