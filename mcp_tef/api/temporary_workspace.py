"""Workspaces that end with the work: sources of tools and cases are taken in, and nothing is kept."""

from __future__ import annotations

import json
import os
import shlex
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_tef.errors import InputError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.transfer import ImportStatus
from mcp_tef.trust.own_workspaces import forget

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from mcp_tef.engine import Engine

ToolsOrPlace: TypeAlias = "str | Path | Sequence[Mapping[str, Any]]"
CasesOrFile: TypeAlias = "str | Path | Sequence[Mapping[str, Any]]"
ONLY_SOURCE = "server"


def placed_source(spec: ServerSpec, place: str, folder: Path) -> ServerSpec:
    """Return a definition with its place: a command line, an address, or a path from `folder`. InputError."""
    if spec.transport is Transport.FILE:
        return replace(spec, path=str(folder / place))
    if spec.transport is not Transport.STDIO:
        return replace(spec, url=place)
    try:
        command, *args = shlex.split(place)
    except ValueError as error:
        message = f"“{place[:200]}” is not a command: {error or 'it is empty'}."
        raise InputError(message, hint="Close the quotes.") from error
    return replace(spec, command=command, args=tuple(args), cwd=str(folder))


def guessed_transport(place: str) -> Transport:
    """Return the transport that a place is meant for: an address, a JSON file that exists, else a command."""
    if place.startswith(("http://", "https://")):
        return Transport.STREAMABLE_HTTP
    return Transport.FILE if place.endswith(".json") and Path(place).is_file() else Transport.STDIO


@asynccontextmanager
async def temporary_workspace(server: ToolsOrPlace, cases: CasesOrFile = ()) -> AsyncIterator[Engine]:
    """Open an engine on a workspace that ends with the block, with one source of tools and all cases on it.

    `server` is a command, an address, a tools file or definitions; `cases` a file or cases in the form of one. The
    program of a command that the caller names is allowed for the session.
    """
    from mcp_tef.engine import Engine

    with TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "run.db")
        engine = await Engine.open(path, environment=os.environ)
        async with AsyncExitStack() as ending:
            ending.callback(forget, path)
            await ending.enter_async_context(engine)
            spec = _spec(server, Path(folder))
            await engine.consents.add_typed_server(spec, remember=False)
            for request in engine.consents.missing([spec]):
                if spec.transport is Transport.STDIO:
                    await engine.consents.allow(request, remember=False)
            added = await engine.servers.add(spec)
            await engine.servers.check(added.id)
            await _take_cases(engine, cases, Path(folder))
            yield engine


def _spec(server: ToolsOrPlace, folder: Path) -> ServerSpec:
    if isinstance(server, str | Path):
        place = str(server)
        spec = ServerSpec(name=ONLY_SOURCE, transport=guessed_transport(place))
        return placed_source(spec, place, Path.cwd())
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": list(server)}), "utf-8")
    return ServerSpec(name=ONLY_SOURCE, transport=Transport.FILE, path=str(file))


async def _take_cases(engine: Engine, cases: CasesOrFile, folder: Path) -> None:
    if not isinstance(cases, str | Path):
        if not cases:
            return
        file = folder / "cases.json"
        file.write_text(json.dumps({"version": 1, "cases": list(cases)}), "utf-8")
        cases = file
    preview = await engine.case_files.preview(Path(cases), attach=[ONLY_SOURCE])
    if refused := preview.of(ImportStatus.REFUSED):
        raise InputError(f"{refused[0].place}: {refused[0].reason}", hint="Correct the cases.")
    await engine.case_files.apply(preview)
