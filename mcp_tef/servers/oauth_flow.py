"""Parts that every OAuth flow shares, and the flow without a person: client credentials by secret or by key."""

import base64
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote

import httpx2
import jwt
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.utils import extract_scope_from_www_auth, issuers_match, union_scopes
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import PrivateAttr, ValidationError

from mcp_tef.model.addresses import host_of, is_loopback, origin_of
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import SIGNING_ALGORITHMS
from mcp_tef.servers.credential_store import CredentialStore, ServerAccess
from mcp_tef.servers.http_transport import is_here
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.servers.mcp_internals import OAuthFlowSteps
from mcp_tef.servers.observations import Observations, Refusal, quoted
from mcp_tef.trust.addresses import Reach, is_own_host, literal_address, reach_of
from mcp_tef.trust.names import shown_host


class RefusedError(OAuthFlowError):
    """There will be no sign-in; `refusal` says why."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.refusal = Refusal(what, hint)


def mark(request: httpx2.Request, named: frozenset[str]) -> None:
    """Tell a request of the sign-in from those to the server, and hold it back where it may not go.

    `named` are the origins that the user agreed to: the server's, and the issuer's where it was given.
    """
    origin = origin_of(str(request.url))
    if request.method == "POST" or origin not in named:
        require_private(request.url)
    if origin not in named and _leads_inside(request.url.host, named):
        raise RefusedError(
            f"wants the sign-in sent to {quoted(shown_host(request.url.host))}, which is in a network of your own",
            f"If that is meant, name it as the issuer: --issuer {quoted(origin)}",
        )
    request.extensions = {**request.extensions, "sign_in": True}


def require_private(url: httpx2.URL) -> None:
    """Codes and tokens travel encrypted, or not beyond this machine."""
    if url.scheme not in ("http", "https"):
        raise RefusedError(
            f"names an address of {quoted(url.scheme)}: for the sign-in", "Ask who runs it to correct it."
        )
    if url.scheme != "https" and not is_here(url.host):
        raise RefusedError(
            f"wants the sign-in sent unprotected to {quoted(shown_host(url.host))}",
            "Ask who runs it to offer it at https.",
        )


def _leads_inside(host: str, named: frozenset[str]) -> bool:
    """Return True for a host of this machine or a private network that a server out on the internet names."""
    address = literal_address(host)
    if address is not None and reach_of(address) is Reach.NEVER:
        return True
    return is_own_host(host) and not any(is_own_host(host_of(origin)) for origin in named)


def refusal_of(error: OAuthFlowError | ValidationError, redact: Callable[[str], str] = str) -> Refusal:
    """The words for what stopped a sign-in; secrets go before the text is cut short, which could leave half of one."""
    match error:
        case RefusedError():
            return error.refusal
        case ValidationError():
            return Refusal(
                "answered the sign-in in a way that OAuth does not allow", "Its service has to be corrected."
            )
    detail = quoted(redact(str(error))).rstrip(".")
    match error:
        case OAuthRegistrationError():
            hint = "Enter the client id that the service gave you, or ask for one."
            return Refusal(f"would not register us as a client: {detail}", hint)
        case OAuthTokenError():
            return Refusal(f"gave no token for the sign-in: {detail}", "Sign in again; check the client's secret.")
        case _:
            return Refusal(
                f"could not be signed in to: {detail}", "Sign in again; its service may have to be corrected."
            )


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


class ObservedOAuthFlow(OAuthFlowSteps):
    """An SDK flow whose side requests are marked and held to https, and whose failures become observations.

    Subclasses call `_observe` before the SDK's constructor, and `_choose_scope` after it.
    """

    def _observe(self, resolved: ResolvedSpec, observations: Observations) -> None:
        self._url = resolved.url()
        self._said = resolved.spec.oauth
        self._client_secret = resolved.client_secret()
        self._observations = observations
        self._status = 0
        self._named = frozenset(filter(None, (origin_of(self._url), origin_of(self._said.issuer or ""))))

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
                    mark(outgoing, self._named)
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

    def select_authorization_server(self, advertised: list[str]) -> str:
        own = self._said.issuer
        return next((server for server in advertised if own and issuers_match(server, own)), advertised[0])

    def expected_issuer(self) -> str:
        """Return the issuer that metadata must have, once it may be asked for the client that we are."""
        issuer = super().expected_issuer()
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


def client_credentials_auth(
    resolved: ResolvedSpec, access: ServerAccess, observations: Observations
) -> OAuthClientProvider:
    """Return what authenticates requests with client credentials; ServerError where they cannot be used."""
    said = resolved.spec.oauth
    if not said.client_id:
        raise resolved.fault("has no client id to sign in with", "Add --client-id ID, as the service gave it.")
    key, secret = resolved.private_key(), resolved.client_secret()
    if key is None and secret is None:
        raise resolved.fault(
            "has neither a secret nor a private key to sign in with",
            "Add --secret-env VARIABLE, --secret-keychain ENTRY or --private-key-file FILE.",
        )
    tokens = TokenMemory(access, observations, _token_name(resolved.url(), said.client_id, said.scope, key or secret))
    if key is None:
        return ClientSecretSignIn(resolved, observations, tokens, said.client_id, secret or "")
    algorithm = _algorithm(resolved, key)
    parameters = SignedJWTParameters(
        issuer=said.client_id, subject=said.client_id, signing_key=key, signing_algorithm=algorithm
    )
    return PrivateKeySignIn(resolved, observations, tokens, said.client_id, parameters.create_assertion_provider())


class TokenMemory:
    """The SDK's storage of tokens, kept in memory for as long as the process runs."""

    def __init__(self, access: ServerAccess, observations: Observations, name: str) -> None:
        self._access = access
        self._observations = observations
        self._name = name

    async def get_tokens(self) -> OAuthToken | None:
        """Return the token of an earlier connection, which may have expired."""
        known = None if self._access.afresh else await self._credentials.grant(self._name, remembered=False)
        try:
            tokens = OAuthToken.model_validate_json(known.reveal() if known else "")
        except ValidationError:
            return None
        self._hide(tokens)
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep a token; a renewal token is of no use to a client that can ask again (RFC 6749, section 4.4.3)."""
        tokens.refresh_token = None
        self._hide(tokens)
        await self._credentials.keep(self._name, Secret(tokens.model_dump_json(exclude_none=True)), remember=False)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return None: the client is given."""
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Do nothing: the client is given."""

    @property
    def _credentials(self) -> CredentialStore:
        return self._access.credentials

    def _hide(self, tokens: OAuthToken) -> None:
        self._observations.secrets += (Secret(tokens.access_token),)


class ClientSecretSignIn(ObservedOAuthFlow, ClientCredentialsOAuthProvider):
    """The flow with a client secret, sent as the authorization server takes it."""

    def __init__(
        self, resolved: ResolvedSpec, observations: Observations, tokens: TokenMemory, client_id: str, secret: str
    ) -> None:
        self._observe(resolved, observations)
        header = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
        resolved.hide(quote(secret, safe=""))
        resolved.hide(base64.b64encode(header.encode()).decode())
        super().__init__(self._url, tokens, client_id, secret, issuer=self._url)
        self._issuer = self._said.issuer  # None is deprecated in the SDK; `_expected_issuer` decides in its place
        self._choose_scope()

    async def request_authorization(self) -> httpx2.Request:
        self._use_supported_method()
        return await super().request_authorization()


class PrivateKeySignIn(ObservedOAuthFlow, PrivateKeyJWTOAuthProvider):
    """The flow with a signed assertion, `private_key_jwt`; the key itself never leaves this process."""

    def __init__(
        self,
        resolved: ResolvedSpec,
        observations: Observations,
        tokens: TokenMemory,
        client_id: str,
        sign: Callable[[str], Awaitable[str]],
    ) -> None:
        self._observe(resolved, observations)
        self._client_secret = None  # an assertion is good for one authorization server only, so it may go to any
        super().__init__(self._url, tokens, client_id, self._signed, issuer=self._url)
        self._sign = sign
        self._issuer = self._said.issuer
        self._choose_scope()

    async def _signed(self, audience: str) -> str:
        assertion = await self._sign(audience)
        self._observations.secrets += (Secret(assertion),)
        return assertion


def _algorithm(resolved: ResolvedSpec, key: str) -> str:
    """Return the algorithm that was chosen, or the first that the key can sign with; ServerError where none can."""
    chosen = resolved.spec.oauth.signing_algorithm
    for algorithm in (chosen,) if chosen else SIGNING_ALGORITHMS:
        try:
            jwt.encode({}, key, algorithm=algorithm)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        return algorithm
    what = f"cannot sign with {chosen}" if chosen else "cannot be used: it may be encrypted or damaged"
    raise resolved.fault(f"has a private key that {what}", "Name another key, or leave --signing-algorithm out.")


def _token_name(url: str, client_id: str, scope: str | None, credential: str | None) -> str:
    """Return a name for the token that changes with all that it was asked with."""
    asked_with = "\n".join((url, client_id, scope or "", credential or ""))
    return f"client {hashlib.sha256(asked_with.encode()).hexdigest()}"
