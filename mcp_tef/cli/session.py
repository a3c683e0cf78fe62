"""Opens the workspace for one command."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import Event, Noticed
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.words import counted

if TYPE_CHECKING:
    from mcp_tef import Engine


@asynccontextmanager
async def opened(arguments: Namespace, terminal: Terminal, default: Path | None = None) -> AsyncIterator["Engine"]:
    """The engine on the workspace that was asked for, closed in order whatever happens."""
    from mcp_tef import Engine

    engine = await Engine.open(arguments.workspace or default, show=terminal.send_to if terminal.asks else None)

    def hear(event: Event) -> None:
        if isinstance(event, Noticed):
            terminal.note(event.text)

    engine.subscribe(hear)
    try:
        for notice in engine.opened:
            terminal.note(notice)
        if engine.interrupted:
            was = "was" if engine.interrupted == 1 else "were"
            terminal.note(
                f"{counted(engine.interrupted, 'run')} {was} interrupted when mcp-tef last stopped. "
                "Go on with: mcp-tef runs resume BATCH"
            )
        yield engine
    finally:
        await engine.close()
