"""OAuth 2.1 sign-in to HTTP servers: the SDK's flow, our redirect listener, and grants that outlast a session."""

import asyncio
import html
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from secrets import compare_digest
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    is_valid_client_metadata_url,
    validate_authorization_response_iss,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from mcp_tef.errors import StoreError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType
from mcp_tef.servers.credential_store import ServerAccess, grant_place
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.servers.oauth_flow import (
    UNAUTHORIZED,
    ObservedOAuthFlow,
    RefusedError,
    client_credentials_auth,
    require_private,
)
from mcp_tef.servers.observations import Observations, quoted

_MAX_BYTES = 64 * 1024
_PATH = "/callback"
_SECONDS = 10.0
_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {size}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
)


class RedirectListener:
    """One sign-in's ear. Only who knows the `state` that was sent along is heard; others learn nothing."""

    def __init__(self) -> None:
        self.redirect = ""
        self._state: str | None = None
        self._heard: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._connections: set[asyncio.Task[None]] = set()

    def expect(self, authorization: str) -> None:
        """Wait for the answer to the sign-in that this address begins."""
        self._state = dict(parse_qsl(urlsplit(authorization).query)).get("state")
        if self._heard.done():
            self._heard = asyncio.get_running_loop().create_future()

    async def answer(self) -> Mapping[str, str]:
        """The parameters that the browser brings back."""
        return await self._heard

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser, or of anything else on this machine."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                async with asyncio.timeout(_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._reply(head.split(b"\r\n", 1)[0].decode("latin-1")))
                    await writer.drain()
        finally:
            writer.close()
            self._connections.discard(task)

    def _reply(self, line: str) -> bytes:
        method, _, rest = line.partition(" ")
        path, _, query = rest.rpartition(" ")[0].partition("?")
        if method != "GET" or path != _PATH:
            return _page("404 Not Found", "There is nothing here.")
        given = dict(parse_qsl(query))
        if self._state is None or not compare_digest(given.get("state", "").encode(), self._state.encode()):
            return _page("400 Bad Request", "This does not belong to a sign-in that is under way.")
        if not self._heard.done():
            self._heard.set_result(given)
        done = "You are signed in" if "code" in given else "The sign-in was declined"
        return _page("200 OK", f"{done}. You can close this page and go back to mcp-tef.")

    async def close(self) -> None:
        """Close the connections that are still open."""
        self._heard.cancel()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


@asynccontextmanager
async def listening() -> AsyncIterator[RedirectListener]:
    """A listener at a port of its own, for as long as a sign-in takes."""
    listener = RedirectListener()
    server = await asyncio.start_server(listener.receive, "127.0.0.1", 0, limit=_MAX_BYTES)
    listener.redirect = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_PATH}"
    try:
        yield listener
    finally:
        server.close()
        await listener.close()


def _page(status: str, words: str) -> bytes:
    policy = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""
    body = f'<!doctype html><meta charset="utf-8">{policy}<title>mcp-tef</title><p>{html.escape(words)}</p>'.encode()
    return _PAGE.format(status=status, size=len(body)).encode() + body


_NOWHERE = "http://127.0.0.1/callback"
_SIGN_IN = "Sign in to it, in the window or with: mcp-tef servers check."
_ENDPOINTS = {"issuer", "authorization_endpoint", "token_endpoint"}


class OAuthGrant(BaseModel):
    """Tokens of a sign-in, with all that is needed to renew them."""

    tokens: OAuthToken
    client: OAuthClientInformationFull
    expires_at: float | None = None
    endpoints: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None


@asynccontextmanager
async def signing_in(
    resolved: ResolvedSpec, access: ServerAccess, observations: Observations
) -> AsyncIterator[OAuthClientProvider | None]:
    """Yield the authentication of requests by OAuth, for a server that asks for that.

    An earlier grant is used, and renewed while that goes; beyond that it takes a person at hand.
    """
    if resolved.spec.auth_type is AuthType.CLIENT_CREDENTIALS:
        yield client_credentials_auth(resolved, access, observations)
    elif resolved.spec.auth_type is not AuthType.OAUTH2:
        yield None
    elif access.show is None:
        yield CodeSignIn(resolved, access, observations)
    else:
        async with listening() as listener:
            yield CodeSignIn(resolved, access, observations, listener)


class CodeSignIn(ObservedOAuthFlow):
    """The sign-in of one session. It is its own storage, so that a grant is kept whole and at once."""

    def __init__(
        self,
        resolved: ResolvedSpec,
        access: ServerAccess,
        observations: Observations,
        listener: RedirectListener | None = None,
    ) -> None:
        self._observe(resolved, observations)
        self._place = grant_place(self._url, self._said.issuer)
        self._access = access
        self._listener = listener
        self._taken: Secret | None = None
        self._stored_endpoints: OAuthMetadata | None = None
        self._redirect = AnyUrl(listener.redirect if listener else _NOWHERE)
        document = self._said.client_id if is_valid_client_metadata_url(self._said.client_id) else None
        super().__init__(
            self._url,
            OAuthClientMetadata(client_name="mcp-tef desktop", redirect_uris=[self._redirect]),
            self,
            self._send_to_browser,
            self._heard_back,
            client_metadata_url=document,
        )
        self._choose_scope()
        self._given = None if document else self._said.client_id

    async def get_tokens(self) -> OAuthToken | None:
        """Of no use: a grant is taken up as a whole."""
        return None

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client that the service gave us, where it did."""
        if not self._given:
            return None
        return OAuthClientInformationFull(
            client_id=self._given,
            client_secret=self._client_secret,
            redirect_uris=[self._redirect],
            token_endpoint_auth_method="client_secret_basic" if self._client_secret else "none",
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Part of the grant that follows."""

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the grant as it is now."""
        context = self.context
        if context.client_info is None:
            return
        endpoints = context.oauth_metadata
        grant = OAuthGrant(
            tokens=tokens,
            client=context.client_info,
            expires_at=context.token_expiry_time,
            endpoints=endpoints and OAuthMetadata.model_validate(endpoints.model_dump(include=_ENDPOINTS)),
            resource=context.protected_resource_metadata,
        )
        self._hide(grant)
        text = Secret(grant.model_dump_json(exclude_defaults=True))
        self._taken = text
        await self._access.credentials.keep(self._place, text, remember=self._said.remember)

    async def load_grant(self) -> None:
        """Take up the stored grant as a whole; without one it takes a person at hand."""
        await super().load_grant()
        if not self._access.afresh:
            self._taken = await self._access.credentials.grant(self._place, remembered=self._said.remember)
        if not self._take_up() and self._listener is None:
            raise RefusedError("wants you to sign in", _SIGN_IN)

    def _take_up(self) -> bool:
        """Use the grant that was taken; False where it is none."""
        try:
            grant = OAuthGrant.model_validate_json(self._taken.reveal() if self._taken else "")
        except ValidationError:
            return False
        self._hide(grant)
        context = self.context
        context.current_tokens, context.client_info = grant.tokens, grant.client
        context.token_expiry_time, context.oauth_metadata = grant.expires_at, grant.endpoints
        self._stored_endpoints = grant.endpoints
        context.protected_resource_metadata = grant.resource
        context.auth_server_url = str(grant.resource.authorization_servers[0]) if grant.resource else None
        return True

    async def _takes_newer(self) -> bool:
        """Use a newer grant: a renewal here or in another process has invalidated the one taken."""
        if self._access.afresh or self._taken is None:
            return False
        newer = await self._access.credentials.newer(self._place, self._taken, remembered=self._said.remember)
        self._taken = newer or self._taken
        return newer is not None and self._take_up()

    def _hide(self, grant: OAuthGrant) -> None:
        texts = (grant.tokens.access_token, grant.tokens.refresh_token, grant.client.client_secret)
        self._observations.secrets += tuple(Secret(text) for text in texts if text)

    async def _prepare(self, turn: AsyncExitStack) -> None:
        """Renew an expired grant, or wait for another process that renews it already."""
        context = self.context
        async with context.lock:
            await self.load_grant_once()
        if context.can_refresh_token() and not context.is_token_valid():
            await turn.enter_async_context(self._access.credentials.turn(self._place, remembered=self._said.remember))
            await self._takes_newer()

    async def _starts_over(self, response: httpx2.Response) -> bool:
        """Take a newer grant where this one is refused; look endpoints up anew where it is too narrow."""
        demands_more = extract_field_from_www_auth(response, "error") == "insufficient_scope"
        if demands_more and self.context.oauth_metadata is self._stored_endpoints:
            self.context.oauth_metadata = None  # those of a stored grant say nothing of PKCE and `iss`
        return response.status_code == UNAUTHORIZED and await self._takes_newer()

    async def request_code(self) -> tuple[str, str]:
        """Refuse authorization servers without PKCE, as MCP asks of clients; older ones may have no metadata at all."""
        metadata = self.context.oauth_metadata
        if metadata is not None and "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise RefusedError(
                f"uses an authorization server, {quoted(str(metadata.issuer))}, whose metadata does not offer PKCE with"
                " S256, which MCP requires",
                "Ask who runs it to add S256 to code_challenge_methods_supported.",
            )
        return await super().request_code()

    async def _send_to_browser(self, authorization: str) -> None:
        if self._listener is None or self._access.show is None:
            await self._give_up()
            raise RefusedError("wants you to sign in again", _SIGN_IN)
        require_private(httpx2.URL(authorization))
        self._listener.expect(authorization)
        self._observations.wait_for_person(True)
        self._access.show(authorization)

    async def _heard_back(self) -> AuthorizationCodeResult:
        assert self._listener is not None
        given = await self._listener.answer()
        self._observations.wait_for_person(False)
        self._require_issuer(given.get("iss"))
        if "code" not in given:
            why = quoted(given.get("error_description") or given.get("error", "")).rstrip(".") or "without a reason"
            raise RefusedError(f"was not signed in to: {why}", "Sign in again, and allow it in the browser.")
        if self._given:
            self._use_supported_method()
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))

    async def _give_up(self) -> None:
        """Forget a grant that is no good any more; one that is good for less than was asked stays."""
        if await self._takes_newer():
            raise RefusedError("was signed in to anew by somebody else meanwhile", "Try again.")
        if self._status == UNAUTHORIZED:
            with suppress(StoreError):
                await self._access.credentials.drop(self._place)

    def _require_issuer(self, issuer: str | None) -> None:
        """Refuse an answer of another authorization server (RFC 9207), before any word of it is used."""
        try:
            validate_authorization_response_iss(issuer, self.context.oauth_metadata)
        except OAuthFlowError:
            raise RefusedError(
                "got an answer to the sign-in that does not come from the authorization server that was asked",
                "Sign in again; if this comes back, ask who runs the server.",
            ) from None
