"""Signs in to HTTP servers as a client of its own, without a person: OAuth client credentials by secret or by key."""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from urllib.parse import quote

import httpx2
import jwt
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import ValidationError

from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import SIGNING_ALGORITHMS
from mcp_tef.servers.credential_store import CredentialStore, ServerAccess
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.servers.oauth_flow import ObservedOAuthFlow
from mcp_tef.servers.observations import Observations


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

    async def _perform_authorization(self) -> httpx2.Request:
        self._use_supported_method()
        return await super()._perform_authorization()


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
