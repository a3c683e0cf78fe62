"""Parts that every OAuth flow shares: refusals as text, chosen scopes, and the issuer of the client."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.utils import extract_scope_from_www_auth, issuers_match, union_scopes
from mcp.shared.auth import OAuthClientMetadata
from pydantic import PrivateAttr, ValidationError

from mcp_tef.model.addresses import is_loopback, origin_of
from mcp_tef.servers.http_transport import is_here
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.servers.observations import Observations, Refusal, quoted


class RefusedError(OAuthFlowError):
    """There will be no sign-in; `refusal` says why."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.refusal = Refusal(what, hint)


def mark(request: httpx2.Request) -> None:
    """Tell a request of the sign-in from those to the server, and hold it back where it would go unprotected."""
    if request.method == "POST":
        require_private(request.url)
    request.extensions = {**request.extensions, "sign_in": True}


def require_private(url: httpx2.URL) -> None:
    """Codes and tokens travel encrypted, or not beyond this machine."""
    if url.scheme != "https" and not is_here(url.host):
        raise RefusedError(
            f"wants the sign-in sent unprotected to {quoted(url.host)}",
            "Ask who runs it to offer it at https.",
        )


def refusal_of(error: OAuthFlowError | ValidationError, redact: Callable[[str], str] = str) -> Refusal:
    """The words for what stopped a sign-in; secrets go before the text is cut short, which could leave half of one."""
    match error:
        case RefusedError():
            return error.refusal
        case ValidationError():
            return Refusal("answered the sign-in in a way that OAuth does not allow", "Its service has to be mended.")
    detail = quoted(redact(str(error))).rstrip(".")
    match error:
        case OAuthRegistrationError():
            hint = "Enter the client id that the service gave you, or ask for one."
            return Refusal(f"would not register us as a client: {detail}", hint)
        case OAuthTokenError():
            return Refusal(f"gave no token for the sign-in: {detail}", "Sign in again; check the client's secret.")
        case _:
            return Refusal(f"could not be signed in to: {detail}", "Sign in again; its service may have to be mended.")


UNAUTHORIZED, FORBIDDEN = 401, 403


class ChosenScopeMetadata(OAuthClientMetadata):
    """Client metadata whose scope stays the chosen one when the SDK sets what the server names."""

    _chosen: str | None = PrivateAttr(default=None)

    def choose(self, scope: str) -> None:
        """Request these scopes from now on."""
        self._chosen = scope
        self.scope = scope

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, self._chosen if name == "scope" and self._chosen else value)


class ObservedOAuthFlow(OAuthClientProvider):
    """An SDK flow whose side requests are marked and held to https, and whose failures become observations.

    Subclasses call `_observe` before the SDK's constructor, and `_choose_scope` after it.
    """

    def _observe(self, resolved: ResolvedSpec, observations: Observations) -> None:
        self._url = resolved.url()
        self._said = resolved.spec.oauth
        self._client_secret = resolved.client_secret()
        self._observations = observations
        self._status = 0

    def _choose_scope(self) -> None:
        if self._said.scope:
            chosen = ChosenScopeMetadata.model_validate(self.context.client_metadata.model_dump())
            chosen.choose(self._said.scope)
            self.context.client_metadata = chosen

    async def _prepare(self, turn: AsyncExitStack) -> None:
        """Do what has to come before a request; `turn` is closed when the request itself is sent."""

    async def _starts_over(self, response: httpx2.Response) -> bool:
        """Return True if the request is to be sent again from the start, with another grant."""
        return False

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Run the SDK's flow; mark what is asked beside the request itself, and note what stops it."""
        turn = AsyncExitStack()
        flow = super().async_auth_flow(request)
        try:
            await self._prepare(turn)
            outgoing = await anext(flow)
            while True:
                beside = outgoing is not request
                if beside:
                    mark(outgoing)
                else:
                    await turn.aclose()
                self._observations.asking = outgoing.url.netloc.decode() if beside else ""
                response = yield outgoing
                self._status = self._status if beside else response.status_code
                if not beside and await self._starts_over(response):
                    await flow.aclose()
                    flow = super().async_auth_flow(request)
                    outgoing = await anext(flow)
                else:
                    if not beside:
                        self._add_demanded_scope(response)
                    outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except (OAuthFlowError, ValidationError) as error:
            self._observations.refusal = refusal_of(error, self._observations.redact)
            raise
        finally:
            await flow.aclose()
            await turn.aclose()

    def _add_demanded_scope(self, response: httpx2.Response) -> None:
        """Request what a challenge demands beside the chosen scopes: without it, this request cannot succeed."""
        metadata = self.context.client_metadata
        if isinstance(metadata, ChosenScopeMetadata) and response.status_code in (UNAUTHORIZED, FORBIDDEN):
            metadata.choose(union_scopes(metadata.scope, extract_scope_from_www_auth(response)) or "")

    def _select_authorization_server(self, advertised: list[str]) -> str:
        own = self._said.issuer
        return next((server for server in advertised if own and issuers_match(server, own)), advertised[0])

    def _expected_issuer(self) -> str:
        """Return the issuer that metadata must have, once it may be asked for the client that we are."""
        issuer = super()._expected_issuer()
        own = self._said.issuer
        if own and not issuers_match(issuer, own):
            raise RefusedError(
                f"leads to the authorization server {quoted(issuer)}, but its client is registered with {quoted(own)}",
                "Correct the issuer of the client, or ask who runs the server.",
            )
        if not own and self._client_secret and not self._is_at_home(issuer):
            raise RefusedError(
                f"wants its client's secret sent to {quoted(issuer)}, which is not its own address",
                f"If the client is registered there, name it as the issuer: --issuer {quoted(issuer)}",
            )
        return issuer

    def _is_at_home(self, issuer: str) -> bool:
        """Return True if an authorization server has the address of the server, or both are on this machine."""
        return origin_of(issuer) == origin_of(self._url) or (is_loopback(issuer) and is_loopback(self._url))

    def _use_supported_method(self) -> None:
        """Send the client secret in the request's body where the authorization server takes it only there."""
        client, metadata = self.context.client_info, self.context.oauth_metadata
        takes = (metadata and metadata.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
        if client and client.client_secret and "client_secret_basic" not in takes:
            client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105
