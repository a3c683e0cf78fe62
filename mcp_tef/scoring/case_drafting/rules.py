"""Rules that every drafted request keeps, whether a program or a model wrote it."""

import re
from collections.abc import Iterable

from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.text_terms import plain_words, word_runs

MOST_SHARED_WORDS = 3
LEAST_DISTANCE = 0.3
LONGEST_QUERY = 600


def why_refused(query: str, tools: Iterable[Tool]) -> str | None:
    """Return the rule that a request breaks against any of these tools, as a sentence; None if it keeps all."""
    said = plain_words(query)
    if not said:
        return "It is empty."
    if len(query) > LONGEST_QUERY:
        return f"It is longer than {LONGEST_QUERY} characters."
    runs = word_runs(said, MOST_SHARED_WORDS + 1)
    for tool in tools:
        if names_tool(query, tool.name):
            return f"It names the tool {tool.name}."
        if shared := runs & word_runs(plain_words(tool.description), MOST_SHARED_WORDS + 1):
            return f"It repeats words of the description of {tool.name}: “{' '.join(min(shared))}”."
    return None


def names_tool(query: str, name: str) -> bool:
    """Return True if a text has a tool's name in it, as it is written or as separate words."""
    words = tuple(plain_words(name))
    whole = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query, re.IGNORECASE)
    return bool(whole) or (bool(words) and words in word_runs(plain_words(query), len(words)))


def is_near_duplicate(query: str, others: Iterable[str]) -> bool:
    """Return True if a text shares more than 70 % of its words with another (Jaccard index over the words)."""
    said = set(plain_words(query))
    return any(_overlap(said, set(plain_words(other))) > 1 - LEAST_DISTANCE for other in others)


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))
