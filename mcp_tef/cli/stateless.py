"""A run without a workspace: servers and cases come from options, and nothing is kept when the command ends."""

from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mcp_tef import (
    ImportStatus,
    InputError,
    ServerSpec,
    ServerStatus,
    Transport,
    placed_source,
    read_inside,
    write_private,
)
from mcp_tef.cli.formatting import counted, server_line
from mcp_tef.cli.project_file import SOURCES, NamedSource, ProjectFile
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine, TestCase

ONLY_NAME = "server"


@asynccontextmanager
async def stateless(arguments: Namespace, terminal: Terminal) -> AsyncIterator["Engine"]:
    """Open an engine on a workspace that ends with the command, with the servers and cases of the options."""
    with TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True) as folder:
        specs = source_specs(arguments, Path(folder), terminal)
        arguments.workspace = Path(folder, "run.db")
        async with opened(arguments, terminal) as engine:
            engine.consents.name_source("this command, which keeps no workspace")
            for spec in specs:
                if spec.origin is None:
                    engine.consents.note_typed(spec)
                    await engine.consents.add_typed_server(spec, remember=False)
                await engine.servers.add(spec)
            await _import_cases(engine, arguments, [spec.name for spec in specs], terminal)
            yield engine


def source_specs(arguments: Namespace, folder: Path, terminal: Terminal) -> list[ServerSpec]:
    """Return the sources of the options; tools files of a project file are copied into a folder. InputError."""
    named = [(option, source) for option in SOURCES for source in getattr(arguments, option)]
    names = [source.name or ONLY_NAME for _, source in named]
    if len(set(names)) < len(names):
        raise InputError(
            "Several sources need names of their own.", hint="Write each as NAME=SOURCE.", code="bad_usage"
        )
    return [
        _spec(name, option, source, arguments.project, folder / f"tools-{number}.json", terminal)
        for number, (name, (option, source)) in enumerate(zip(names, named, strict=True))
    ]


def _spec(
    name: str, option: str, source: NamedSource, project: ProjectFile | None, copy: Path, terminal: Terminal
) -> ServerSpec:
    """Return a source; a tools file of a project file is copied at once, so that nothing else takes its place."""
    spec = ServerSpec(name=name, transport=SOURCES[option])
    if project is None or not project.sets(option):
        return placed_source(spec, source.place, Path.cwd())
    spec = replace(spec, origin=str(project.path))
    if spec.transport is not Transport.FILE:
        return placed_source(spec, source.place, project.folder.absolute())
    write_private(copy, read_inside(project.folder, source.place, "tools-file"), durable=False)
    terminal.aliases[str(copy)] = str(project.folder / source.place)
    return placed_source(spec, str(copy), copy.parent)


async def _import_cases(engine: "Engine", arguments: Namespace, names: list[str], terminal: Terminal) -> None:
    """Take in every case of the file; InputError where one is refused, after a note about each."""
    file, project = arguments.cases, arguments.project
    inside = project.folder if project and project.sets("cases") else None
    preview = await engine.case_files.preview(file, attach=names, inside=inside)
    refused = preview.of(ImportStatus.REFUSED)
    for case in refused:
        terminal.note(f"Refused {case.label} ({case.place}): {case.reason}")
    if refused:
        first = f"{refused[0].place}: {refused[0].reason}"
        raise InputError(f"{counted(len(refused), 'case')} of {file} cannot be read. {first}", hint="Correct the file.")
    for note in preview.note_lines:
        terminal.note(note)
    if preview.ignored_servers:
        ignored = ", ".join(preview.ignored_servers)
        terminal.note(f"All cases use the one source given, whatever server {file} names: {ignored}.")
    await engine.case_files.apply(preview)


async def warn_of_cases(engine: "Engine", cases: list["TestCase"], terminal: Terminal) -> None:
    """List the tools of the servers of these cases, and note what does not fit them."""
    names = {name for case in cases for name in case.draft.servers}
    for name in sorted(names):
        checked = await engine.servers.check((await engine.servers.find(name)).id)
        if checked.status is ServerStatus.FAILED:
            terminal.note(server_line(checked))
    warnings = await engine.cases.warnings_of([case.draft for case in cases])
    for case, ones in zip(cases, warnings, strict=True):
        for warning in ones:
            terminal.note(f"{case.name}: {warning}")
