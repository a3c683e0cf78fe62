"""Client of MCP servers, and sign-ins by a browser.

Each session has a task of its own, so that closing it never delays its answer.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mcp_tef.errors import ServerError, ServerFault, TefError
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.servers import AuthType, ServerSpec
from mcp_tef.model.tools import Listing
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.credential_store import CredentialStore, ServerAccess, grant_place
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.observations import Observations
from mcp_tef.trust.consents import ConsentError
from mcp_tef.trust.plans import StartPlan

if TYPE_CHECKING:
    from mcp_tef.servers.session import ServerRequest


T = TypeVar("T")
_HoldSession: TypeAlias = Callable[..., Coroutine[None, None, None]]
_Told: TypeAlias = Callable[[BaseException, ServerErrors], ServerError]


class McpClient:
    """Sessions with servers under way.

    `${NAME}` in a spec is read from `environment` (default: this process's) when it connects.
    `show` opens the browser for a sign-in; without it nobody can sign in. `require_start` raises ConsentError for the
    start of a program that is not allowed.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
        show: OpenAddress | None = None,
        require_start: Callable[[ServerSpec, StartPlan], object] = lambda _spec, _plan: None,
    ) -> None:
        self._limits = limits
        self._access = ServerAccess(
            os.environ if environment is None else environment,
            credentials or CredentialStore(),
            show,
            require_start=require_start,
        )
        self._under_way: set[asyncio.Task[None]] = set()

    async def address(self, spec: ServerSpec) -> str:
        """The url of an HTTP server with its references filled in; ServerError."""
        return (await self._access.resolved(spec)).url()

    async def list_tools(self, spec: ServerSpec, seconds: float, *, afresh: bool = False) -> Listing:
        """Every tool that a server lists now; raises ServerError. `afresh` signs in anew."""
        return await self.send(spec, _listing, seconds, afresh=afresh)

    async def send(
        self, spec: ServerSpec, load: "Callable[[], ServerRequest[T]]", seconds: float, *, afresh: bool = False
    ) -> T:
        """Return what a request brings back within so many seconds; raises ServerError. `afresh` signs in anew.

        `load` gives the request and may import the mcp library, so it is called off the loop: about 0.5 s the first
        time. A program is started if `require_start` lets it. It may still be ending when this returns; `close` waits
        for that.
        """
        loaded = "mcp_tef.servers.session" in sys.modules
        hold, told, request = _loaded(load) if loaded else await asyncio.to_thread(_loaded, load)
        observations = Observations(limits=self._limits.limits)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        task = self._start(hold(spec, replace(self._access, afresh=afresh), observations, answer, request))
        try:
            either: tuple[asyncio.Future[Any], ...] = (answer, task)
            with suppress(TimeoutError):
                async with observations.within(seconds):
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise _unanswered(task, told, ServerErrors(spec, observations), seconds)
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

    def _start(self, session: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(session)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()


def _unanswered(task: "asyncio.Task[None]", told: _Told, errors: ServerErrors, seconds: float) -> TefError:
    if not task.done():
        return errors.silent(seconds)
    error = None if task.cancelled() else task.exception()
    if isinstance(error, ConsentError):
        return error
    return errors.cut_short() if error is None else told(error, errors)


def _loaded(load: "Callable[[], ServerRequest[T]]") -> "tuple[_HoldSession, _Told, ServerRequest[T]]":
    """The half of this adapter that needs the mcp library, imported when first used."""
    from mcp_tef.servers.error_mapping import server_error_of
    from mcp_tef.servers.session import hold_session

    return hold_session, server_error_of, load()


def _listing() -> "ServerRequest[Listing]":
    from mcp_tef.servers.tool_list_request import list_everything

    return list_everything


class McpSignIns:
    """Satisfies `ports.SignIns`; the grants are in the credential store, for all sessions."""

    def __init__(
        self,
        credentials: CredentialStore,
        show: OpenAddress | None = None,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        require_consent: Callable[[ServerSpec], object] = lambda _: None,
    ) -> None:
        self._credentials = credentials
        self._require_consent = require_consent
        self._limits = limits
        self._client = McpClient(environment, limits, credentials, show)

    async def needed(self, spec: ServerSpec) -> bool:
        """Return whether the server needs a sign-in by OAuth and has no grant; ServerError."""
        if spec.auth_type is not AuthType.OAUTH2:
            return False
        place = grant_place(await self._client.address(spec), spec.oauth.issuer)
        return await self._credentials.grant(place, remembered=spec.oauth.remember) is None

    async def sign_in(self, spec: ServerSpec) -> None:
        """Send the user to a browser and wait until they are back; ServerError, ConsentError."""
        self._require_consent(spec)
        await self._client.list_tools(spec, self._limits.limits.seconds, afresh=True)
        if await self.needed(spec):
            raise ServerError(
                ServerFault.SETTINGS, f"{spec.name} answers without a sign-in.", hint="Select no sign-in for it."
            )

    async def sign_out(self, spec: ServerSpec) -> None:
        """Forget what the sign-in brought; StoreError where the keychain refuses."""
        await self._credentials.drop(grant_place(await self._client.address(spec), spec.oauth.issuer))

    async def close(self) -> None:
        """Leave every server."""
        await self._client.close()
