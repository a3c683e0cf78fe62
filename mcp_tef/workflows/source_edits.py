"""Edits of a server's own source: where a text stands in a folder on this machine, and the edit as a diff.

Nothing is written until `write` is called, and `undo` puts back the bytes that were there. `trust/source_texts.py`
decides where a text may be written; elsewhere it is only found, to be copied.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcp_tef.errors import InputError
from mcp_tef.model.servers import Transport
from mcp_tef.model.variables import MB
from mcp_tef.trust.files import open_regular_file, replace_if_unchanged
from mcp_tef.trust.source_texts import SourceMatch, matched_source

if TYPE_CHECKING:
    from mcp_tef.model.servers import ServerSpec

MOST_FILES: Final = 2_000
MOST_FILE_BYTES: Final = MB
MOST_BYTES: Final = 50 * MB
SHORTEST_TEXT: Final = 8
"""Characters; shorter texts stand in too many places by chance."""
_NOT_SOURCE: Final = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "dist", "build", "target"})
_SCRIPTS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php", ".go", ".sh")


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """The edit of one text in one file; `line` counts from 1, and `diff` is unified."""

    path: Path
    line: int
    diff: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class CopyOnlyText:
    """A new text that the user has to put into a file; `reason` says in one sentence why it cannot be written."""

    path: Path
    line: int
    text: str
    reason: str


def source_folder(spec: ServerSpec) -> Path | None:
    """Return the folder with a server's source: its working folder, else that of its script; None without one."""
    if spec.transport is not Transport.STDIO:
        return None
    if spec.cwd:
        folder = Path(os.path.expanduser(spec.cwd))
        return folder if folder.is_dir() else None
    paths = (Path(os.path.expanduser(text)) for text in (spec.command or "", *spec.args))
    return next((path.parent for path in paths if _is_script(path)), None)


def _is_script(path: Path) -> bool:
    return path.suffix in _SCRIPTS and path.is_absolute() and path.is_file()


def find_source_edit(folder: Path, before: str, after: str) -> SourceEdit | CopyOnlyText | None:
    """Return the edit where a text stands exactly once in exactly one text file of a folder, else None. Blocks.

    Where it stands once, and not as a string that can be exchanged for certain, its new text is to be copied.
    Links are not followed; hidden and installed files, binary ones and those above 1 MB are left out. None as well
    where the folder holds more than 2,000 files or 50 MB, since a second place could not be ruled out.
    """
    if len(before.strip()) < SHORTEST_TEXT or before == after:
        return None
    found: list[tuple[Path, bytes, SourceMatch]] = []
    for path in _files(folder.resolve()):
        if path is None:
            return None
        data = _text_of(path)
        match = matched_source(path.name, data, before, after)
        found += [(path, data, match)] * match.number
    return _edit(*found[0], after) if len(found) == 1 else None


def write_source_edit(edit: SourceEdit) -> None:
    """Write an edit, whole or not at all; InputError where the file has changed since it was found."""
    _replace(edit.path, edit.before, edit.after)


def undo_source_edit(edit: SourceEdit) -> None:
    """Put back what was there before an edit; InputError where the file has changed since it was written."""
    _replace(edit.path, edit.after, edit.before)


def _replace(path: Path, expected: bytes, wanted: bytes) -> None:
    try:
        if not replace_if_unchanged(path, expected, wanted):
            said = f"{path} was changed meanwhile, so nothing was written."
            raise InputError(said, hint="Look for the text again.")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", hint="Check who may write it.") from error


def _read(path: Path) -> bytes:
    with open_regular_file(path) as file:
        return file.read(MOST_FILE_BYTES + 1)


def _files(folder: Path) -> Iterator[Path | None]:
    """Yield the files of a folder in order; None once there are too many."""
    waiting, number, size = [folder], 0, 0
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                number += 1
                size += entry.stat(follow_symlinks=False).st_size
                if number > MOST_FILES or size > MOST_BYTES:
                    yield None
                    return
                yield Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (one for one in entries if not one.name.startswith(".") and one.name not in _NOT_SOURCE),
                key=lambda one: one.name,
            )
    except OSError:
        return []


def _text_of(path: Path) -> bytes:
    """Return the bytes of a text file; none of a binary, a large or an unreadable one."""
    try:
        data = _read(path)
        data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return b""
    return b"" if len(data) > MOST_FILE_BYTES or b"\0" in data else data


def _edit(path: Path, data: bytes, match: SourceMatch, after: str) -> SourceEdit | CopyOnlyText:
    line = data.count(b"\n", 0, match.start) + 1
    if match.edited is None:
        return CopyOnlyText(path, line, after, match.reason)
    lines = [list(io.StringIO(part.decode("utf-8"), newline="\n")) for part in (data, match.edited)]
    diff = unified_diff(lines[0], lines[1], fromfile=f"a/{path.name}", tofile=f"b/{path.name}")
    whole = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)
    return SourceEdit(path, line, whole, data, match.edited)
