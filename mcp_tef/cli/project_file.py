"""Sources of tools without a workspace: options of `run` from `mcp-tef.toml` or pyproject.toml; nothing is kept."""

import os
from argparse import Action, Namespace
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mcp_tef import Config, ImportStatus, InputError, ServerSpec, ServerStatus, Transport, did_you_mean, placed_source
from mcp_tef.cli.formatting import counted, server_line
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine, TestCase


TARGETS = "targets"
"""Key of the tables that `run --all` runs; every other command passes over them."""

OWN_FILE, SHARED_FILE = PROJECT_FILES = ("mcp-tef.toml", "pyproject.toml")

CONSENT = ("yes", "allow_program", "allow_origin", "no_key", "key_stdin")

OF_THE_COMMAND = ("help", "workspace", "recover", "json", "debug", "quiet", "verbose")

SOURCES = {"server_command": Transport.STDIO, "url": Transport.STREAMABLE_HTTP, "tools_file": Transport.FILE}
"""Options that name a source of tools; those of the command line replace all of the file."""

PLACES = ("cases", "baseline", "junit", "html", "csv", "sarif", "markdown")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source of tools: a command, an address or a path, and its name in case files, if it was given one."""

    name: str
    place: str

    def __fspath__(self) -> str:
        return self.place

    def at(self, place: str) -> "NamedSource":
        """Return the source under its name at another place."""
        return NamedSource(self.name, place)


def named_source(text: str) -> NamedSource:
    """Parse `NAME=PLACE`, or a place alone; a name holds no slash, colon or question mark."""
    name, equals, place = text.partition("=")
    is_named = equals and name.strip() and not set(name) & set("/\\:?\"'") and not Path(text).exists()
    source = NamedSource(name.strip(), place.strip()) if is_named else NamedSource("", text.strip())
    if not source.place:
        raise InputError(f"“{text}” names no source of tools.", hint="Write a command, an address or a file.")
    return source


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file with options, and which of them were taken from it."""

    path: Path
    options: frozenset[str] = frozenset()


def find_project_file(folder: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the nearest file with options, from a folder up to that of the repository; None without one.

    Outside of a repository only the folder itself counts, since others may write in the folders above it.
    """
    above = (folder, *folder.parents)
    last = next((number for number, one in enumerate(above) if (one / ".git").exists()), 0)
    for place in above[: last + 1]:
        for name in PROJECT_FILES:
            if (table := _table(place / name)) is not None:
                return place / name, table
    return None


def _table(file: Path) -> Mapping[str, Any] | None:
    if not file.is_file():
        return None
    import tomllib

    try:
        found = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        if file.name == SHARED_FILE:
            return None
        raise InputError(f"{file} cannot be read: {error}.", hint="Correct that file.") from error
    if file.name != SHARED_FILE:
        return found
    tools = found.get("tool")
    table = tools.get("mcp-tef") if isinstance(tools, Mapping) else None
    return table if isinstance(table, Mapping) else None


def as_arguments(file: Path, table: Mapping[str, Any], actions: Sequence[Action]) -> dict[str, list[str]]:
    """Return the options of a project file as arguments, by destination; InputError for one that it cannot hold."""
    known = {_key(action): action for action in actions if action.option_strings}
    found: dict[str, list[str]] = {}
    for key, value in table.items():
        action = known.get(key.replace("_", "-"))
        name = action.dest if action else key.replace("-", "_")
        if name in CONSENT:
            raise InputError(
                f"{file.name} cannot hold {key}: a project file never allows anything for itself.",
                hint=f"Give --{key.replace('_', '-')} on the command line.",
            )
        if action is None or name in OF_THE_COMMAND:
            others = [one for one, action in known.items() if action.dest not in (*CONSENT, *OF_THE_COMMAND)]
            hint = did_you_mean(key, others, f"Known are {', '.join(others)}.")
            raise InputError(f"{file.name} has the unknown option {key}.", hint=hint)
        found[name] = list(_argument(file, key, action, value))
    return found


def _key(action: Action) -> str:
    return action.option_strings[-1].removeprefix("--")


def _argument(file: Path, key: str, action: Action, value: object) -> Iterator[str]:
    option, switch = f"--{key.replace('_', '-')}", action.nargs == 0
    if isinstance(value, Mapping):
        value = [f"{name}={item}" for name, item in value.items()]
    for item in value if isinstance(value, list) else [value]:
        if not _fits(item, switch=switch):
            hint = "See mcp-tef run --help."
            raise InputError(f"{file.name}: the value of {key} is not one that {option} takes.", hint=hint)
        if item is not False:
            yield option if switch else f"{option}={_placed(file.parent, action.dest, str(item))}"


def _fits(item: object, *, switch: bool) -> bool:
    return isinstance(item, str | int | float) and isinstance(item, bool) is switch


def _placed(folder: Path, name: str, text: str) -> str:
    """Return the value of an option; one that names a file is relative to the folder of the project file."""
    if text.startswith("@"):
        return f"@{folder / text[1:]}"
    return str(folder / text) if name in PLACES and text != "-" else text


def overruled(typed: Iterable[str], options: Iterable[str]) -> list[str]:
    """Return the options of a project file that the command line or the environment replaces."""
    replaced = {*typed}
    if replaced & {*SOURCES, "workspace"}:
        replaced |= SOURCES.keys()
    if "workspace" in replaced:
        replaced.add("cases")
    if Config.names_a_model(os.environ):
        replaced.add("model")
    return [name for name in options if name in replaced]


ONLY_NAME = "server"


@asynccontextmanager
async def stateless(arguments: Namespace, terminal: Terminal) -> AsyncIterator["Engine"]:
    """Open an engine on a workspace that ends with the command, with the servers and cases of the options."""
    specs = _specs(arguments)
    with TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True) as folder:
        arguments.workspace = Path(folder, "run.db")
        async with opened(arguments, terminal) as engine:
            engine.consents.name_source("this command, which keeps no workspace")
            for spec in specs:
                if spec.origin is None:
                    await engine.consents.add_typed_server(spec, remember=False)
                await engine.servers.add(spec)
            await _import_cases(engine, arguments.cases, [spec.name for spec in specs], terminal)
            yield engine


def _specs(arguments: Namespace) -> list[ServerSpec]:
    named = [(option, source) for option in SOURCES for source in getattr(arguments, option)]
    names = [source.name or ONLY_NAME for _, source in named]
    if len(set(names)) < len(names):
        raise InputError(
            "Several sources need names of their own.", hint="Write each as NAME=SOURCE.", code="bad_usage"
        )
    return [_spec(name, option, source, arguments) for name, (option, source) in zip(names, named, strict=True)]


def _spec(name: str, option: str, source: NamedSource, arguments: Namespace) -> ServerSpec:
    project = arguments.project if arguments.project and option in arguments.project.options else None
    folder = (project.path.parent if project else Path()).absolute()
    spec = ServerSpec(name=name, transport=SOURCES[option], origin=str(project.path) if project else None)
    return placed_source(spec, source.place, folder)


async def _import_cases(engine: "Engine", file: Path, names: list[str], terminal: Terminal) -> None:
    """Take in every case of the file; InputError where one is refused, after a note about each."""
    preview = await engine.case_files.preview(file, attach=names)
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
