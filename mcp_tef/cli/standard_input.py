"""Standard input in the place of a file: it becomes a file of its own, so that every verb reads files only."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from mcp_tef import LARGEST_FILE_BYTES, InputError
from mcp_tef.cli.output_files import STANDARD_INPUT, is_dash
from mcp_tef.cli.terminal import Terminal

NOT_A_STREAM = {
    "workspace": "A workspace is a file that is kept",
    "private_key_file": "Only the path of --private-key-file is stored",
    "patch_dir": "--patch-dir is a folder for several files",
}
"""Options that name no file to be read once, with the reason."""
ENDINGS = {"cases": ".yaml"}
"""Endings of options whose files are read by their ending; YAML includes JSON."""


@contextmanager
def standard_input(arguments: Namespace, names: Sequence[str], terminal: Terminal) -> Iterator[None]:
    """Have the options of these names, which are `-`, name a file with what comes in on standard input."""
    _require_readable(arguments, names)
    with TemporaryDirectory(prefix="mcp-tef-") as folder:
        file = Path(folder, STANDARD_INPUT).with_suffix(ENDINGS.get(names[0], ""))
        terminal.aliases[str(file)] = STANDARD_INPUT
        with file.open("wb") as kept, terminal.interruption.raised_at_once():
            _copy(terminal, kept, None if getattr(arguments, "reads_any_size", False) else LARGEST_FILE_BYTES + 1)
        setattr(arguments, names[0], _placed(getattr(arguments, names[0]), str(file)))
        yield


def _require_readable(arguments: Namespace, names: Sequence[str]) -> None:
    """Raise InputError where standard input cannot be what the options ask for."""
    for reason in _reasons(arguments, names):
        _refuse(f"{reason}, so that it cannot be standard input or output.", "Name a file instead of -.")
    given = [value for name in names for value in _values(getattr(arguments, name)) if is_dash(value)]
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


def _values(value: Any) -> list[Any]:
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
