"""`demo`: the sample workspace, its bundled server and its suite, judged without a key or a network."""

import shlex
from argparse import Namespace

from mcp_tef import BatchRequest
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.batches import follow
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal

SAMPLE_FILE = "sample.db"


def register(verbs: Verbs) -> None:
    """Add the verb."""
    add_verb(verbs, "demo", "evaluate the bundled sample, with no key and no network", demo)


async def demo(arguments: Namespace, terminal: Terminal) -> int:
    """Run the sample; passed when every run has a verdict, since the baseline is not meant to be perfect."""
    from mcp_tef import default_workspace

    async with opened(arguments, terminal, default_workspace().with_name(SAMPLE_FILE)) as engine:
        cases = await engine.open_sample()
        request = BatchRequest(cases=tuple(case.id for case in cases), name="Sample")
        batch, _ = await follow(engine, terminal, engine.runs.start(request))
        terminal.say(
            "", f"All of it can be looked at with: mcp-tef gui --workspace {shlex.quote(str(engine.workspace))}"
        )
    return 1 if batch.count("failed") else 0
