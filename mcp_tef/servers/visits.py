"""Visits to servers: each in a task of its own, closed apart from the answer."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mcp_tef.errors import ServerError
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tools import Listing
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.access import Access
from mcp_tef.servers.evidence import Evidence
from mcp_tef.servers.faults import Faults
from mcp_tef.servers.strongbox import Strongbox

if TYPE_CHECKING:
    from mcp_tef.servers.visit import Errand

T = TypeVar("T")
_Visit: TypeAlias = Callable[..., Coroutine[None, None, None]]
_Told: TypeAlias = Callable[[BaseException, Faults], ServerError]


class Visits:
    """Visits under way. `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.

    `show` is there where somebody is who can sign in.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: Limits = USUAL,
        strongbox: Strongbox | None = None,
        show: OpenAddress | None = None,
    ) -> None:
        self._limits = limits
        self._access = Access(os.environ if environment is None else environment, strongbox or Strongbox(), show)
        self._under_way: set[asyncio.Task[None]] = set()

    def hold_to(self, limits: Limits) -> None:
        """Visits that begin from now on cost no more than this."""
        self._limits = limits

    async def address(self, spec: ServerSpec) -> str:
        """The url of an HTTP server with its references filled in; ServerError."""
        return (await self._access.surroundings(spec)).url()

    async def list_tools(self, spec: ServerSpec, seconds: float, *, afresh: bool = False) -> Listing:
        """Every tool that a server lists now; raises ServerError. `afresh` signs in anew."""
        return await self.make(spec, _listing, seconds, afresh=afresh)

    async def make(
        self, spec: ServerSpec, load: "Callable[[], Errand[T]]", seconds: float, *, afresh: bool = False
    ) -> T:
        """What an errand brings back within so many seconds; raises ServerError. `afresh` signs in anew.

        `load` gives the errand and may import the mcp library, so it is called off the loop: about 0.5 s the first
        time. A program is started without asking: consent is the caller's matter. It may still be ending when this
        returns; `close` waits for that.
        """
        visit, told, errand = await asyncio.to_thread(_loaded, load)
        evidence = Evidence(limits=self._limits)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        task = self._start(visit(spec, replace(self._access, afresh=afresh), evidence, answer, errand))
        try:
            either: tuple[asyncio.Future[Any], ...] = (answer, task)
            with suppress(TimeoutError):
                async with evidence.within(seconds):
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise _unanswered(task, told, Faults(spec, evidence), seconds)
        finally:
            if answer.cancel():
                task.cancel()
            elif not answer.cancelled():
                answer.exception()

    async def close(self) -> None:
        """Leave every server; returns when no connection and no program of ours is left."""
        for task in self._under_way:
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def _start(self, visit: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(visit)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()


def _unanswered(task: "asyncio.Task[None]", told: _Told, faults: Faults, seconds: float) -> ServerError:
    if not task.done():
        return faults.silent(seconds)
    error = None if task.cancelled() else task.exception()
    return faults.cut_short() if error is None else told(error, faults)


def _loaded(load: "Callable[[], Errand[T]]") -> "tuple[_Visit, _Told, Errand[T]]":
    """The half of this adapter that needs the mcp library, imported when first used."""
    from mcp_tef.servers.telling import told
    from mcp_tef.servers.visit import visit

    return visit, told, load()


def _listing() -> "Errand[Listing]":
    from mcp_tef.servers.listing import list_everything

    return list_everything
