"""The gateway that workflows use: one visit a listing, each in a task of its own, closed apart from the answer."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_tef.errors import ServerError
from mcp_tef.model.json import Json
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers.evidence import Evidence
from mcp_tef.servers.faults import Faults
from mcp_tef.servers.files import read_catalogue, read_tools_file, sort_catalogue

_Visit: TypeAlias = Callable[
    [ServerSpec, Mapping[str, str], Evidence, "asyncio.Future[Listing]"], Coroutine[None, None, None]
]
_Told: TypeAlias = Callable[[BaseException, Faults], ServerError]


class McpGateway:
    """Reaches MCP servers and tools files; satisfies `ports.ServerGateway`.

    `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._visits: set[asyncio.Task[None]] = set()

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Every tool that the server lists now; raises ServerError within `timeout` seconds.

        A program is started without asking: consent is the caller's matter. It may still be ending when this
        returns; `close` waits for that. The first call also imports the mcp library, off the loop, about 0.5 s.
        """
        if spec.transport is Transport.FILE:
            return await self._read(spec, timeout)
        visit, told = await asyncio.to_thread(_library)
        evidence = Evidence()
        answer: asyncio.Future[Listing] = asyncio.get_running_loop().create_future()
        task = self._start(visit(spec, self._environment, evidence, answer))
        try:
            either: tuple[asyncio.Future[Any], ...] = (answer, task)
            await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise _unanswered(task, told, Faults(spec, evidence), timeout)
        finally:
            if not answer.done():
                answer.cancel()
                task.cancel()

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """The tools that a file holds, by server; raises ServerError."""
        return await asyncio.to_thread(read_catalogue, path)

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Given definitions, by server; `name` is the server of those that name none."""
        return await asyncio.to_thread(sort_catalogue, name, definitions)

    async def close(self) -> None:
        """Leave every server; returns when no connection and no program of ours is left."""
        for task in self._visits:
            if not task.cancelling():
                task.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)

    def _start(self, visit: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(visit)
        self._visits.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._visits.discard(task)
        if not task.cancelled():
            task.exception()

    async def _read(self, spec: ServerSpec, seconds: float) -> Listing:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.to_thread(read_tools_file, spec)
        except TimeoutError:
            raise Faults(spec, Evidence()).silent(seconds) from None


def _unanswered(task: "asyncio.Task[None]", told: _Told, faults: Faults, seconds: float) -> ServerError:
    if not task.done():
        return faults.silent(seconds)
    error = None if task.cancelled() else task.exception()
    return faults.cut_short() if error is None else told(error, faults)


def _library() -> tuple[_Visit, _Told]:
    """The half of this adapter that needs the mcp library, imported when first used."""
    from mcp_tef.servers.visit import told, visit

    return visit, told
