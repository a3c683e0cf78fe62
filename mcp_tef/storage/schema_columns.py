"""Columns that later versions add to tables of a workspace, and codes of enums as SQL."""

from enum import StrEnum
from typing import Final

from mcp_tef.model.answers import ToolChoiceMode
from mcp_tef.model.cases import CaseOrigin
from mcp_tef.model.runs import Arm


def codes(enum: type[StrEnum], without: StrEnum | None = None) -> str:
    """Return the codes of an enum as an SQL list; a code that is never stored is left out."""
    return ", ".join(f"'{code}'" for code in enum if code != without)


ADDED_COLUMNS: Final[dict[int, dict[str, tuple[str, ...]]]] = {
    10: {
        "batches": ("stopped TEXT",),
        "test_cases": (
            "family TEXT",
            "before TEXT",
            f"origin TEXT NOT NULL DEFAULT 'written' CHECK (origin IN ({codes(CaseOrigin)}))",
        ),
        "model_settings": (
            f"tool_choice TEXT NOT NULL DEFAULT 'auto' CHECK (tool_choice IN ({codes(ToolChoiceMode)}))",
            "seed INTEGER",
            "max_tokens INTEGER",
            "input_price REAL",
            "output_price REAL",
        ),
        "test_runs": (
            "before TEXT",
            "read_from_text INTEGER NOT NULL DEFAULT 0",
            "answered_model TEXT",
            "answered_fingerprint TEXT",
            "base_url TEXT",
            "seed INTEGER",
            "answer_limit INTEGER",
        ),
        "evaluation_results": ("unreadable INTEGER NOT NULL DEFAULT 0",),
    },
    11: {
        "batches": ("trial TEXT",),
        "test_cases": ("held_back INTEGER NOT NULL DEFAULT 0", "openings INTEGER NOT NULL DEFAULT 0"),
        "test_runs": (f"arm TEXT CHECK (arm IN ({codes(Arm)}))", "place INTEGER"),
    },
    12: {"model_settings": ("client TEXT NOT NULL DEFAULT ''",)},
    14: {
        "model_settings": ("prompt TEXT NOT NULL DEFAULT ''", "variables TEXT NOT NULL DEFAULT '[]'"),
        "test_runs": ("routing TEXT",),
    },
    15: dict.fromkeys(("mcp_servers", "test_cases"), ("imported INTEGER NOT NULL DEFAULT 0",)),
}
"""Columns by the version that added them to tables it kept: SQLite appends them, so a new table has them at its end."""


def added(table: str) -> str:
    """Return the SQL of the columns that were added to a table, in order."""
    return "".join(f", {column}" for columns in ADDED_COLUMNS.values() for column in columns.get(table, ()))
