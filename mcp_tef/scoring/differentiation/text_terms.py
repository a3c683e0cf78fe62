"""Terms and sentences of texts, terms that only one text has, and the similarity of names."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mcp_tef.scoring.tfidf_weights import spaced, stems

LONGEST_PHRASE = 10

_WORD = re.compile(r"[^\W_]+")
_END = re.compile(
    r"(?<=[。！？])\s*|(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)\s+(?=[^\sa-z])|(?<=[.!?:])\s*\n\s*|\s*\n\s*\n\s*|\n\s*(?=[-*•#])"
)
_BREAK = re.compile(r"[,;:.!?)\]]$")
_PLURAL = re.compile(r"\b([A-Z]{2,})s\b")
_EDGES = ' \t\n.,;:!?"“”。！？'
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]?")


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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it stands in its text."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Equal for sentences of the same words."""
        return " ".join(_WORD.findall(self.text.lower()))


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


def without(text: str, unwanted: Iterable[str]) -> str:
    """Return the text without the sentences that have these keys."""
    keys = frozenset(unwanted)
    kept = text
    for sentence in reversed(sentences(text)):
        if sentence.key in keys:
            kept = kept[: sentence.start] + kept[sentence.end :]
    lines = re.sub(r"[ \t]+\n", "\n", re.sub(r"(?<=\S) {2,}", " ", kept))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words of a sentence as they stand there; `opening` where they begin it, with its verb."""

    text: str
    opening: bool


def distinct_phrase(sentence: str, known: Mapping[str, str]) -> Phrase | None:
    """Return the stretch of a sentence around its first words that are not known elsewhere; None where it has none.

    It grows to the article before and to the last noun after, over at most ten words, and not across a comma. Words
    that only tell by what means (`by state`) come with the whole beginning of the sentence.
    """
    words = _BRACKETS.sub("", sentence).split()
    new = [place for place, word in enumerate(words) if terms(word).keys() - known.keys()]
    if not new:
        return None
    start, end = _grown_left(words, new[0]), _grown_right(words, new)
    if start > 0 and words[start - 1].lower() in _MEANS:
        return opening_phrase(sentence)
    text = " ".join(words[start : end + 1]).strip(_EDGES)
    return Phrase(text, start == 0) if text else None


def opening_phrase(sentence: str) -> Phrase | None:
    """Return the first words of a sentence, up to its first stop and at most ten."""
    words = _BRACKETS.sub("", sentence).split()[:LONGEST_PHRASE]
    stop = next((place for place, word in enumerate(words) if _BREAK.search(word)), len(words) - 1)
    while stop > 0 and not _says(words[stop]):
        stop -= 1
    text = " ".join(words[: stop + 1]).strip(_EDGES)
    return Phrase(text, opening=True) if text else None


def _grown_left(words: list[str], start: int) -> int:
    while start > 1 and not _BREAK.search(words[start - 1]) and (_says(words[start - 1]) or _counts(words[start - 1])):
        start -= 1
    return start


def _grown_right(words: list[str], new: list[int]) -> int:
    """Return the place of the last word of the phrase that begins at the first new word."""
    start = new[0]
    end = _before_cut(words, start, _extended(words, new))
    while end > start and (not _says(words[end]) or words[end].endswith("ed")):
        end -= 1
    return _with_what_follows(words, end) if words[end].endswith("ed") and end > 0 else end


def _extended(words: list[str], new: list[int]) -> int:
    """Return the place up to which the words belong together, at most ten of them."""
    start, last = new[0], _last_place(words, new[0])
    goal = max(place for place in new if place <= last) if start else start
    end = start
    while end < last and not _BREAK.search(words[end]) and (end < goal or _wants_more(words, end, start)):
        end += 1
    return end


def _before_cut(words: list[str], start: int, end: int) -> int:
    """Return the last small word before `end` where the limit of ten words would cut the phrase between two nouns."""
    if end == _last_place(words, start) and end + 1 < len(words) and _says(words[end + 1]):
        return next((place for place in range(end, start, -1) if not _says(words[place])), end)
    return end


def _last_place(words: list[str], start: int) -> int:
    return min(len(words), start + LONGEST_PHRASE) - 1


def _with_what_follows(words: list[str], end: int) -> int:
    """Return the end of a phrase after a word such as `linked`, which goes on over a following `to a Jira issue`."""
    rest = words[end + 1 : end + 1 + LONGEST_PHRASE]
    stop = next((place for place, word in enumerate(rest, 1) if _BREAK.search(word)), len(rest))
    noun = next((place for place, word in enumerate(rest[:stop], 1) if _says(word)), 0)
    while noun and noun < stop and _says(rest[noun]):
        noun += 1
    return end + noun


def _wants_more(words: list[str], end: int, start: int) -> bool:
    """Return True if the next word belongs to the phrase: it has or joins a meaning, or a verb has no noun yet."""
    following = words[end + 1]
    joins = (
        following.lower() == "of"
        or words[end].lower() == "of"
        or (words[end - 1].lower() == "of" and _counts(words[end]))
    )
    return _says(following) or joins or (start == 0 and not any(_says(word) for word in words[1 : end + 1]))


def _says(word: str) -> bool:
    return bool(terms(word))


def _counts(word: str) -> bool:
    return word.lower() in _DETERMINERS


_MEANS = frozenset({"by", "using", "via", "with"})
_DETERMINERS = frozenset({"a", "an", "the", "all", "any", "each", "every", "many", "more", "one", "several", "some"})


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


def joined(words: Iterable[str], like: str) -> str:
    """Return a name of these words, written the way another is: `get-file`, `getFile` or `get_file`."""
    parts = [word.lower() for word in words]
    if "-" in like and "_" not in like:
        return "-".join(parts)
    if "_" not in like and re.search(r"[a-z][A-Z]", like):
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "_".join(parts)


def clearer_name(name: str, other: str, endings: Iterable[tuple[str, ...]], taken: Collection[str]) -> str | None:
    """Return `name` with the first of these endings that makes it less like `other`; None where none does.

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
