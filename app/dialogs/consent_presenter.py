"""Core calls behind the questions about consent; knows no Qt."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from app.core_link.model_requests import CoreCall
from mcp_tef import (
    AskConsent,
    ConsentAnswer,
    ConsentDeclinedError,
    ConsentRequest,
    apply_consent_answer,
    ensure_consent,
)

if TYPE_CHECKING:
    from mcp_tef import Engine


T = TypeVar("T")


class ConsentPresenter:
    """Reads the open questions, and keeps the answers."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask

    async def open_questions(self) -> tuple[ConsentRequest, ...]:
        """Return a question for each server that is not allowed yet."""

        async def missing(core: "Engine") -> tuple[ConsentRequest, ...]:
            return core.consents.missing(server.spec for server in await core.servers.list())

        return await self._ask(missing)

    async def settle(self, request: ConsentRequest, answer: ConsentAnswer) -> None:
        """Keep the answer to a question."""
        await self._ask(partial(apply_consent_answer, request=request, answer=answer))

    async def ensure(self, work: Callable[[], Awaitable[T]], ask: AskConsent) -> T | None:
        """Do the work, asking each question that it raises; return None if the user declines one."""
        try:
            return await ensure_consent(work, ask, self._ask)
        except ConsentDeclinedError:
            return None
