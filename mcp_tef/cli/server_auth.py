"""Options of `servers add` and `servers edit` for authentication; secrets are never stored."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import SIGNING_ALGORITHMS, AuthType, InputError, OAuthClient, ServerSpec
from mcp_tef.cli.arguments import Parser
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine

_BY_OAUTH = (AuthType.OAUTH2, AuthType.CLIENT_CREDENTIALS)
_KINDS = {kind.value.replace("_", "-"): kind for kind in AuthType}
_OPTIONS = {
    "--auth": "auth",
    "--secret-env": "secret_env",
    "--secret-keychain": "secret_keychain",
    "--bearer-env": "bearer_env",
    "--private-key-file": "private_key_file",
    "--signing-algorithm": "signing_algorithm",
    "--client-id": "client_id",
    "--issuer": "issuer",
    "--scope": "scope",
    "--remember-sign-in": "remember_sign_in",
}


def add_auth_options(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument("--auth", choices=tuple(_KINDS), help="how requests to the url are authenticated")
    secret = parser.add_mutually_exclusive_group()
    what = "token, key, user:password, or the OAuth client's secret"
    secret.add_argument("--secret-env", metavar="VARIABLE", help=f"the environment variable that holds the {what}")
    secret.add_argument("--secret-keychain", metavar="ENTRY", help="the same, from `keys set server:ENTRY`")
    secret.add_argument("--bearer-env", metavar="VARIABLE", help="short for --auth bearer --secret-env VARIABLE")
    what = "the private key (PEM) that signs for the OAuth client; only its path is stored"
    secret.add_argument("--private-key-file", type=Path, metavar="FILE", help=what)
    what = "what the private key signs with (default: the first that fits the key)"
    parser.add_argument("--signing-algorithm", choices=SIGNING_ALGORITHMS, metavar="NAME", help=what)
    parser.add_argument("--client-id", metavar="ID", help="the OAuth client that the service gave you, if it did")
    what = "the authorization server of that client; its secret is sent to no other"
    parser.add_argument("--issuer", metavar="URL", help=what)
    what = "a scope to request by OAuth, instead of those that the server names"
    parser.add_argument("--scope", action="append", metavar="S", help=what)
    remember = "keep what a sign-in by OAuth brings in the system keychain"
    parser.add_argument("--remember-sign-in", action="store_true", default=None, help=remember)
    remember = "keep secrets that are written out in these options in the system keychain"
    parser.add_argument("--remember", action="store_true", help=remember)


def given_auth(arguments: Namespace) -> list[str]:
    """Return the options that were given."""
    return [option for option, name in _OPTIONS.items() if getattr(arguments, name) is not None]


def authenticated(spec: ServerSpec, arguments: Namespace) -> ServerSpec:
    """Return the server with what the options change; InputError where they do not go together."""
    if not given_auth(arguments):
        return spec
    kind = AuthType.BEARER if arguments.bearer_env else _KINDS.get(arguments.auth, spec.auth_type)
    kept = spec if kind is spec.auth_type else replace(spec, secret=None, oauth=OAuthClient())
    client, secret = _client(kept.oauth, arguments), _secret(arguments)
    if secret:
        client = replace(client, private_key_file=None)
    elif arguments.private_key_file:
        kept = replace(kept, secret=None)
    changed = replace(kept, auth_type=kind, secret=secret or kept.secret, oauth=client)
    _require_whole(changed)
    return changed


def _client(client: OAuthClient, arguments: Namespace) -> OAuthClient:
    """Return the OAuth client with what the options change; an empty value takes one away."""
    given = {
        "client_id": arguments.client_id,
        "remember": arguments.remember_sign_in,
        "scope": None if arguments.scope is None else " ".join(" ".join(arguments.scope).split()),
        "issuer": arguments.issuer,
        "private_key_file": arguments.private_key_file and str(arguments.private_key_file.expanduser().absolute()),
        "signing_algorithm": arguments.signing_algorithm,
    }
    changes: dict[str, Any] = {name: value or None for name, value in given.items() if value is not None}
    return replace(client, **changes)


async def without_secrets(
    engine: "Engine", spec: ServerSpec, arguments: Namespace, terminal: Terminal, before: ServerSpec | None = None
) -> ServerSpec:
    """Return the definition with references in place of secrets, which are remembered or used for this command only."""
    typed = engine.written_secrets.taken_out(spec, before)
    if not typed.secrets:
        return spec
    for secret in typed.secrets:
        terminal.note(f"A secret is written out in the {secret.where} of {spec.name}. It is not stored.")
    can_ask = terminal.asks and bool(engine.keys.keychain())
    if arguments.remember or (can_ask and terminal.confirms("Keep it in the system keychain?")):
        remembered = await engine.written_secrets.remember(typed)
        terminal.note("It is kept in the system keychain, and read from there when connecting.")
        return remembered
    engine.written_secrets.hold(typed.values)
    names = ", ".join(dict.fromkeys(secret.variable for secret in typed.secrets))
    terminal.note(f"It is used for this command only. For later ones, set the environment variable {names}.")
    return typed.spec


def _secret(arguments: Namespace) -> str | None:
    if arguments.secret_keychain:
        return f"${{keychain:{arguments.secret_keychain}}}"
    variable = arguments.secret_env or arguments.bearer_env
    return f"${{{variable}}}" if variable else None


def _require_whole(spec: ServerSpec) -> None:
    fault = _unused_secret(spec) or _client_fault(spec) or _missing_secret(spec)
    if fault:
        what, hint = fault
        raise InputError(f"{spec.name} {what}.", hint=hint, code="bad_usage")


def _unused_secret(spec: ServerSpec) -> tuple[str, str] | None:
    if spec.auth_type is AuthType.NONE and spec.secret:
        return "is given a secret and no --auth to use it for", "Add for example --auth bearer."
    return None


def _client_fault(spec: ServerSpec) -> tuple[str, str] | None:
    """Return what is wrong with the OAuth client, and what to do."""
    client = spec.oauth
    if spec.auth_type not in _BY_OAUTH:
        hint = "Add --auth oauth2, or leave --client-id and the like out."
        return ("is not signed in to by OAuth", hint) if client != OAuthClient() else None
    if spec.auth_type is AuthType.CLIENT_CREDENTIALS:
        hint = "Add --client-id ID, as the service gave it."
        return None if client.client_id else ("has no client id to sign in with", hint)
    has_key = client.private_key_file or client.signing_algorithm
    return ("is not signed in to with a private key", "Add --auth client-credentials.") if has_key else None


def _missing_secret(spec: ServerSpec) -> tuple[str, str] | None:
    if spec.secret or spec.auth_type in (AuthType.NONE, AuthType.OAUTH2):
        return None
    if spec.auth_type is not AuthType.CLIENT_CREDENTIALS:
        return "has no secret to authenticate with", "Add --secret-env VARIABLE or --secret-keychain ENTRY."
    hint = "Add --secret-env VARIABLE or --private-key-file FILE."
    return None if spec.oauth.private_key_file else ("has no secret to authenticate with", hint)
