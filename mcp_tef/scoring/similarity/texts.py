"""What of a tool is compared: its texts, and the words of its name."""

from functools import lru_cache
from itertools import chain

from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.parameters import parameters
from mcp_tef.scoring.stems import spaced, stem, stems

SHORTEST = 3


def description_text(tool: Tool) -> str:
    """The name, split into words, and the description."""
    return f"{spaced(tool.name)}. {tool.description}".strip()


def full_text(tool: Tool) -> str:
    """The same, and the parameters' names, types and descriptions; equal to it where there are no parameters."""
    told = [f"{spaced(name)} ({each.type}) {each.description}".strip() for name, each in parameters(tool).items()]
    return "\n".join((description_text(tool), *told))


def says_something(text: str) -> bool:
    """Whether a text has any word beside stop words."""
    return bool(stems(text))


def stems_of(text: str) -> list[str]:
    """The content words of a text without endings."""
    return [_shortened(found) for found in stems(text)]


def content_stem(word: str) -> str:
    """A word without its ending, a mute e among them: "file", "files" and "filed" are one word."""
    return _shortened(stem(word))


def _shortened(found: str) -> str:
    return found.removesuffix("e") if len(found) > SHORTEST else found


def name_words(name: str) -> frozenset[str]:
    """The words of a name without endings; words that say nothing elsewhere ("get", "make") count in a name."""
    return frozenset(chain.from_iterable(map(_said, spaced(name).lower().split())))


@lru_cache(8_192)
def _said(word: str) -> tuple[str, ...]:
    return tuple(stems_of(word)) or (word,)


UNRELATED = (
    "get weather forecast. Get the weather forecast for a city for the next days.",
    "merge pull request. Merge an open pull request into its base branch.",
    "transcribe audio. Turn speech in an audio file into written text.",
    "transfer money. Send an amount from one bank account to another.",
    "find recipes. Suggest dishes that can be cooked with the ingredients at hand.",
    "resize image. Change the width and height of a picture.",
    "run sql query. Execute a statement against a relational database.",
    "book flight. Reserve seats on an airline for given dates.",
    "unlock door. Open the electronic lock of a house.",
    "solve equation. Find the roots of a mathematical expression.",
    "translate text. Render a passage in another language.",
    "restart pod. Delete a container so that the cluster schedules it anew.",
)
"""Texts of tools that have nothing to do with one another: what an embedder makes of them is its level of nothing."""
