"""Reads files of `NAME=value` lines, which configs name beside the variables that they set themselves."""

import re
from collections.abc import Mapping
from pathlib import Path

from mcp_tef.model.files import open_regular_file

MAX_ENV_FILE_BYTES = 1024 * 1024
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*\Z")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*+)"|'([^']*+)')\s*(?:#.*)?\Z""")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> Mapping[str, str]:
    """The variables of a file; OSError where it cannot be read, ValueError where it is too large or no text."""
    text = read_small_file(path)
    found = (_LINE.match(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {line[1]: _value(line[2]) for line in found if line and "\0" not in line[2]}


def read_small_file(path: Path) -> str:
    """Return the text of a file; OSError where it cannot be read, ValueError where it is too large or no text."""
    try:
        with open_regular_file(path) as file:
            data = file.read(MAX_ENV_FILE_BYTES + 1)
    except IsADirectoryError as error:
        raise ValueError("it is not a file") from error
    if len(data) > MAX_ENV_FILE_BYTES:
        raise ValueError("it is larger than 1 MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error


def _value(text: str) -> str:
    quoted = _QUOTED.match(text)
    if quoted is None:
        return re.split(r"\s+#", text, maxsplit=1)[0]
    if quoted[1] is None:
        return quoted[2]
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[1])
