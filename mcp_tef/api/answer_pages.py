"""Short answers for readers with little room: items on pages of a bounded number of tokens."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from mcp_tef.model.json import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tef.llm.token_count import BundledTokenCounter
    from mcp_tef.model.json import Json

MOST_ANSWER_TOKENS: Final = 2_000
MOST_PAGE_TOKENS: Final = 1_300
"""Tokens of the items of a page; the rest is for what stands around them."""


@cache
def _counter() -> BundledTokenCounter:
    from mcp_tef.llm.token_count import BundledTokenCounter

    return BundledTokenCounter()


def answer_tokens(answer: Json) -> int:
    """Return the number of tokens of an answer as JSON."""
    return _counter().count([canonical(answer)])[0]


def answer_pages(items: Sequence[Json], most_tokens: int = MOST_PAGE_TOKENS) -> list[list[Json]]:
    """Return the items on pages, in their order; an item that is too large has a page to itself."""
    found: list[list[Json]] = [[]]
    used = 0
    for item, tokens in zip(items, _counter().count([canonical(item) for item in items]), strict=True):
        if found[-1] and used + tokens > most_tokens:
            found.append([])
            used = 0
        found[-1].append(item)
        used += tokens + 1
    return found
