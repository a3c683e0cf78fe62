"""`servers health`: how servers answered lately, from contacts that happened anyway, or by watching them."""

from argparse import Namespace

from mcp_tef import HealthState, ServerHealth, percent_text, server_health_to_json
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, one_line, table

UNWELL = 1


def register(group: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(group, "health", "show how servers answered in the last hour", health)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these servers")
    watching = "check them every minute until interrupted; a server that needs consent is left alone"
    parser.add_argument("--watch", action="store_true", help=watching)


async def health(arguments: Namespace, terminal: Terminal) -> int:
    """Show the health of servers; 1 where one of them is degraded or unavailable."""
    async with opened(arguments, terminal) as engine:
        if arguments.watch:
            async for one in engine.health.watch(arguments.names):
                terminal.note(" ".join(filter(None, _row(one))))
        overall, each = await engine.health.report(arguments.names)
    told = server_health_to_json(overall)
    terminal.document({"overall": told, "servers": [server_health_to_json(one) for one in each]})
    terminal.say(*table(("SERVER", "STATUS", "ERRORS", "P50", "P95", "A MINUTE", "WHY"), map(_row, (*each, overall))))
    return UNWELL if overall.state in (HealthState.DEGRADED, HealthState.UNAVAILABLE) else 0


def _row(one: ServerHealth) -> tuple[str, ...]:
    times = ["–" if value is None else f"{value} ms" for value in (one.p50_ms, one.p95_ms)]
    figures = (percent_text(one.error_rate), *times, f"{one.calls_per_minute:.1f}")
    return one.server or "(all)", one.state.value, *figures, one_line(one.reason or "")
