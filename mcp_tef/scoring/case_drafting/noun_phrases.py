"""Noun phrases of a purpose: their nouns, determiners and prepositions, and the articles that they take."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile

from mcp_tef.scoring.lint.vocabulary import BASE_VERBS, word_set

_PREPOSITIONS = word_set("""
    about across against among around as at between by during for from in
    into on onto over through to under using via with within without
""")
PIECES = re.compile(rf"\s(?=(?:{'|'.join(sorted(_PREPOSITIONS))})\s|of (?:an?|the|your|all|specific|this)\s)")
_DROPPED_TAILS = word_set("as by using via with without")
_EMPTY = word_set(
    "all available basic certain complete comprehensive configured current detailed different existing full given "
    "multiple new one particular provided several single specific specified target various"
)
_LETTER = re.compile(r"(?<!\S)[b-z](?!\S)")
"""A letter that stands for a number, as in `the last n messages`."""
_STATED = re.compile(r"(?<=\S) (?:based|described|given|identified|named|provided|specified)$", re.IGNORECASE)
"""Words behind a noun that only say that a parameter names it: `a project specified by its name`."""
_DETERMINERS = word_set(
    "a all an any each every his her its my one our some that the their these this those your all both two"
)
_IMPLIED = {"current": "the"} | dict.fromkeys(("specific", "specified", "given", "particular"), "a")
_ES, _IES = re.compile(r"(?<=ss|us|sh|ch|.x)es$"), re.compile(r"(?<!^mov)(?<!^cook)(?<!^ser)ies$")
_VOWEL = re.compile(r"(?i)(?!user|uni|one\b|url|uuid|utf|eu)[aeiou]")


@dataclass(frozen=True, slots=True)
class Part:
    """A noun phrase of a purpose, without its determiner, behind its preposition; `value` is stated beside it."""

    words: tuple[str, ...]
    preposition: str = ""
    determiner: str = ""
    value: str = ""

    @property
    def indefinite(self) -> bool:
        """True for `a` and `an`."""
        return self.determiner in ("a", "an")

    @property
    def bare(self) -> str:
        """Its words with the value."""
        return " ".join((*self.words, *([self.value] if self.value else [])))

    @property
    def plural(self) -> bool:
        """True for a noun in the plural."""
        return is_plural(self.head)

    @property
    def several(self) -> bool:
        """True for a noun in the plural that stands for more than one thing: not for `the issues PROJ-12`."""
        return self.plural and (not self.value or " and " in self.value)

    @property
    def head(self) -> str:
        """Noun that decides the number: the last before `of`."""
        return head_of(self.words)

    def spelled(self, product: str) -> "Part":
        """Return it with the name of a product as the product writes it."""
        return replace(self, words=tuple(product if word.lower() == product.lower() else word for word in self.words))

    def beside(self, value: str) -> tuple[str, ...]:
        """Return its words as they stand beside a value: in the singular, unless there are two values."""
        if " and " in value and self.plural:
            return self.words
        return singular(self.words[: self.words.index("and")] if "and" in self.words else self.words, self.head)

    def stated_as(self, value: str) -> "Part":
        """Return a value in its place: `in Osaka` for `within a location`."""
        plain = "in" if self.preposition in ("within", "at") else self.preposition
        return replace(self, words=(value,), determiner="", preposition=plain)

    def definite(self, determiner: str) -> str:
        """Return it with a determiner, where it may have one: not for `HTML` or `output`."""
        if self.value:
            return f"the {self.bare}"
        if self.indefinite and self.preposition:
            return f"{article(self.bare)} {self.bare}"
        counted = self.determiner or (self.plural and not self.preposition)
        return f"{determiner} {self.bare}" if counted else self.bare


def article(noun: str) -> str:
    """Return the indefinite article of a noun."""
    return "an" if _VOWEL.match(noun) else "a"


def is_plural(word: str) -> bool:
    """Return True for most nouns in the plural."""
    plain = word.lower()
    return plain in ("children", "criteria", "media", "people") or bool(
        re.search(r"..[^suoi]s$|(?:[^s]ies|[^u]es|ios)$", plain)
    )


def singular(words: Sequence[str], head: str) -> tuple[str, ...]:
    """Return words with their head in the singular."""
    one = _IES.sub("y", _ES.sub("", head)) if is_plural(head) else head
    one = one[:-1] if one == head and is_plural(head) and head.endswith("s") else one
    return tuple(one if word == head else word for word in words)


def head_of(words: Sequence[str]) -> str:
    """Return the noun that decides the number: the last before `of`."""
    end = next((at for at, word in enumerate(words) if word in ("of", "and", "or")), len(words))
    return words[end - 1 if end else 0]


def part_of(piece: str) -> Part | None:
    """Return a piece of a purpose as a noun phrase; None for a clause, or for what says nothing."""
    plain = re.sub(r"\b(?:one|1) or more\b|\bany number of\b", "some", piece)
    words = _STATED.sub("", plain).split()
    first = words[0].lower() if words else ""
    preposition = first if first in _PREPOSITIONS | {"of"} else ""
    words = words[1:] if preposition else words
    if not words or preposition in _DROPPED_TAILS or _LETTER.search(piece) or _is_clause(preposition, words):
        return None
    words = words[: words.index("or", 1)] if "or" in words[1:] else words
    return _noun_phrase(preposition, words) if words[-1].lower() not in _EMPTY else None


def _is_clause(preposition: str, words: Sequence[str]) -> bool:
    if preposition == "to":
        return len(words) > 1 and words[0] in BASE_VERBS
    return preposition == "for" and words[0].endswith("ing")


def _noun_phrase(preposition: str, words: list[str]) -> Part:
    nouns = list(dropwhile(lambda word: word.lower() in _DETERMINERS, words)) or words[-1:]
    determiner = words[0].lower() if len(nouns) < len(words) else _IMPLIED.get(words[0], "")
    words = nouns
    kept = [word for word in words if word.lower() not in _EMPTY] or words
    shorter = determiner or is_plural(head_of(kept)) or head_of(kept) in ("data", "information")
    return Part(tuple(kept if shorter else words), preposition, determiner)
