"""Files that a project file names: inputs lie in its folder, results go into one folder beside it.

The project file comes with a repository, which somebody else may have written. What it names is resolved first, must
lie in its folder, and is then opened part by part without following a link: one that is put there in between opens
nothing. A result has a plain name with the ending of its kind, so that no other program acts on it.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from mcp_tef.errors import InputError
from mcp_tef.model.limits import LARGEST_FILE_BYTES
from mcp_tef.options import VerbOption
from mcp_tef.trust.files import open_inside, write_failed, write_inside

RESULTS_FOLDER: Final = "mcp-tef-results"
_STREAMS: Final = ("", "-", ".")
_LONGEST_NAME: Final = 100
_READ_BY_OTHERS: Final = (".md", ".json")
"""Endings of files that other programs look for by name, such as CLAUDE.md or package.json."""
_NAMES_OF_RESULTS: Final = ("badge", "mcp-tef", "report", "result", "run", "summary", "test", "verdict")
_DEVICES: Final = frozenset(
    {"aux", "con", "nul", "prn", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
)


def path_inside(folder: Path, text: str, what: str) -> str:
    """Return the path of an input from a folder, with its links resolved; InputError where it is not inside.

    Nothing outside is looked at: an absolute path is refused as text.
    """
    hint = f"Name a file in the folder of the project file, or give --{what} on the command line."
    if text in _STREAMS or "\0" in text or _is_absolute(text) or is_unsafe_on_windows(text, windows=os.name == "nt"):
        raise InputError(f"The project file names {text!a} for {what}, which is no path in its folder.", hint=hint)
    real = folder.resolve()
    try:
        found = (real / text).resolve()
    except (OSError, RuntimeError) as error:
        raise InputError(f"The project file names {text!a} for {what}, which cannot be read.", hint=hint) from error
    if found == real or not found.is_relative_to(real):
        raise InputError(f"The project file names {text!a} for {what}, which lies outside of its folder.", hint=hint)
    return found.relative_to(real).as_posix()


def _is_absolute(text: str) -> bool:
    return PurePosixPath(text).is_absolute() or bool(PureWindowsPath(text).anchor)


def is_unsafe_on_windows(text: str, *, windows: bool) -> bool:
    """Return True for a path that Windows takes for a device or for a stream beside a file."""
    parts = PureWindowsPath(text).parts if windows else ()
    return any(":" in part or part.partition(".")[0].rstrip().lower() in _DEVICES for part in parts)


def read_inside(folder: Path, text: str, what: str) -> bytes:
    """Return the content of an input of at most 50 MB; InputError where it is outside, or no regular file."""
    place = path_inside(folder, text, what)
    try:
        with open_inside(folder.resolve(), place) as file:
            data = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise unreadable(text, what, error) from error
    if len(data) > LARGEST_FILE_BYTES:
        raise InputError(f"{text!a} is larger than 50 MB.", hint="Name a smaller file.")
    return data


def unreadable(text: str, what: str, error: OSError) -> InputError:
    """Return the error for an input that cannot be read."""
    message = f"The project file names {text!a} for {what}, which cannot be read: {error.strerror or error}."
    return InputError(message, hint="Name a regular file in its folder.")


def result_path(folder: Path, option: VerbOption, text: str) -> Path:
    """Return where a result of a project file goes; InputError for a name that is not plain, or a link there.

    The name may begin with that of the folder of results, and nothing else of a path.
    """
    name = text.removeprefix(f"{RESULTS_FOLDER}/")
    stem, dot, ending = name.rpartition(".")
    if not _is_plain(stem) or dot + ending != option.ending:
        raise InputError(
            f"The project file names {text!a} for {option.name}, which is no plain name ending with {option.ending}.",
            hint=f'Its results go into {RESULTS_FOLDER}: write {option.name} = "results{option.ending}".',
        )
    if option.ending in _READ_BY_OTHERS and not any(one in stem.lower() for one in _NAMES_OF_RESULTS):
        raise InputError(
            f"The project file names {text!a} for {option.name}, and other programs may act on a file of that name.",
            hint=f"Use a name with one of {', '.join(_NAMES_OF_RESULTS)} in it.",
        )
    _require_kind(folder / RESULTS_FOLDER, stat.S_ISDIR, "folder")
    _require_kind(folder / RESULTS_FOLDER / name, stat.S_ISREG, "regular file")
    return folder / RESULTS_FOLDER / name


def _is_plain(stem: str) -> bool:
    letters = stem.replace("-", "").replace("_", "")
    usable = letters.isascii() and letters.isalnum() and stem[0].isalnum() and len(stem) <= _LONGEST_NAME
    return usable and stem.lower() not in _DEVICES


def _require_kind(path: Path, is_kind: Callable[[int], bool], kind: str) -> None:
    """Raise InputError where something else than this kind is there; a link is not followed."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise write_failed(path, error) from error
    if not is_kind(mode):
        raise InputError(f"{path} is not a {kind}, so that no result is written there.", hint="Remove it.")


def write_result(path: Path, data: bytes) -> None:
    """Write a result whose path `result_path` has returned; InputError, also where a link is there by now."""
    try:
        write_inside(path.parent.parent, f"{RESULTS_FOLDER}/{path.name}", data)
    except OSError as error:
        raise write_failed(path, error) from error
