"""Table of chat models with their prices and abilities, taken from litellm, and the cost of an answer by it."""

import asyncio
import json
import re
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


_PRICES = (
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
)
_REASONING = "output_cost_per_reasoning_token"
_LIMIT = re.compile(r"_above_(\d+)(k?)_tokens$")
_TIERS = ("flex", "priority")
_INCLUSIVE = frozenset({"xai"})
"""Providers whose price for long prompts begins at the limit itself."""


def answer_cost(table: ModelTable, provider: str, model: str, answer: Mapping[str, Any]) -> float | None:
    """Return the cost in US dollars of an answer with its usage; None without a row or usage in the expected shape."""
    usage = answer.get("usage")
    row = table.rows.get(f"{provider}/{model}") or _own(table.rows.get(model), provider)
    if row is None or not isinstance(usage, dict):
        return None
    if provider == "openrouter" and isinstance(usage.get("cost"), int | float):
        return float(usage["cost"])
    if row.get("input_cost_per_token") is None:
        return None
    return _cost(row, usage, str(answer.get("service_tier")), inclusive=provider in _INCLUSIVE)


def _own(row: Mapping[str, Any] | None, provider: str) -> Mapping[str, Any] | None:
    return row if row and row.get("litellm_provider") == provider else None


def _cost(row: Mapping[str, Any], usage: Mapping[str, Any], tier: str, *, inclusive: bool) -> float:
    sent, received = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    suffix = f"_{tier}" if tier in _TIERS else ""
    into, out, again, writing = (_price(row, name, suffix, sent, inclusive=inclusive) for name in _PRICES)
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    written = _count(details, "cache_write_tokens")
    thought = min(_count(usage.get("completion_tokens_details"), "reasoning_tokens"), received)
    plain_in, plain_out = into or 0.0, out or 0.0
    return (
        max(sent - cached - written, 0) * plain_in
        + cached * _either(again, plain_in)
        + written * _either(writing, plain_in)
        + (received - thought) * plain_out
        + thought * _either(row.get(_REASONING), plain_out)
    )


def _either(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) else 0


def _price(row: Mapping[str, Any], name: str, suffix: str, sent: int, *, inclusive: bool) -> float | None:
    """Return the price of a token by its name: that of the service tier if there is one, and of so long a prompt."""
    price: float | None = row.get(name + suffix, row.get(name))
    for long, limit in _limits(row, name):
        if sent > limit or (inclusive and sent == limit):
            price = row.get(long + suffix, row[long])
    return price


def _limits(row: Mapping[str, Any], name: str) -> list[tuple[str, int]]:
    """Return the fields with prices for long prompts, and their limits in tokens, the lowest first."""
    found = ((field, _LIMIT.search(field)) for field in row if field.startswith(f"{name}_above_"))
    limits = [(field, int(at[1]) * (1000 if at[2] else 1)) for field, at in found if at]
    return sorted(limits, key=lambda one: one[1])
