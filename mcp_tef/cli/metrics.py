"""`metrics`: the figures of all runs that pass the filters."""

from argparse import Namespace

from mcp_tef import overview_to_json
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.filters import add_filters, filter_of
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.words import metrics_lines, repeats_lines


def register(verbs: Verbs) -> None:
    """Add the verb."""
    add_filters(
        add_verb(verbs, "metrics", "the figures of all runs, or of those that pass the filters", metrics, reads=True)
    )


async def metrics(arguments: Namespace, terminal: Terminal) -> int:
    """Tell the figures of the runs that pass the filters, all where there is none."""
    where = filter_of(arguments)
    async with opened(arguments, terminal) as engine:
        overview = await engine.metrics.overview(where)
    terminal.document(overview_to_json(overview))
    terminal.say(*metrics_lines(overview.metrics), *repeats_lines(overview.repeats))
    return 0
