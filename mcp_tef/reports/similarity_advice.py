"""Recommendations as files that apply them: RFC 6902 patches and ToolHive-style overrides."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.json import Json
from mcp_tef.model.similarity import PairAdvice

_UNSAFE = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 40


def advice_files(pairs: Sequence[PairAdvice]) -> dict[str, str]:
    """The text of every file by its name: a patch and an override for each recommendation that has them.

    Names begin with a number and hold only a–z, 0–9 and hyphens, whatever the tools are called.
    """
    files: dict[str, str] = {}
    every = [one for advice in pairs for one in advice.recommendations]
    for number, one in enumerate(every, 1):
        stem = f"{number:03}-{_slug(one.tool_id)}-{_slug(one.issue.value)}"
        held = {"patch": [dict(operation) for operation in one.patch], "override": dict(one.override)}
        files |= {f"{stem}.{kind}.json": _text(value) for kind, value in held.items() if value}
    return files


def write_advice_files(pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
    """Write the files of `advice_files` into a folder, made if need be. OSError for it, InputError for a file."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in advice_files(pairs).items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    return tuple(paths)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-")[:_NAME_LENGTH] or "tool"


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
