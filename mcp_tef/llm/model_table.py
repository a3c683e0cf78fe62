"""Table of chat models with their prices and abilities, taken from litellm so that litellm need not be loaded.

`resources/models.json` is written by `python -m tests.support.model_table`; its first row says when and from which
version.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

FILE = Path(str(files("resources"))) / "models.json"
_ABOUT = "about"


@dataclass(frozen=True, slots=True)
class ModelTable:
    """Rows of models by litellm's name, the names of litellm's providers, and how OpenAI's models differ in requests.

    `openai_rules` holds names of rules for a model, separated by spaces; `litellm` if only litellm can ask it.
    """

    rows: Mapping[str, Mapping[str, Any]]
    providers: frozenset[str] = frozenset()
    openai_rules: Mapping[str, str] = field(default_factory=dict)
    date: str = ""


async def model_table() -> ModelTable:
    """Return the table, read in a thread at the first call."""
    return bundled_table() if bundled_table.cache_info().currsize else await asyncio.to_thread(bundled_table)


@cache
def bundled_table() -> ModelTable:
    """Return the table that ships with the program."""
    return read_table(FILE)


def read_table(file: Path) -> ModelTable:
    """Return the table of a file; an empty one where there is none."""
    if not file.is_file():
        return ModelTable({})
    rows: dict[str, Any] = json.loads(file.read_text("utf-8"))
    about = rows.pop(_ABOUT, {})
    return ModelTable(rows, frozenset(about.get("providers", ())), about.get("openai_rules", {}), about.get("date", ""))
