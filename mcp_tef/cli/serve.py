"""`serve` and `mcp`: the engine over REST, and the workbench for coding agents within a budget."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    PORT,
    TOKEN,
    CallBudget,
    InputError,
    foreign_note,
)
from mcp_tef.cli.arguments import Verbs, add_list_option, add_verb
from mcp_tef.cli.library import bearer_token, token_of
from mcp_tef.cli.model_options import add_cost_options, add_model_options, allow_typed_addresses, asked_models
from mcp_tef.cli.session import opened

if TYPE_CHECKING:
    from mcp_tef import Secret
    from mcp_tef.cli.arguments import Verbs
    from mcp_tef.cli.terminal import Terminal


USUAL_PORT = 8000


def register_serve(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "serve", "serve all of this over REST, with an OpenAPI page at /docs", serve)
    host = "127.0.0.1"
    parser.add_argument("--host", default=host, metavar="H", help=f"the address to listen at (default: {host})")
    free = "the port; 0 takes a free one (default: $PORT, else 8000)"
    parser.add_argument("--port", type=port, metavar="P", help=free)
    parser.add_argument("--tls-cert", type=Path, metavar="F", help="serve https with this certificate (PEM)")
    parser.add_argument("--tls-key", type=Path, metavar="F", help="the key of the certificate (PEM)")
    holds = "holds the token (default: $MCP_TEF_TOKEN, else a new one)"
    parser.add_argument("--token-file", type=Path, metavar="F", help=holds)
    callers = "let callers have models and servers at this origin contacted; may be repeated"
    add_list_option(parser, "--allow-origin", "ORIGIN", callers)


def port(text: str) -> int:
    """Parse the number of a port."""
    if not (text.isascii() and text.isdecimal()) or int(text) > 65_535:
        raise InputError(f"{text} is not a port.", hint="Write a number from 0 to 65535.", code="bad_usage")
    return int(text)


async def serve(arguments: Namespace, terminal: Terminal) -> None:
    """Serve until stopped; a token that was made is told once."""
    from mcp_tef import RestOptions, serve_rest

    if bool(arguments.tls_cert) is not bool(arguments.tls_key):
        raise InputError("A certificate needs its key.", hint="Give --tls-cert and --tls-key.", code="bad_usage")
    chosen = PORT.value(os.environ, USUAL_PORT) if arguments.port is None else arguments.port
    options = RestOptions(
        host=arguments.host,
        port=chosen,
        certificate=arguments.tls_cert,
        certificate_key=arguments.tls_key,
        token=_token(arguments),
        origins=tuple(arguments.allow_origin),
    )
    if arguments.port is None and PORT.is_foreign(os.environ):
        terminal.note(*foreign_note([PORT]))
    async with opened(arguments, terminal) as engine:
        await serve_rest(engine, options, terminal.note)


def _token(arguments: Namespace) -> Secret | None:
    from mcp_tef import Secret

    if arguments.token_file is None:
        text = TOKEN.value(os.environ, "")
        return Secret(text) if text else None
    return Secret(token_of(arguments.token_file))


def register_mcp(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "mcp", "serve the workbench to coding agents over MCP: over stdio, or over HTTP", serve_mcp
    )
    parser.add_argument("--http", type=int, metavar="PORT", help="serve on this port of loopback, with a token")
    parser.add_argument("--token-file", type=Path, metavar="F", help="holds the token (default: a new one)")
    add_model_options(parser)
    add_cost_options(parser)
    parser.add_argument("--max-calls", type=int, metavar="N", help="make no more model calls than this in all (50)")


async def serve_mcp(arguments: Namespace, terminal: Terminal) -> None:
    """Serve until told to stop. Servers are only started where the user allowed that before."""
    from mcp_tef import WorkspaceOperations, serve_agents

    if len(arguments.model) > 1:
        raise InputError("mcp takes one model.", hint="Agents name others in each call.", code="bad_usage")
    settings = asked_models(arguments)[0]
    budget = CallBudget.of_session(arguments.max_cost, arguments.max_calls)
    async with opened(arguments, terminal) as engine:
        allow_typed_addresses(engine, [settings])
        http = None if arguments.http is None else (arguments.http, bearer_token(arguments.token_file, terminal))
        await serve_agents(WorkspaceOperations(engine, settings, budget), terminal.note, http)
