"""`sample-server`: the bundled MCP server, which the sample workspace starts."""

from argparse import Namespace

from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "sample-server", "serve the bundled sample tools over stdio or HTTP", serve, listed=False)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve streamable HTTP on this port of loopback")


def serve(arguments: Namespace, _: Terminal) -> int:
    """Serve until told to stop."""
    from mcp_tef import run_sample_server

    run_sample_server(arguments.http)
    return 0
