"""Tokens and stems of names and texts; camelCase, snake_case, kebab-case and dots split alike."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from mcp_tef.scoring.tfidf_weights import Places, ranges

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
    """Return `text` with spaces where names are joined: `getUserById` and `get_user-by.id` alike."""
    return _JOINTS.sub(" ", _parted(text))


def _parted(text: str) -> str:
    return _NEW_WORD.sub(r" \g<0>", text)


def stems(text: str) -> list[str]:
    """Return the words of a text in lower case, without endings and without words that say nothing."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def words(text: str) -> list[str]:
    """Return the single words of a text in lower case, endings and all."""
    return _WORD.findall(_parted(text).lower())


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """Return a word in lower case without its ending."""
    if not word.endswith(_ENDINGS):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


_WORD_OR_END = re.compile(r"[^\W_]+|\n")
_END = "\n"


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """Texts as rows of words that say something: word `sequence[k]` of `words` stands in text `owners[k]`."""

    words: tuple[str, ...]
    sequence: Places
    owners: Places
    texts: int

    def by_text(self) -> list[list[str]]:
        """Return the words of each text."""
        said = [self.words[place] for place in self.sequence.tolist()]
        ends = np.cumsum(np.bincount(self.owners, minlength=self.texts)).tolist()
        return [said[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def read(texts: Sequence[str]) -> TokenizedTexts:
    """Return the words of texts, alike for camelCase, snake_case and kebab-case, without words that say nothing."""
    written = [text.split() for text in texts]
    tokens = {token: place for place, token in enumerate(dict.fromkeys(chain.from_iterable(written)))}
    words, by_token, lengths = _words(tokens)
    row = np.fromiter(map(tokens.__getitem__, chain.from_iterable(written)), np.intp)
    owners = np.repeat(np.arange(len(texts)), [len(one) for one in written])
    sequence = by_token[ranges((np.cumsum(lengths) - lengths)[row], lengths[row])]
    return TokenizedTexts(words, sequence, np.repeat(owners, lengths[row]), len(texts))


def _words(tokens: Iterable[str]) -> tuple[tuple[str, ...], Places, Places]:
    """Return the distinct words of tokens, which of them each token holds one after the other, and how many."""
    known: dict[str, int] = {}
    held: list[int] = []
    ends: list[int] = []
    for word in _WORD_OR_END.findall(spaced(_END.join([*tokens, ""])).lower()):
        if word == _END:
            ends.append(len(held))
        elif word not in STOP_WORDS:
            held.append(known.setdefault(word, len(known)))
    bounds = np.asarray([0, *ends], dtype=np.intp)
    return tuple(known), np.asarray(held, dtype=np.intp), bounds[1:] - bounds[:-1]
