"""Terms and sentences of texts, sentences that many texts share, and the similarity of names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from mcp_tef.scoring.tfidf_weights import spaced, stems

BOILERPLATE_FROM = 3

_WORD = re.compile(r"[^\W_]+")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_END = re.compile(
    r"(?<=[。！？])\s*|(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)\s+(?=[^\sa-z])|(?<=[.!?:])\s*\n\s*|(?<!\s)\s*\n\s*\n\s*|\n\s*(?=[-*•#])"
)
_PLURAL = re.compile(r"\b([A-Z]{2,})s\b")
_EDGES = ' \t\n.,;:!?"“”。！？'


def term(word: str) -> str:
    """Return the stem that words of one family share: `issues`, `Issue` → `issu`; "" for a word without meaning."""
    found = stems(word)
    return found[0].rstrip("ey") or found[0] if found else ""


def terms(text: str) -> dict[str, str]:
    """Return the terms of a text in reading order, each with the first word that stands for it; names are split."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(spaced(_PLURAL.sub(r"\1", text))):
        if key := term(match[0]):
            found.setdefault(key, plain_case(match[0]))
    return found


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case; names in snake or camel case are split."""
    return [word.lower() for word in _PLAIN_WORD.findall(spaced(text))]


def word_runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    """Return every run of so many words in a row."""
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


def plain_case(word: str) -> str:
    """Return the word without the capital that a sentence gave it; `PDF` and `macOS` stay."""
    return word.lower() if word[1:].islower() or len(word) == 1 else word


def tidy(text: str) -> str:
    """Return the text without the indentation of the program that it stood in."""
    lines = text.expandtabs(4).rstrip().splitlines()
    depths = Counter(len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip())
    depth = depths.most_common(1)[0][0] if depths else 0
    kept = [line[min(depth, len(line) - len(line.lstrip(" "))) :].rstrip() for line in lines]
    return "\n".join(kept).strip()


@dataclass(frozen=True)
class Sentence:
    """A sentence and where it stands in its text."""

    text: str
    start: int
    end: int

    @cached_property
    def key(self) -> str:
        """Equal for sentences of the same words."""
        return " ".join(_WORD.findall(self.text.lower()))


@lru_cache(20_000)  # a text is split for its boilerplate, then for what is left of it
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences and the points of lists of a text; lines that only wrap are one sentence."""
    starts = [0, *(match.end() for match in _END.finditer(text))]
    ends = [*(match.start() for match in _END.finditer(text)), len(text)]
    pieces = (Sentence(text[start:end], start, end) for start, end in zip(starts, ends, strict=True))
    return tuple(piece for piece in pieces if piece.key)


def lead(text: str) -> str:
    """Return the first sentence on one line, without its full stop; "" for a text without any word."""
    first = next(iter(sentences(text)), None)
    return " ".join(first.text.split()).strip(_EDGES + "#*-• ") if first else ""


def without(text: str, unwanted: Collection[str]) -> str:
    """Return the text without the sentences that have these keys."""
    found = sentences(text) if unwanted else ()
    kept = [sentence.text for sentence in found if sentence.key not in unwanted]
    return "\n\n".join(kept) if len(kept) < len(found) else text


def common_sentences(texts: Iterable[str]) -> frozenset[str]:
    """Return the keys of the sentences that three or more of these texts have: they tell none of them apart."""
    counts = Counter(key for text in texts for key in {sentence.key for sentence in sentences(text)})
    return frozenset(key for key, count in counts.items() if count >= BOILERPLATE_FROM)


NEARLY_SAME = 2 / 3

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
_ACTING = frozenset().union(*_SAME_ACTION) - {"all", "look", "new", "set"}
ACTION_MEANINGS = frozenset(map(min, _SAME_ACTION))
"""Meanings of the verbs for the same action, as `text_meanings` returns them."""


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case; those that say nothing elsewhere (`get`, `all`) count in a name."""
    return tuple(spaced(name).lower().split())


def meanings(name: str) -> frozenset[str]:
    """Return the meanings of a name's words: the first of the words for the same action, else the term."""
    return frozenset(_meaning(word) for word in name_words(name))


def alikeness(one: str, other: str) -> float:
    """Return the share of meanings that two names have in common, 0–1 (Jaccard)."""
    a, b = meanings(one), meanings(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def blurred(one: str, other: str) -> bool:
    """Return True if two names are easily confused: one says no more than the other, or nearly the same."""
    a, b = meanings(one), meanings(other)
    return bool(a & b) and (a <= b or b <= a or alikeness(one, other) >= NEARLY_SAME)


def text_meanings(text: str) -> frozenset[str]:
    """Return the meanings of the telling words of a text, verbs of one group as one."""
    words = _WORD.findall(spaced(_PLURAL.sub(r"\1", text)).lower())
    return frozenset(_meaning(word) for word in words if term(word) or word in _ACTING)


def _meaning(word: str) -> str:
    group = next((min(group) for group in _SAME_ACTION if word in group), None)
    return group or next(iter(terms(word)), word)
