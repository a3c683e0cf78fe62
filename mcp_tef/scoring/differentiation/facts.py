"""Facts of a description that a caller must know, and those that a rewritten description leaves out."""

import re
from collections.abc import Collection, Iterator, Sequence

from mcp_tef.scoring.differentiation.text_terms import Sentence, sentences, terms
from mcp_tef.scoring.phrases import cut

KEPT_SHARE = 0.6

_IDENTIFIER = re.compile(r"\b[A-Za-z]\w*_\w+|\b[a-z]+[A-Z]\w*|`[^`\n]+`")
_NUMBER = re.compile(r"\d+(?:[.,:/×x-]\d+)*")
_FORMAT = re.compile(r"\b[A-Z][A-Z0-9]+s?\b|(?<!\w)\.[a-z]{2,5}\b|https?://[^\s)>\]]+|\b\w+/\w+\b")
_NAME = re.compile(r"(?<=[\w,] )[A-Z]\w*[a-z]\w*")
_ERROR = re.compile(
    r"(?i)\b(?:error|fail|exception|invalid|time ?out|den(?:y|ied)|reject|refus|skip|ignor|abort|crash|unavailable|"
    r"unsupported|missing|truncat|irreversibl|permanent|undone|overwrit|destructiv|unsafe|danger)\w*"
)
_OBLIGATION = re.compile(
    r"(?i)\b(?:must|never|only|always|cannot|\w+n['’]t|not|required?s?|requires|mandatory|avoid|ensure|make sure|"
    r"maximum|minimum|max|min|limit\w*|at most|at least|up to|exceeds?|warning|caution|important|absolute|except|"
    r"unless)\b"
)
_NEGATION = re.compile(r"(?i)\b(?:never|cannot|\w+n['’]t|not|avoid)\b")


def lost_facts(before: str, after: str, parameters: Collection[str] = ()) -> tuple[str, ...]:
    """Return what `before` says and `after` does not, in reading order.

    Facts are numbers, formats (`PDF`, `.csv`, addresses), proper names, identifiers and parameters, words of errors,
    and sentences that oblige or limit (`must`, `only`, `at most`). Such a sentence is kept where one sentence of
    `after` obliges as well, with a negation where it has one, and has 60 % of its telling words.
    """
    kept = {key for key, _ in _listed(after, parameters)} | {_key(word) for word in re.findall(r"\w+", after)}
    lost = [fact for key, fact in _listed(before, parameters) if key not in kept]
    said = [sentence for sentence in sentences(after) if _OBLIGATION.search(sentence.text)]
    lost += [cut(one.text, 80) for one in sentences(before) if _OBLIGATION.search(one.text) and not _kept(one, said)]
    return tuple(dict.fromkeys(lost))


def _listed(text: str, parameters: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each fact of one word as the key that equal facts share, and as it is written."""
    for pattern in (_NUMBER, _FORMAT, _IDENTIFIER, _NAME):
        yield from ((_key(match[0]), match[0].strip("`")) for match in pattern.finditer(text))
    yield from ((f"error {match[0].lower()[:5]}", match[0]) for match in _ERROR.finditer(text))
    yield from ((_key(name), name) for name in parameters if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def _key(word: str) -> str:
    return word.strip("`").lower().rstrip("s")


def _kept(sentence: Sentence, said: Sequence[Sentence]) -> bool:
    """Return True if one of these sentences has most of its words, and a negation where it has one."""
    wanted, negated = terms(sentence.text).keys(), bool(_NEGATION.search(sentence.text))
    return not wanted or any(
        len(wanted & terms(one.text).keys()) >= KEPT_SHARE * len(wanted)
        for one in said
        if not negated or _NEGATION.search(one.text)
    )
