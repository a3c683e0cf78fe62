"""The REST service: a socket, a token where others can reach it, and the server that runs until it is stopped."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_tef import Engine, InputError, ReachError, Secret, how_to_install, new_token, strong_token

if TYPE_CHECKING:
    import uvicorn

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
MISSING: Final = f"REST needs further libraries. {how_to_install('fastapi')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOptions:
    """Address of the service, its certificate, and its token; one is made where none is given."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    certificate_key: Path | None = None
    token: Secret | None = None
    origins: tuple[str, ...] = ()
    """Origins that callers may have contacted."""
    head_seconds: float = 10.0
    body_seconds: float = 30.0

    @property
    def is_local(self) -> bool:
        """True if only this machine can reach the service."""
        return self.host in LOOPBACK


async def serve_rest(engine: Engine, options: RestOptions, tell: Callable[[str], object]) -> None:
    """Serve until cancelled or stopped by a signal; port 0 takes a free one.

    `tell` hears a new token once, what is sent unencrypted, and the address once connections are taken.

    Raises InputError where the libraries are missing, the token is short or the certificate cannot be used, and
    ReachError where the port is taken.
    """
    require_installed()
    import uvicorn

    from mcp_tef import bounded_by
    from mcp_tef.rest.app import create_app
    from mcp_tef.rest.request_guard import AccessRules

    token = _token(options, tell)
    rules = AccessRules(
        token=token,
        hosts=LOOPBACK | ({socket.gethostname().lower(), options.host.lower()} if not options.is_local else set()),
        any_address=not options.is_local,
        body_seconds=options.body_seconds,
    )
    config = uvicorn.Config(
        create_app(engine, rules),
        http=bounded_by(options.head_seconds),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.certificate_key,
    )
    engine.consents.allow_named((), options.origins)
    _load(config)
    await engine.load_clients()
    with _listener(options) as listener:
        scheme = "https" if options.certificate else "http"
        shown = f"[{options.host}]" if ":" in options.host else options.host
        if not options.is_local and options.certificate is None:
            tell("The token and the keys of models travel unencrypted. Use --tls-cert and --tls-key.")
        web = uvicorn.Server(config)
        tell(f"{scheme}://{shown}:{listener.getsockname()[1]}")
        await _until_stopped(web, listener)


def require_installed() -> None:
    """Raise InputError where the libraries of the extra are missing."""
    if find_spec("fastapi") is None:
        raise InputError(MISSING, code="extra_missing")


async def _until_stopped(web: "uvicorn.Server", listener: socket.socket) -> None:
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    finally:
        web.should_exit = True
        await asyncio.wait({serving})


def _load(config: "uvicorn.Config") -> None:
    try:
        config.load()
    except OSError as error:  # ssl.SSLError is one as well
        hint = "Name a certificate and its key as PEM files."
        raise InputError(f"The certificate cannot be used: {error.strerror or error}.", hint=hint) from None


def _token(options: RestOptions, tell: Callable[[str], object]) -> Secret:
    if options.token is not None:
        strong_token(options.token.reveal())
        return options.token
    token = Secret(new_token())
    tell(f"Authorization: Bearer {token.reveal()}")
    return token


def _listener(options: RestOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=512)
    except OSError as error:
        hint = "Select another port with --port, or an address of this machine with --host."
        place = f"{options.host}:{options.port}"
        raise ReachError(f"{place} cannot be used: {error.strerror or error}.", hint=hint, code="port_taken") from None
