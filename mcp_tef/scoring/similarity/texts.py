"""What of a tool is compared: its texts, and the words of its name."""

import re
from collections.abc import Iterable

from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.parameters import parameters
from mcp_tef.scoring.stems import spaced, stems

SHORTEST = 3
_WORD = re.compile(r"[^\W_]+")


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


def bags_of_stems(texts: Iterable[str]) -> list[list[str]]:
    """The stems of each text, every word read once however many texts have it."""
    known: dict[str, list[str]] = {}
    return [[stem for word in text.split() for stem in _stems(word, known)] for text in texts]


def stems_of(text: str) -> list[str]:
    """The content words of a text without endings, a mute e among them: "file", "files" and "filed" are one word."""
    return [stem.removesuffix("e") if len(stem) > SHORTEST else stem for stem in stems(text)]


def _stems(word: str, known: dict[str, list[str]]) -> list[str]:
    if word not in known:
        known[word] = stems_of(word)
    return known[word]


def words(text: str) -> list[str]:
    """The single words of a text in lower case, endings and all."""
    return _WORD.findall(spaced(text).lower())


def name_words(name: str) -> frozenset[str]:
    """The words of a name without endings; words that say nothing elsewhere ("get", "make") count in a name."""
    return frozenset(stem for word in spaced(name).lower().split() for stem in stems_of(word) or (word,))


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
