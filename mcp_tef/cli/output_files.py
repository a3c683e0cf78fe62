"""Files that a verb writes, checked before any work is done, and files that it reads; standard input becomes one."""

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike, fspath
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from mcp_tef import LARGEST_FILE_BYTES, InputError, Json, KeyTwiceError, loads_bounded, loads_unique, open_regular_file
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Batch, Engine


T = TypeVar("T")
STANDARD_OUTPUT = Path("-")
STANDARD_INPUT = "standard input"
"""Name of the file that holds it while a command runs."""
WRITTEN = ("out", "junit", "html", "csv", "sarif", "markdown", "verdict", "badge")
ENDINGS = {
    "junit": (".xml",),
    "html": (".html", ".htm"),
    "csv": (".csv",),
    "sarif": (".sarif", ".json"),
    "markdown": (".md", ".markdown", ".txt"),
    "verdict": (".json",),
    "badge": (".json",),
}
"""Endings of the files of options that name a format; a file without an ending takes any."""
READ = (
    *("file", "pairs", "tools_file", "workspace", "cases", "baseline", "ignore_file", "description", "patch"),
    *("files", "definition", "config", "script", "token_file", "crowd_file", "tls_cert", "tls_key", "instructions"),
)
"""Options and arguments that name a file to be read, or several."""
WORKSPACES = ("backup", "foreign_workspace", "new_workspace")
NAMED = (*READ, *WORKSPACES, "system_prompt", "private_key_file", "patch_dir")
"""Those that may be `-`, or that say why not."""


def writable(text: str) -> Path:
    """Return a path that can be written, checked before any work is done; it never replaces a workspace."""
    from mcp_tef import require_replaceable, write_failed

    path = Path(text)
    if path == STANDARD_OUTPUT:
        return path
    try:
        _require_place(path)
        require_replaceable(path)
    except OSError as error:
        raise write_failed(path, error) from error
    return path


def plain_file_name(text: str) -> str:
    """Return the name of a file that another program hands over; InputError for one that looks like an option."""
    if text.startswith("-"):
        hint = "Rename the file or its folder, or write ./ before the name."
        raise InputError(f"The file name {text} begins with a hyphen.", hint=hint, code="bad_usage")
    return text


def analysis_file(text: str) -> Path:
    """Return a path as `writable` does, whose ending names the form of an analysis."""
    from mcp_tef import require_ending

    path = writable(text)
    require_ending(path)
    return path


def _require_place(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        raise InputError(f"{path} is a folder, not a file.", hint="Add a file name.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no such folder.", hint="Use another place.")
    if path.suffix.lower() == ".pdf":
        hint = "Write a page with .html, and print that; or export it from the window."
        raise InputError(f"{path} cannot be written: PDFs are made by the window.", hint=hint, code="bad_usage")


def require_fitting_endings(arguments: Namespace) -> None:
    """Raise InputError where the ending of a file names another format than its option."""
    for name, endings in ENDINGS.items():
        for path in _paths(arguments, name):
            if path.suffix and path.suffix.lower() not in endings:
                raise InputError(
                    f"--{name} would write another format into {path} than its ending {path.suffix} says.",
                    hint=f"Name the file {endings[0]}.",
                    code="bad_usage",
                )


def require_apart(arguments: Namespace) -> None:
    """Raise InputError where a verb would write into a file that it reads, or two results into one file."""
    results = [path for name in WRITTEN for path in _paths(arguments, name)]
    sources = [path for name in READ for path in _paths(arguments, name) if path != STANDARD_OUTPUT]
    for result in results:
        require_other(result, *sources)
    for one, other in combinations(results, 2):
        if _same(one, other):
            raise InputError(f"Two results would be written to {one}.", hint="Give each a file of its own.")


@contextmanager
def standard_output(arguments: Namespace, terminal: Terminal) -> Iterator[Terminal]:
    """Have the result that is named `-` written to standard output once it is whole; lines for people go to stderr."""
    names = [name for name in WRITTEN if getattr(arguments, name, None) == STANDARD_OUTPUT]
    if not names:
        yield terminal
        return
    if terminal.json:
        raise InputError(
            "Standard output holds one JSON document with --json, so no other result can go there.",
            hint="Name a file instead of -, or leave out --json.",
            code="bad_usage",
        )
    with TemporaryDirectory(prefix="mcp-tef-") as folder:
        file = Path(folder, STANDARD_OUTPUT)
        setattr(arguments, names[0], file)
        try:
            yield replace(terminal, output=terminal.errors)
        finally:
            if file.is_file():
                with file.open(encoding="utf-8", newline="") as result:
                    copyfileobj(result, terminal)


@contextmanager
def project_results(arguments: Namespace, terminal: Terminal) -> Iterator[None]:
    """Have the results that a project file names written to files of ours, then put into its folder of results."""
    targets = {name: getattr(arguments, name) for name in WRITTEN if name in _of_project_file(arguments)}
    if not targets:
        yield
        return
    from mcp_tef import write_result

    with TemporaryDirectory(prefix="mcp-tef-") as folder:
        files = {name: Path(folder, f"{name}{target.suffix}") for name, target in targets.items()}
        for name, file in files.items():
            setattr(arguments, name, file)
            terminal.aliases[str(file)] = str(targets[name])
        try:
            yield
        finally:
            for name, file in files.items():
                if file.is_file():
                    write_result(targets[name], file.read_bytes())


def asked_files(arguments: Namespace, formats: Mapping[str, T]) -> dict[T, Path]:
    """Return the files that options name, by the format that each stands for."""
    return {form: path for name, form in formats.items() if (path := getattr(arguments, name, None))}


def from_standard_input(arguments: Namespace) -> list[str]:
    """Return the names of the options that are to be read from standard input."""
    typed = [name for name in NAMED if name not in _of_project_file(arguments)]
    return [name for name in typed if any(map(is_dash, _values(arguments, name)))]


def _of_project_file(arguments: Namespace) -> frozenset[str]:
    """Return the options that a project file has set; other verbs have an option of that name, which is a folder."""
    return getattr(getattr(arguments, "project", None), "options", frozenset())


def is_dash(value: object) -> bool:
    """Return True if the value of an option names standard input."""
    return value == "@-" or (isinstance(value, str | PathLike) and fspath(value) == "-")


def is_standard_input(path: Path) -> bool:
    """Return True if a file holds what came in on standard input."""
    return path.stem == STANDARD_INPUT


def output_name(path: Path) -> str:
    """Return the name of a result in sentences."""
    return "standard output" if is_standard_output(path) else str(path)


def is_standard_output(path: Path) -> bool:
    """Return whether a result goes to standard output."""
    return path.name == str(STANDARD_OUTPUT)


def require_other(result: Path, *sources: Path) -> None:
    """Raise InputError where a result would replace one of these files, which it is about."""
    for source in sources:
        if _same(result, source):
            raise InputError(f"The result would replace {source}, which it is made from.", hint="Name another file.")


def _paths(arguments: Namespace, name: str) -> Iterator[Path]:
    yield from map(Path, _values(arguments, name))


def _values(arguments: Namespace, name: str) -> Iterable[Any]:
    value = getattr(arguments, name, None) or ()
    return value if isinstance(value, list | tuple) else (value,)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()


def read_text(path: Path) -> str:
    """Return the text of a file of at most 50 MB; InputError where it cannot be read."""
    try:
        with open_regular_file(path) as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", hint="Check the path.") from error
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError(f"{path} is larger than 50 MB.", hint="Give a smaller file.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.", hint="Save it as UTF-8.") from None


def parsed_json(what: str, text: str, hint: str = "Correct it, and try again.") -> Json:
    """Return the value of a JSON text; InputError where it is none."""
    try:
        return loads_unique(text)
    except KeyTwiceError as error:
        raise InputError(f"{what} has the key “{error}” twice in one object.", hint="Keep one of the two.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{what} is not valid JSON.", hint=hint) from None


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """Output of an earlier command with --json, and the file that holds it."""

    path: str
    document: Json

    def __fspath__(self) -> str:
        return self.path

    def at(self, path: str) -> "EarlierResult":
        """Read the document from another place."""
        return earlier_result(path)


def earlier_result(text: str) -> EarlierResult:
    """Read the document of a batch, but standard input only once the command starts; InputError where it holds none."""
    if is_dash(text):
        return EarlierResult(text, None)
    try:
        with open_regular_file(Path(text)) as file:
            return parsed_result(text, file.read())
    except OSError as error:
        raise _no_result(text, error.strerror) from error


def parsed_result(name: str, data: bytes) -> EarlierResult:
    """Return the document of a batch that a file holds; InputError where it is none."""
    try:
        return EarlierResult(name, loads_bounded(data))
    except (ValueError, RecursionError) as error:
        raise _no_result(name, "it is not a JSON document") from error


def _no_result(name: str, reason: str | None) -> InputError:
    hint = f"Write it with: mcp-tef run … --json > {name}"
    return InputError(f"The baseline {name} cannot be read: {reason}.", hint=hint)


def read_json(name: str) -> Json:
    """Return the JSON of a file; InputError where it cannot be read, or is none."""
    return parsed_json(name, read_text(Path(name)))


async def write_verdict(engine: "Engine", batch: "Batch", arguments: Namespace, terminal: Terminal) -> None:
    """Write the verdict file, if it was asked for."""
    file: Path | None = getattr(arguments, "verdict", None)
    if file is not None:
        from mcp_tef import batch_evidence, write_text

        document = await batch_evidence(engine, batch.id)
        write_text(file, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
        terminal.say(f"The verdict was written to {output_name(file)}.")


NOT_A_STREAM = {
    "workspace": "A workspace is a file that is kept",
    **dict.fromkeys(WORKSPACES, "A workspace is a file with more beside it"),
    "private_key_file": "Only the path of --private-key-file is stored",
    "patch_dir": "--patch-dir is a folder for several files",
}
"""Options that name no file to be read once, with the reason."""

INPUT_ENDINGS = {"cases": ".yaml"}
"""Endings of options whose files are read by their ending; YAML includes JSON."""


@contextmanager
def standard_input(arguments: Namespace, names: Sequence[str], terminal: Terminal) -> Iterator[None]:
    """Have the options of these names, which are `-`, name a file with what comes in on standard input."""
    _require_readable(arguments, names)
    with TemporaryDirectory(prefix="mcp-tef-") as folder:
        file = Path(folder, STANDARD_INPUT).with_suffix(INPUT_ENDINGS.get(names[0], ""))
        terminal.aliases[str(file)] = STANDARD_INPUT
        with file.open("wb") as kept, terminal.interruption.raised_at_once():
            _copy(terminal, kept, None if getattr(arguments, "reads_any_size", False) else LARGEST_FILE_BYTES + 1)
        setattr(arguments, names[0], _placed(getattr(arguments, names[0]), str(file)))
        yield


def _require_readable(arguments: Namespace, names: Sequence[str]) -> None:
    """Raise InputError where standard input cannot be what the options ask for."""
    for reason in _reasons(arguments, names):
        _refuse(f"{reason}, so that it cannot be standard input or output.", "Name a file instead of -.")
    given = [value for name in names for value in _input_values(getattr(arguments, name)) if is_dash(value)]
    if len(given) > 1:
        _refuse("Standard input is one file, and cannot be read twice.", "Name a file instead of one -.")
    if getattr(arguments, "key_stdin", False):
        _refuse("--key-stdin reads the key from standard input, so that no file can come from there.", "Name a file.")
    if "ignore_file" in names and arguments.reason:
        _refuse("--reason writes into --ignore-file, so that it cannot be standard input.", "Name a file.")


def _reasons(arguments: Namespace, names: Sequence[str]) -> Iterator[str]:
    """Yield why options cannot be a stream."""
    stored = {name: f"The path of {_option(name)} is stored" for name in getattr(arguments, "stored_paths", ())}
    yield from (reason for name, reason in (NOT_A_STREAM | stored).items() if name in names)


def _refuse(message: str, hint: str) -> None:
    raise InputError(message, hint=hint, code="bad_usage")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _input_values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _copy(terminal: Terminal, kept: BinaryIO, most: int | None) -> None:
    source = getattr(terminal.input, "buffer", None)
    if source is None:
        kept.write(terminal.input.read(-1 if most is None else most).encode("utf-8", "surrogatepass"))
    elif most is None:
        copyfileobj(source, kept)
    else:
        kept.write(source.read(most))


def _placed(value: Any, file: str) -> Any:
    """Return the value of an option with a file in the place of the dash."""
    if isinstance(value, list):
        return [_placed(one, file) for one in value]
    if not is_dash(value):
        return value
    if hasattr(value, "at"):
        return value.at(file)
    return f"@{file}" if value == "@-" else type(value)(file)
