"""Splits names and texts into words, alike for camelCase, snake_case, kebab-case and dots."""

import re
from functools import lru_cache

_NEW_WORD = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-z]))")
_JOINTS = re.compile(r"[_\-./:]+")
_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ingly", "edly", "ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "s")
_SHORTEST_STEM = 3
_SAY_NOTHING = """a about after all also am an and any are as at be because been before being both but by can cannot
    could did do does doing down each few for from further get give had has have having he her here hers
    him his how i if in into is it its just let like made make many may me might more most much must my
    need no nor not now of off on once one only or other our out over own per please same see she should
    show so some such tell than that the their them then there these they this those through to too
    under until up upon us very via want was we well were what when where which while who whom whose why
    will with within without would you your yours"""
STOP_WORDS = frozenset(_SAY_NOTHING.split())


def spaced(text: str) -> str:
    """`text` with spaces where names are joined: `getUserById` and `get_user-by.id` alike."""
    return _JOINTS.sub(" ", _parted(text))


def _parted(text: str) -> str:
    return _NEW_WORD.sub(r" \g<0>", text)


def stems(text: str) -> list[str]:
    """The words of a text in lower case, without endings and without words that say nothing."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """The single words of a text in lower case, endings and all."""
    return _WORD.findall(_parted(text).lower())


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """A word in lower case without its ending."""
    if not word.endswith(_ENDINGS):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
