"""`mcp`: serves the workbench to coding agents over MCP, within a budget."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    RETRIES,
    TEMPERATURE,
    TIMEOUT,
    CallBudget,
    InputError,
    WorkspaceOperations,
    parse_model,
    serve_agents,
)
from mcp_tef.cli.arguments import Verbs, add_run_fields, add_verb
from mcp_tef.cli.library import bearer_token
from mcp_tef.cli.model_options import add_cost_options, model_settings
from mcp_tef.cli.run import allow_typed_addresses, default_models
from mcp_tef.cli.session import opened

if TYPE_CHECKING:
    from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "mcp", "serve the workbench to coding agents over MCP: over stdio, or over HTTP", serve)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve on this port of loopback, with a token")
    parser.add_argument("--token-file", type=Path, metavar="F", help="holds the token (default: a new one)")
    parser.add_argument("--model", action="append", default=[], metavar="PROVIDER/NAME", help="default: the baseline")
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server")
    add_run_fields(parser, TIMEOUT, TEMPERATURE, RETRIES)
    add_cost_options(parser)
    parser.add_argument("--max-calls", type=int, metavar="N", help="make no more model calls than this in all")


async def serve(arguments: Namespace, terminal: Terminal) -> int:
    """Serve until told to stop. Servers are only started where the user allowed that before."""
    if len(arguments.model) > 1:
        raise InputError("mcp takes one model.", hint="Agents name others in each call.", code="bad_usage")
    provider, name = parse_model(default_models(arguments)[0])
    settings = replace(model_settings(arguments), provider=provider, model=name)
    budget = CallBudget(arguments.max_cost, arguments.max_calls)
    async with opened(arguments, terminal) as engine:
        allow_typed_addresses(engine, [settings])
        http = None if arguments.http is None else (arguments.http, bearer_token(arguments.token_file, terminal))
        await serve_agents(WorkspaceOperations(engine, settings, budget), terminal.note, http)
    return 0
