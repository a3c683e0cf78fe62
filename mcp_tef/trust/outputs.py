"""Texts of strangers in what we write: they forge no line, steer no terminal and command no build service.

A build service reads commands from the output of a step: GitHub `::error::` at the start of a line and `##[group]`
anywhere, Azure `##vso[…]`, TeamCity `##teamcity[…]`, GitLab `section_start:`, Travis `travis_fold:`.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Final

from mcp_tef.model.json import Json

_COMMAND: Final = re.compile(
    r"(?:^|(?<=\r))[^\S\n\r]*+:(?=:)|#(?=#[^\W\d_]*\[)|(?:section_(?:start|end)|travis_(?:fold|time))(?=:)",
    re.IGNORECASE | re.MULTILINE,
)
_IN_JSON: Final = re.compile(r"#(?=#[A-Za-z]*\[)")
_IN_YAML: Final = re.compile(r"^([^\S\n]*+):(?=:)|#(?=#[A-Za-z]*\[)", re.MULTILINE)
MOST_WRITTEN_LEVELS: Final = 200
"""Levels of a value in a document that we write; limits of what we read are far below."""
_TOO_DEEP: Final = "… (nests too deeply to be shown)"


def terminal_line(text: str) -> str:
    """Return one line for a terminal or a log: no control character, no line break, no command of a build service."""
    if not text.isprintable():
        text = "".join(character if character.isprintable() else "·" for character in text)
    return without_commands(text)


def without_commands(line: str) -> str:
    """Return a line in which each command of a build service is broken by a blank that can be seen."""
    return _COMMAND.sub(r"\g<0> ", line) if ":" in line or "#" in line else line  # most lines are spared the search


def holds_command(text: str) -> bool:
    """Return True if a build service would take a line of the text for a command."""
    return any(map(_COMMAND.search, text.splitlines()))


def document_text(value: Json) -> str:
    """Return a document as indented JSON that every parser reads, whatever came from strangers into it.

    Numbers that JSON does not have become texts, as in "NaN"; values below `MOST_WRITTEN_LEVELS` become a remark;
    halves of a character and commands of build services are escaped, so that the value is the same.
    """
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        text = json.dumps(_writable(value), indent=2, ensure_ascii=False, allow_nan=False)
    return json_text(text) + "\n"


def json_text(text: str) -> str:
    """Return JSON with the same value that holds no half of a character and no command of a build service."""
    return _IN_JSON.sub(r"\\u0023", text).encode("utf-8", "backslashreplace").decode()


def needs_quotes(text: str) -> bool:
    """Return True for a text in which a command of a build service stands once its line is broken somewhere."""
    return "::" in text or holds_command(text)


def yaml_text(text: str) -> str:
    """Return YAML with the same value and no command, in which texts that need quotes have double ones."""
    return _IN_YAML.sub(lambda found: f"{found[1] or ''}\\x{ord(found[0][-1]):02x}", text)


def markup_text(text: str) -> str:
    """Return escaped text for HTML or XML that shows the same and holds no command of a build service."""
    return _COMMAND.sub(lambda found: f"{found[0][:-1]}&#{ord(found[0][-1])};", text)


def _writable(value: Json, levels: int = MOST_WRITTEN_LEVELS) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not levels:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return {name: _writable(inner, levels - 1) for name, inner in value.items()}
    return [_writable(inner, levels - 1) for inner in value]
