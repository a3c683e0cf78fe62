"""Sources of tools without a workspace, and options of `run` from `mcp-tef.toml` or pyproject.toml."""

import os
from argparse import Action, Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_tef import (
    OPTIONS,
    SOURCE_USES,
    TARGET_PROVIDERS,
    Config,
    InputError,
    ProjectUse,
    Transport,
    VerbOption,
    did_you_mean,
    open_inside,
    parse_model,
    path_inside,
    read_inside,
    result_path,
)
from mcp_tef.cli.output_files import parsed_result

TARGETS = "targets"
"""Key of the tables that `run --all` runs; every other command passes over them."""
OWN_FILE, SHARED_FILE = PROJECT_FILES = ("mcp-tef.toml", "pyproject.toml")
LARGEST_PROJECT_FILE = 1_000_000
SOURCES = {"server_command": Transport.STDIO, "url": Transport.STREAMABLE_HTTP, "tools_file": Transport.FILE}
"""Options that name a source of tools; those of the command line replace all of the file."""
_NAMED_BY = {ProjectUse.MODEL, ProjectUse.MODEL_ADDRESS, ProjectUse.CAP, ProjectUse.VALUE}


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
    return _source(text, is_place=Path(text).exists())


def _source(text: str, *, is_place: bool = False) -> NamedSource:
    name, equals, place = text.partition("=")
    is_named = equals and name.strip() and not set(name) & set("/\\:?\"'") and not is_place
    source = NamedSource(name.strip(), place.strip()) if is_named else NamedSource("", text.strip())
    if not source.place:
        raise InputError(f"“{text}” names no source of tools.", hint="Write a command, an address or a file.")
    return source


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file with options, and which of them were taken from it."""

    path: Path
    options: frozenset[str] = frozenset()

    @property
    def folder(self) -> Path:
        """The folder that holds the file, and everything that it names."""
        return self.path.parent

    def sets(self, name: str) -> bool:
        """Return True if an option was taken from the file."""
        return name in self.options


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
    try:
        with open_inside(file.parent, file.name) as opened:
            data = opened.read(LARGEST_PROJECT_FILE + 1)
        found = parsed_toml(data)
    except (OSError, ValueError) as error:
        if file.name == SHARED_FILE:
            return None
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise InputError(f"{file} cannot be read: {reason}.", hint="Correct that file.") from error
    return options_of(file, found)


def parsed_toml(data: bytes) -> dict[str, Any]:
    """Return a TOML document of at most 1 MB; ValueError for anything else."""
    import tomllib

    if len(data) > LARGEST_PROJECT_FILE:
        raise ValueError("it is larger than 1 MB")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except RecursionError:
        raise ValueError("it nests too deep") from None


def options_of(file: Path, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the table of options of a document: all of our own file, `[tool.mcp-tef]` of the shared one."""
    if file.name != SHARED_FILE:
        return document
    tools = document.get("tool")
    table = tools.get("mcp-tef") if isinstance(tools, Mapping) else None
    return table if isinstance(table, Mapping) else None


@dataclass(frozen=True, slots=True)
class _FileOptions:
    """Options of a project file by destination: texts for a parser, and values that are read already."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)


def options_from_file(
    file: Path,
    table: Mapping[str, Any],
    actions: Sequence[Action],
    typed: Mapping[str, Any],
    parse: Callable[[list[str]], Namespace],
) -> dict[str, Any]:
    """Return the values of a project file by destination, without those that were typed; InputError for a bad one.

    A cost cap that was typed stays, unless the file lowers it.
    """
    known = {_key(action) for action in actions if action.option_strings}
    found = dict(_checked(file, table, known))
    replaced = overruled(typed, [option.dest for option in found])
    read = _FileOptions()
    for option, value in found.items():
        if option.dest not in replaced or option.use is ProjectUse.CAP:
            _read(file, option, value, read)
    return _capped(_parsed(file, read.texts, parse) | read.values, typed)


def _parsed(file: Path, texts: Mapping[str, list[str]], parse: Callable[[list[str]], Namespace]) -> dict[str, Any]:
    try:
        taken = vars(parse([text for each in texts.values() for text in each]))
    except InputError as error:
        raise InputError(f"{file.name}: {error.message}", hint=error.hint, code=error.code) from error
    return {name: taken[name] for name in texts if name in taken}


def _capped(values: dict[str, Any], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with the lower of both cost caps."""
    caps = [cap for cap in (typed.get("max_cost"), values.get("max_cost")) if cap is not None]
    return values | {"max_cost": min(caps)} if "max_cost" in values else values


def _checked(file: Path, table: Mapping[str, Any], known: Collection[str]) -> Iterator[tuple[VerbOption, Any]]:
    """Yield each option of the table that a project file may set; InputError for any other, and for one set twice."""
    seen = set[VerbOption]()
    for key, value in table.items():
        option = _option(file, key, known)
        if option in seen:
            raise InputError(f"{file.name} sets {option.name} twice.", hint="Remove one of them.")
        seen.add(option)
        yield option, value


def _option(file: Path, key: str, known: Collection[str]) -> VerbOption:
    name = key.replace("_", "-")
    option = OPTIONS.get(name)
    if option is None or name not in known:
        usable = [one.name for one in OPTIONS.values() if one.name in known and not one.use.is_refused]
        hint = did_you_mean(key, usable, f"Known are {', '.join(usable)}.")
        raise InputError(f"{file.name} has the unknown option {key}.", hint=hint)
    if option.use.is_refused:
        raise InputError(
            f"{file.name} cannot hold {key}: {option.use.removeprefix('refused: ')}.",
            hint=f"Give --{name} on the command line.",
        )
    return option


def _key(action: Action) -> str:
    return action.option_strings[-1].removeprefix("--")


def _read(file: Path, option: VerbOption, value: object, read: _FileOptions) -> None:
    """Add an option to what a parser is given, or to what is read already."""
    items = _items(file, option, value)
    if option.use in SOURCE_USES:
        read.values[option.dest] = [_placed_source(file.parent, option, name, text) for name, text in items]
    elif option.use in _NAMED_BY:
        texts = [f"{name}={text}" if name else text for name, text in items]
        read.texts[option.dest] = [f"--{option.name}={text}" for text in texts]
        _require_own_models(file, option, texts)
    else:
        text = _only(file, option, items)
        read.values[option.dest] = _READERS[option.use](file.parent, option, text)


def _items(file: Path, option: VerbOption, value: object) -> list[tuple[str, str]]:
    """Return the names and texts of a value: text and numbers have no name, entries of a table have one."""
    pairs = [*value.items()] if isinstance(value, Mapping) else [("", one) for one in _listed(value)]
    for _, item in pairs:
        if not isinstance(item, str | int | float) or isinstance(item, bool):
            hint = "See mcp-tef run --help."
            raise InputError(
                f"{file.name}: the value of {option.name} is not one that --{option.name} takes.", hint=hint
            )
    return [(name, str(item)) for name, item in pairs]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _only(file: Path, option: VerbOption, items: Sequence[tuple[str, str]]) -> str:
    if len(items) != 1 or items[0][0]:
        raise InputError(f"{file.name}: {option.name} has one value.", hint="Write it as text.")
    return items[0][1]


def _placed_source(folder: Path, option: VerbOption, name: str, text: str) -> NamedSource:
    source = NamedSource(name, text) if name else _source(text)
    if option.use is not ProjectUse.TOOLS:
        return source
    return source.at(path_inside(folder, source.place, option.name))


def _require_own_models(file: Path, option: VerbOption, texts: Iterable[str]) -> None:
    if option.use is ProjectUse.MODEL and any(parse_model(text)[0] in TARGET_PROVIDERS for text in texts):
        raise InputError(
            f"{file.name} cannot name a group or router: these belong to your workspace.",
            hint="Name a model, or give --model on the command line.",
        )


def _read_input(folder: Path, option: VerbOption, text: str) -> Any:
    if option.name != "baseline":
        return folder / path_inside(folder, text, option.name)
    return parsed_result(str(folder / text), read_inside(folder, text, option.name))


def _read_text(folder: Path, option: VerbOption, text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        return read_inside(folder, text[1:], option.name).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{text[1:]!a} is not UTF-8 text.", hint="Save it as UTF-8.") from None


_READERS: Mapping[ProjectUse, Callable[[Path, VerbOption, str], Any]] = {
    ProjectUse.INPUT: _read_input,
    ProjectUse.TEXT_OR_INPUT: _read_text,
    ProjectUse.RESULT: result_path,
}


def overruled(typed: Collection[str], options: Iterable[str]) -> list[str]:
    """Return the options of a project file that the command line or the environment replaces."""
    replaced = {*typed}
    if replaced & {*SOURCES, "workspace"}:
        replaced |= SOURCES.keys()
    if "workspace" in replaced:
        replaced.add("cases")
    if Config.names_a_model(os.environ):
        replaced.add("model")
    return [name for name in options if name in replaced]
