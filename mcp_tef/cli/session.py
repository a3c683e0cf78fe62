"""Opens the workspace for one command, asks for consent where a program would start, and lets people sign in."""

from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import AuthType, ConsentError, Event, Noticed, ServerSpec, StoreError, TefError
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.words import counted

if TYPE_CHECKING:
    from mcp_tef import Engine


@asynccontextmanager
async def opened(arguments: Namespace, terminal: Terminal, default: Path | None = None) -> AsyncIterator["Engine"]:
    """The engine on the workspace that was asked for, closed in order whatever happens."""
    from mcp_tef import Engine

    with _way_out_of_damage():
        engine = await Engine.open(
            arguments.workspace or default,
            show=terminal.send_to if terminal.asks else None,
            recover=arguments.recover,
            reading=arguments.reads,
        )
        try:
            _report_opening(engine, terminal)
            yield engine
        finally:
            await engine.close()


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
        if isinstance(event, Noticed):
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


async def agree(engine: "Engine", specs: Iterable[ServerSpec], terminal: Terminal, *, yes: bool) -> None:
    """Get consent for every program that would start, and let who is there sign in; ConsentError where it is not given.

    A sign-in that fails is told; what then uses the server says that it is needed.
    """
    for spec in specs:
        await _sign_in(engine, spec, terminal)
        if not await engine.servers.needs_consent(spec):
            continue
        if not (yes or terminal.agrees(spec)):
            raise ConsentError(f"{spec.name} was not started, since you did not agree.", hint="Nothing was changed.")
        await engine.servers.grant_consent(spec)


async def _sign_in(engine: "Engine", spec: ServerSpec, terminal: Terminal) -> None:
    if spec.auth_type is not AuthType.OAUTH2 or not terminal.asks:
        return
    try:
        if await engine.sign_ins.needed(spec):
            await engine.sign_ins.sign_in(spec)
    except TefError as error:
        terminal.note(error.message)
