"""`confusions`: what was expected against what was selected."""

from argparse import Namespace

from mcp_tef import ConfusionMatrix, ToolMetrics, confusions_to_json
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.filters import add_filters, filter_of
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, table
from mcp_tef.cli.words import rate


def register(verbs: Verbs) -> None:
    """Add the verb."""
    add_filters(
        add_verb(verbs, "confusions", "which tool was picked where another was expected", confusions, reads=True)
    )


async def confusions(arguments: Namespace, terminal: Terminal) -> int:
    """Tell each tool against the rest, then every pair that was confused, the most frequent first."""
    where = filter_of(arguments)
    async with opened(arguments, terminal) as engine:
        matrix = await engine.metrics.confusions(where)
    terminal.document(confusions_to_json(matrix))
    terminal.say(*table(("TOOL", "RUNS", "PRECISION", "RECALL"), [_row(figures) for figures in matrix.tools]))
    if pairs := _confused(matrix):
        terminal.say("", *table(("EXPECTED", "SELECTED", "RUNS"), pairs))
    return 0


def _row(figures: ToolMetrics) -> tuple[str, ...]:
    return figures.name, str(figures.n), rate(figures.precision), rate(figures.recall)


def _confused(matrix: ConfusionMatrix) -> list[tuple[str, str, str]]:
    wrong = [(cell, count) for cell, count in matrix.cells.items() if cell[0] != cell[1]]
    wrong.sort(key=lambda item: (-item[1], item[0]))
    names = [matrix.name(label) for label in matrix.columns]
    return [(names[row], names[column], str(count)) for (row, column), count in wrong]
