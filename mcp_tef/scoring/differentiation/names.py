"""How alike two names are, and a name made of existing words that is less so."""

import re
from collections.abc import Collection, Iterable

from mcp_tef.scoring.differentiation.words import terms
from mcp_tef.scoring.stems import spaced

NEARLY_SAME = 2 / 3

_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SAME_ACTION = tuple(
    frozenset(group.split())
    for group in (
        "get fetch read retrieve show view load obtain",
        "search find query lookup look seek",
        "create add make new insert generate",
        "update edit modify change set patch alter",
        "delete remove drop destroy erase clear",
        "run execute start launch invoke call perform do",
        "stop end kill terminate cancel abort",
        "send post publish push submit",
        "list enumerate all",
    )
)


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case; those that say nothing elsewhere (`get`, `all`) count in a name."""
    return tuple(spaced(name).lower().split())


def meanings(name: str) -> frozenset[str]:
    """What the words of a name mean: of words for the same action, the first; else the term."""
    return frozenset(_meaning(word) for word in name_words(name))


def alikeness(one: str, other: str) -> float:
    """The share of meanings that two names have in common, 0–1 (Jaccard)."""
    a, b = meanings(one), meanings(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def blurred(one: str, other: str) -> bool:
    """Whether two names are easily taken for one another: one says no more than the other, or nearly the same."""
    a, b = meanings(one), meanings(other)
    return bool(a & b) and (a <= b or b <= a or alikeness(one, other) >= NEARLY_SAME)


def joined(words: Iterable[str], like: str) -> str:
    """A name of these words, written the way another is: `get-file`, `getFile` or `get_file`."""
    parts = [word.lower() for word in words]
    if "-" in like and "_" not in like:
        return "-".join(parts)
    if "_" not in like and re.search(r"[a-z][A-Z]", like):
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts)


def clearer_name(name: str, other: str, endings: Iterable[tuple[str, ...]], taken: Collection[str]) -> str | None:
    """`name` with the first of these endings that makes it less like `other`; None where none does.

    The new name has 1 to 64 letters, digits, `_` and `-`, which every provider accepts, and is not taken yet.
    """
    for words in endings:
        made = joined((*name_words(name), *words), name)
        plain = len(words) > words.count("by") and all(_PLAIN_WORD.fullmatch(word) for word in words)
        if plain and _ALLOWED.fullmatch(made) and made not in taken and alikeness(made, other) < alikeness(name, other):
            return made
    return None


def _meaning(word: str) -> str:
    group = next((min(group) for group in _SAME_ACTION if word in group), None)
    return group or next(iter(terms(word)), word)
