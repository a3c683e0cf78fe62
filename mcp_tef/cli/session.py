"""Opens the workspace for one command."""

from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import Event, NoticePublished, StoreError
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine


@asynccontextmanager
async def opened(arguments: Namespace, terminal: Terminal, default: Path | None = None) -> AsyncIterator["Engine"]:
    """Open the engine on the workspace of the options, and close it at the end."""
    from mcp_tef import Engine

    with _way_out_of_damage():
        engine = await Engine.open(
            arguments.workspace or default,
            show=terminal.send_to if terminal.asks else None,
            recover=arguments.recover,
            reading=arguments.reads,
        )
        async with engine:
            _report_opening(engine, terminal)
            yield engine


@contextmanager
def _way_out_of_damage() -> Iterator[None]:
    """Name the option that starts anew in the hint for a damaged workspace."""
    try:
        yield
    except StoreError as error:
        if error.code != "workspace_damaged":
            raise
        hint = "Nothing was changed. To set the file aside and start a new one, add --recover."
        raise StoreError(error.message, hint=hint, code=error.code, context=error.context) from error


def _report_opening(engine: "Engine", terminal: Terminal) -> None:
    def hear(event: Event) -> None:
        if isinstance(event, NoticePublished):
            terminal.note(event.text)

    engine.subscribe(hear)
    for notice in engine.opened:
        terminal.note(notice)
    if engine.interrupted:
        was = "was" if engine.interrupted == 1 else "were"
        terminal.note(
            f"{counted(engine.interrupted, 'run')} {was} interrupted when mcp-tef last stopped. "
            "Go on with: mcp-tef runs resume BATCH"
        )
