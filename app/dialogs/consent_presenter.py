"""Core calls behind the questions about consent; knows no Qt."""

from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from mcp_tef import ConsentRequest

if TYPE_CHECKING:
    from mcp_tef import Engine


class ConsentPresenter:
    """Reads the open questions, and keeps the answers."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def open_questions(self) -> tuple[ConsentRequest, ...]:
        """Return a question for each server that is not allowed yet."""

        async def missing(core: "Engine") -> tuple[ConsentRequest, ...]:
            return core.consents.missing(server.spec for server in await core.servers.list())

        return await self._ask(missing)

    async def allow(self, request: ConsentRequest) -> None:
        """Allow what a question asks for."""
        await self._ask(lambda core: core.consents.allow(request))

    async def decline_key(self, request: ConsentRequest) -> None:
        """Go on without sending the key."""

        async def decline(core: "Engine") -> None:
            core.consents.decline_key(request)

        await self._ask(decline)
