"""Rule of listeners: whoever connects proves who he is first, on loopback too, which all users of a machine share.

`LISTENERS` names every place of the product that listens, and what it asks of peers. A test compares the table with
the source, and another one asks each listener without its proof.
"""

import hmac
import math
import secrets
import string
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import address_variables, providers_with_address
from mcp_tef.model.config import TOKEN, VARIABLES, WORKSPACE

TOKEN_BITS: Final = 128
_FEWEST_DIFFERENT: Final = 8
_ALPHABETS: Final = ((string.digits, 10), (string.hexdigits, 16))


class Proof(StrEnum):
    """Proof that a listener demands of those that connect."""

    BEARER = "a bearer token of 128 bits or more"
    CERTIFICATE = "the certificate of this cluster"
    STATE = "the state of the sign-in that is under way"


LISTENERS: Final[Mapping[str, Proof]] = {
    "mcp_tef/rest/service.py": Proof.BEARER,
    "mcp_tef/servers/serving.py": Proof.BEARER,
    "mcp_tef/servers/oauth.py": Proof.STATE,
    "mcp_tef/api/cluster_host.py": Proof.CERTIFICATE,
}
"""Files of the source that listen, each with what it asks."""


def new_token() -> str:
    """Return a token that nobody can guess, of 256 bits."""
    return secrets.token_urlsafe(32)


def strong_token(text: str) -> str:
    """Return a given token; InputError where it could have been guessed."""
    size = next((size for alphabet, size in _ALPHABETS if set(text) <= set(alphabet)), 64)
    if len(text) * math.log2(size) < TOKEN_BITS or len(set(text)) < _FEWEST_DIFFERENT or not text.isascii():
        hint = "Make one with: openssl rand -hex 32"
        raise InputError("The token is too short to be safe.", hint=hint, code="weak_token")
    return text


def bears(given: Sequence[bytes], token: str) -> bool:
    """Return True if the values of the header Authorization are one, and that one holds the token."""
    return len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {token}".encode())


_OF_THE_SYSTEM: Final = (
    *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "USER"),
    *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)
_OF_THE_NETWORK: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_VERIFY")
_OF_CLOUDS: Final = (
    *("AWS_CONFIG_FILE", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_REGION", "AWS_SHARED_CREDENTIALS_FILE"),
    *("AZURE_API_VERSION", "GOOGLE_APPLICATION_CREDENTIALS", "VERTEXAI_LOCATION", "VERTEXAI_PROJECT"),
)
"""Names of places, regions and files. Keys themselves are not handed on: a worker gets the one that its runs need."""


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a worker of ours is started with: of the system, our settings, addresses; no key."""
    names = {*_OF_THE_SYSTEM, *_OF_THE_NETWORK, *(name.lower() for name in _OF_THE_NETWORK), *_OF_CLOUDS}
    names |= {variable.name for variable in VARIABLES} - {TOKEN.name, WORKSPACE.name}
    names |= {name for provider in providers_with_address() for name in address_variables(provider)}
    return {name: text for name, text in environment.items() if name in names or name.upper() in _OF_THE_SYSTEM}
