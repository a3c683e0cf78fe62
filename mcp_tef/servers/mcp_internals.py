"""Everything private of the `mcp` library that the adapter needs; a test fails when an update changes any of it.

The library offers no public way to answer for the steps of its OAuth flow one by one
(https://github.com/modelcontextprotocol/python-sdk/issues/2121 is about the first of them, and still open), nor to
see answers to requests that nobody made. Its stream types and requests within one origin are in private modules.
"""

from typing import Any

import httpx2
from mcp.client._transport import TransportStreams as TransportStreams
from mcp.client.auth import OAuthClientProvider
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.shared._httpx_utils import request_within_origin as request_within_origin
from mcp.shared._httpx_utils import sse_within_origin as sse_within_origin
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import ErrorData, RequestId

PRIVATE_METHODS = {
    OAuthClientProvider: {
        "_initialize": "(self) -> None",
        "_perform_authorization": "(self) -> httpx2.Request",
        "_perform_authorization_code_grant": "(self) -> tuple[str, str]",
        "_select_authorization_server": "(self, advertised: list[str]) -> str",
        "_expected_issuer": "(self) -> str",
    },
    JSONRPCDispatcher: {
        "_resolve_pending": ("(self, request_id: 'RequestId | None', outcome: 'dict[str, Any] | ErrorData') -> 'None'"),
    },
}
"""The signatures of the private methods that are overridden here."""


class StrayAnswerDispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher, which also reports answers to requests that nobody made."""

    def note_stray_answer(self, request_id: RequestId | None, outcome: dict[str, Any] | ErrorData) -> None:
        """Note an answer to no request of ours, before the SDK drops it."""

    def _resolve_pending(self, request_id: RequestId | None, outcome: dict[str, Any] | ErrorData) -> None:
        if request_id is None or coerce_request_id(request_id) not in self._pending:
            self.note_stray_answer(request_id, outcome)
        super()._resolve_pending(request_id, outcome)


class OAuthFlowSteps(OAuthClientProvider):
    """The SDK's OAuth flow, with the steps that subclasses change as public methods."""

    async def load_grant(self) -> None:
        """Load what storage holds, once before the first request."""
        await super()._initialize()

    async def load_grant_once(self) -> None:
        """Load what storage holds, unless that was done before."""
        if not self._initialized:
            await self.load_grant()

    async def request_authorization(self) -> httpx2.Request:
        """Return the request for a token, after the user has signed in where that takes a person."""
        return await super()._perform_authorization()

    async def request_code(self) -> tuple[str, str]:
        """Return an authorization code and its PKCE verifier."""
        return await super()._perform_authorization_code_grant()

    def select_authorization_server(self, advertised: list[str]) -> str:
        """Return one of the authorization servers that the resource advertises."""
        return super()._select_authorization_server(advertised)

    def expected_issuer(self) -> str:
        """Return the issuer that the metadata of the authorization server must name."""
        return super()._expected_issuer()

    async def _initialize(self) -> None:
        await self.load_grant()

    async def _perform_authorization(self) -> httpx2.Request:
        return await self.request_authorization()

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        return await self.request_code()

    def _select_authorization_server(self, advertised: list[str]) -> str:
        return self.select_authorization_server(advertised)

    def _expected_issuer(self) -> str:
        return self.expected_issuer()


def connection_of(session: ServerSession) -> Connection:
    """Return the connection of a request's session, which lasts longer than the session."""
    return session._connection  # noqa: SLF001  # the library has no public way
