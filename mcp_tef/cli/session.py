"""Opens the workspace for one command, and asks for consent where a program would start."""

from argparse import Namespace
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import ConsentError, Event, Noticed, ServerSpec
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine


@asynccontextmanager
async def opened(arguments: Namespace, terminal: Terminal, default: Path | None = None) -> AsyncIterator["Engine"]:
    """The engine on the workspace that was asked for, closed in order whatever happens."""
    from mcp_tef import Engine

    engine = await Engine.open(arguments.workspace or default)

    def hear(event: Event) -> None:
        if isinstance(event, Noticed):
            terminal.note(event.text)

    engine.subscribe(hear)
    try:
        for notice in engine.opened:
            terminal.note(notice)
        yield engine
    finally:
        await engine.close()


async def agree(engine: "Engine", specs: Iterable[ServerSpec], terminal: Terminal, *, yes: bool) -> None:
    """Get consent for every program that would start; raises ConsentError where it is not given."""
    for spec in specs:
        if not await engine.servers.needs_consent(spec):
            continue
        if not (yes or terminal.agrees(spec)):
            raise ConsentError(f"{spec.name} was not started, since you did not agree.", hint="Nothing was changed.")
        await engine.servers.grant_consent(spec)
