"""`servers accept`: takes the tools that a server lists otherwise than before as seen, after showing them."""

from argparse import Namespace
from collections.abc import Iterator

from mcp_tef import ConsentError, Drift, ToolDrift, drift_to_json
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal

MOST_LINES = 100
YES = "accept what is shown"


def register(group: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(group, "accept", "show how a server's tools differ from what was seen, and accept them", accept)
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--yes", action="store_true", help=YES)


async def accept(arguments: Namespace, terminal: Terminal) -> int:
    """Show what the last check found to differ, and take it as seen; nothing is started."""
    async with opened(arguments, terminal) as engine:
        server = await engine.servers.find(arguments.name)
        drift = await engine.drift.of_server(server.id)
        terminal.document(drift_to_json(server.name, drift))
        if drift is None:
            terminal.say(f"The tools of {server.name} are as you last saw them.")
            return 0
        for line in drift_lines(drift):
            terminal.note(line)
        require_word(terminal, server.name, yes=arguments.yes)
        await engine.drift.accept(server.id, drift)
    terminal.say(f"Accepted: the tools of {server.name} count as seen.")
    return 0


def drift_lines(drift: Drift) -> Iterator[str]:
    """Every tool that differs, with what is suspicious in it and the difference of its definition."""
    for tool in drift.tools:
        yield f"{tool.name} ({tool.change.change})"
        yield from (f"    Look twice: {finding.sentence}" for finding in tool.findings)
        yield from (f"    {line}" for line in _definition(tool))


def _definition(tool: ToolDrift) -> Iterator[str]:
    lines = tool.change.diff.splitlines()
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"… and {len(lines) - MOST_LINES} lines more"


def require_word(terminal: Terminal, name: str, *, yes: bool) -> None:
    """Ask for the word; ConsentError where it is not given, or nobody is there."""
    if not (yes or terminal.asks):
        raise ConsentError(f"Nobody has accepted the tools of {name}.", hint="Add --yes to accept what is shown.")
    if not (yes or terminal.confirms("Accept them as they are now?")):
        raise ConsentError(f"The tools of {name} were not accepted.", hint="They stay pointed out.")
