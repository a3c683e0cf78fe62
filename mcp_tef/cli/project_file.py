"""Sources of tools without a workspace, and options of `run` from `mcp-tef.toml` or pyproject.toml."""

import os
from argparse import Action
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_tef import Config, InputError, Transport, did_you_mean

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
