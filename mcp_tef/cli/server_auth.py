"""How a server is authenticated to, as options of `servers add` and `servers edit`; no option holds a secret."""

from argparse import Namespace
from dataclasses import replace

from mcp_tef import AuthType, InputError, OAuthClient, ServerSpec
from mcp_tef.cli.arguments import Parser

_KINDS = {kind.value.replace("_", "-"): kind for kind in AuthType}
_OPTIONS = {
    "--auth": "auth",
    "--secret-env": "secret_env",
    "--secret-keychain": "secret_keychain",
    "--bearer-env": "bearer_env",
    "--client-id": "client_id",
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
    parser.add_argument("--client-id", metavar="ID", help="the OAuth client that the service gave you, if it did")
    remember = "keep what a sign-in by OAuth brings in the system keychain"
    parser.add_argument("--remember-sign-in", action="store_true", default=None, help=remember)


def given_auth(arguments: Namespace) -> list[str]:
    """The options that were given."""
    return [option for option, name in _OPTIONS.items() if getattr(arguments, name) is not None]


def authenticated(spec: ServerSpec, arguments: Namespace) -> ServerSpec:
    """The server with what the options change; InputError where they do not go together."""
    if not given_auth(arguments):
        return spec
    kind = AuthType.BEARER if arguments.bearer_env else _KINDS.get(arguments.auth, spec.auth_type)
    kept = spec if kind is spec.auth_type else replace(spec, secret=None, oauth=OAuthClient())
    client = OAuthClient(
        client_id=kept.oauth.client_id if arguments.client_id is None else arguments.client_id,
        remember=kept.oauth.remember or bool(arguments.remember_sign_in),
    )
    changed = replace(kept, auth_type=kind, secret=_secret(arguments) or kept.secret, oauth=client)
    _require_whole(changed)
    return changed


def _secret(arguments: Namespace) -> str | None:
    if arguments.secret_keychain:
        return f"${{keychain:{arguments.secret_keychain}}}"
    variable = arguments.secret_env or arguments.bearer_env
    return f"${{{variable}}}" if variable else None


def _require_whole(spec: ServerSpec) -> None:
    if spec.auth_type is AuthType.NONE and spec.secret:
        what, hint = "is given a secret and no --auth to use it for", "Add for example --auth bearer."
    elif spec.auth_type is not AuthType.OAUTH2 and spec.oauth != OAuthClient():
        what, hint = "is not signed in to by OAuth", "Add --auth oauth2, or leave --client-id and the like out."
    elif spec.auth_type not in (AuthType.NONE, AuthType.OAUTH2) and not spec.secret:
        what, hint = "has no secret to authenticate with", "Add --secret-env VARIABLE or --secret-keychain ENTRY."
    else:
        return
    raise InputError(f"{spec.name} {what}.", hint=hint, code="bad_usage")
