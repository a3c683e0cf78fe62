"""Requests in plain English: the purpose of a tool, with values, as an order, a wish or a need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import dropwhile, takewhile
from random import Random

from mcp_tef.scoring.case_drafting import WORDING
from mcp_tef.scoring.case_drafting.values import NAMED, NUMBERED, StatedValue
from mcp_tef.scoring.lint.vocabulary import BASE_VERBS, word_set

GROUPS = {verb: group for group, verbs in WORDING["verbs"].items() for verb in verbs.split()}
LIST, SEARCH, CREATE, UPDATE = "list", "search", "create", "update"
_NEEDS_TARGET = {"put": " to ", "turn": " to "}
"""Synonyms that need a place or a result, and the preposition that shows that there is one."""
_PREPOSITIONS = word_set("""
    about across against among around as at between by during for from in
    into on onto over through to under using via with within without
""")
_SPLIT = re.compile(rf"\s(?=(?:{'|'.join(sorted(_PREPOSITIONS))})\s|of (?:an?|the|your|all|specific|this)\s)")
_DROPPED_TAILS = word_set("as by using via with without")
_EMPTY = word_set(
    "all available certain complete comprehensive configured current detailed different existing full given multiple "
    "new one particular provided several single specific specified target various"
)
_DETERMINERS = word_set(
    "a all an any each every his her its my one our some that the their these this those your all both two"
)
_NEW = re.compile(r"(?:new|source|target|parent|output) .*|.*path")
_IMPLIED = {"current": "the"} | dict.fromkeys(("specific", "specified", "given", "particular"), "a")
_OPEN = re.compile(
    r"(?i)\b(?:topic|query|keywords?|specified|given|provided|criteria|id|ids|name or id|path|url|urls)\b"
)


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
        head = _head(self.words)
        return is_plural(head)


@dataclass(frozen=True, slots=True)
class PhrasedRequest:
    """A request: a verb, its object, what belongs to it, values, and further sentences."""

    verb: str
    parts: tuple[Part, ...]
    phrases: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """Group of the verb."""
        return str(GROUPS.get(self.verb.split()[0], "other"))

    def object(self, determiner: str) -> str:
        """Return the object with everything that belongs to it, with this determiner where it has no value."""
        first, *others = self.parts
        rest = [f"{part.preposition} {_definite(part, 'the')}" for part in others]
        if self.group == CREATE and not first.plural and first.indefinite:
            told = f"{'an' if _VOWEL.match(first.bare) else 'a'} {first.bare}"
        else:
            told = _definite(first, determiner)
        return " ".join((told, *rest, *self.phrases)).replace(" ,", ",")

    def bare(self) -> str:
        """Return the same without the determiner of the object."""
        first, *others = self.parts
        rest = [f"{part.preposition} {_definite(part, 'the')}" for part in others]
        return " ".join((first.bare, *rest, *self.phrases)).replace(" ,", ",")


def request_of(
    purpose: str, values: Sequence[StatedValue] | None, *, unspecific: bool = False
) -> PhrasedRequest | None:
    """Return the request for a purpose (`add a comment to a page`) with values; None where it cannot be said well.

    Unless it may be `unspecific`, it has to say which thing is meant.
    """
    request = _parsed(purpose)
    if request is None or values is None:
        return None
    request = _identified(
        reduce(_with, values, request), [value for value in values if value.style and not _NEW.match(value.label)]
    )
    said_well = unspecific or (_is_specific(request, values) and not _has_odd_topic(request))
    return _without_open(request) if said_well else None


def _has_odd_topic(request: PhrasedRequest) -> bool:
    """Return True if it asks for something about a topic that has none: people, or what is not searched for."""
    has_topic = any(phrase.startswith("about ") for phrase in request.phrases)
    return has_topic and (request.group != SEARCH or _head(request.parts[0].words).lower() in _PEOPLE)


def _parsed(purpose: str) -> PhrasedRequest | None:
    joined = re.match(r"(\w+ and \w+|\w+) (?!or\b)(.+)", purpose)
    if joined is None or joined[1].split()[0] in _VAGUE_VERBS or re.search(" (?:based|between) ", purpose):
        return None
    parts = [part for part in takewhile(bool, map(_part, _SPLIT.split(joined[2]))) if part]
    if not parts or (parts[0].preposition and joined[1] not in ("search", "look")):
        return None
    return PhrasedRequest(joined[1], _plain_object(joined[1], *parts))


def _plain_object(verb: str, first: Part, *others: Part) -> tuple[Part, ...]:
    """Return the parts without `a list of`, and with `a` for what is created."""
    if first.words == ("list",) and others and others[0].preposition == "of":
        return (replace(others[0], preposition=""), *others[1:])
    created = GROUPS.get(verb) == CREATE and first.determiner == "the" and not first.plural
    return (replace(first, determiner="a") if created else first, *others)


def _unclear(request: PhrasedRequest) -> list[int]:
    """Return the parts that nothing tells apart from others of their kind; a thing to create may be any."""
    parts = list(enumerate(request.parts))[request.group == CREATE :]
    return [at for at, part in parts if part.indefinite and not part.value]


def _replaced(request: PhrasedRequest, place: int, part: Part) -> PhrasedRequest:
    return replace(request, parts=(*request.parts[:place], part, *request.parts[place + 1 :]))


def _identified(request: PhrasedRequest, values: Sequence[StatedValue]) -> PhrasedRequest:
    """Return the request with values from sentences beside things that nothing else tells apart."""
    for value in values:
        unclear = _unclear(request)
        if value.sentence in request.sentences and len(unclear) == 1:
            part = replace(request.parts[unclear[0]], value=f"with the {value.label} {value.text}")
            kept = tuple(sentence for sentence in request.sentences if sentence != value.sentence)
            request = replace(_replaced(request, unclear[0], part), sentences=kept)
    return request


def _is_specific(request: PhrasedRequest, values: Sequence[StatedValue]) -> bool:
    """Return True if it says which thing is meant, for what to search, and what to change."""
    which = [at for at in _unclear(request) if at or request.group != SEARCH]
    opened = any(_is_open(part) for part in request.parts) and not request.phrases
    return not which and not opened and len(values) >= {SEARCH: 1, UPDATE: 2}.get(request.group, 0)


def _is_open(part: Part) -> bool:
    """Return True for a phrase that stands for a value, such as `a query`, without one."""
    return not part.value and bool(_OPEN.search(" ".join(part.words)))


def _part(piece: str) -> Part | None:
    words = re.sub(r"\b(?:one|1) or more\b|\bany number of\b", "all", piece).split()
    first = words[0].lower() if words else ""
    preposition = first if first in _PREPOSITIONS | {"of"} else ""
    words = words[1:] if preposition else words
    if not words or preposition in _DROPPED_TAILS or _is_clause(preposition, words):
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
    return Part(tuple(kept if determiner or is_plural(_head(kept)) else words), preposition, determiner)


def _with(request: PhrasedRequest, value: StatedValue) -> PhrasedRequest:
    place = _place(request, value)
    if place is not None:
        part = request.parts[place]
        if part.plural and (value.style, value.noun) == (NAMED, ""):
            return replace(request, phrases=(*request.phrases, f"for {value.text}"))
        words, determiner = _named(part, value), part.determiner or "the"
        return _replaced(request, place, replace(part, value=_beside(part, value), words=words, determiner=determiner))
    if phrase := _phrase(request, value):
        return replace(request, phrases=(*request.phrases, phrase))
    return replace(request, sentences=(*request.sentences, value.sentence))


def _place(request: PhrasedRequest, value: StatedValue) -> int | None:
    """Return the part that a value stands beside: the one with its noun; without a noun, the one it belongs to."""
    if value.style and not value.noun:
        place = _owner(request)
        return None if request.parts[place].value else place
    return next((at for at, part in enumerate(request.parts) if _fits(part, value)), None)


def _phrase(request: PhrasedRequest, value: StatedValue) -> str:
    """Return a value as a phrase behind the request; "" where it takes a sentence of its own."""
    if value.phrase or not value.style or value.noun not in _CONTAINERS | _modifiers(request):
        return value.phrase
    preposition = "in" if value.noun in _CONTAINERS else "of"
    return f"{preposition} the {value.noun} {_beside(Part((value.noun,), determiner='the'), value)}"


def _owner(request: PhrasedRequest) -> int:
    """Return the part that a value without a noun belongs to: what nothing tells apart, else the last or first."""
    if request.group == CREATE:
        return 0
    unclear = _unclear(request)
    last = len(request.parts) - 1
    end = request.parts[last]
    owns = end.preposition in ("of", "for", "from", "about") and (end.determiner or end.plural)
    return unclear[0] if unclear else last if owns else 0


def _fits(part: Part, value: StatedValue) -> bool:
    return bool(value.noun) and value.noun.rstrip("s") == _head(part.words).lower().rstrip("s") and not part.value


def _modifiers(request: PhrasedRequest) -> frozenset[str]:
    return frozenset(word.lower() for word in request.parts[0].words[:-1])


def _beside(part: Part, value: StatedValue) -> str:
    if value.style == NAMED:
        return f"called {value.text}" if part.indefinite else value.text
    label = "ID" if value.noun else value.label
    return f"with the {label} {value.text}" if value.style == NUMBERED and value.text.isdigit() else value.text


def _named(part: Part, value: StatedValue) -> tuple[str, ...]:
    """Return the words beside a value: in the singular, unless there are two values."""
    words, head = part.words, _head(part.words)
    if " and " in value.text and is_plural(head):
        return words
    words = words[: words.index("and")] if "and" in words else words
    return tuple(
        word[:-1] if word == head and is_plural(word) and not word.endswith(("ies", "ses")) else word for word in words
    )


def is_plural(word: str) -> bool:
    """Return True for most nouns in the plural."""
    plain = word.lower()
    return plain in ("children", "criteria", "media", "people") or bool(
        re.search(r"..[^suoi]s$|(?:[^s]ies|[^u]es|ios)$", plain)
    )


def _head(words: Sequence[str]) -> str:
    """Return the noun that decides the number: the last before `of`."""
    end = next((at for at, word in enumerate(words) if word in ("of", "and", "or")), len(words))
    return words[end - 1 if end else 0]


def _definite(part: Part, determiner: str) -> str:
    """Return the phrase with a determiner, where it may have one: not for `HTML` or `output`."""
    if part.value:
        return f"the {part.bare}"
    return f"{determiner} {part.bare}" if part.determiner or part.plural else part.bare


def _without_open(request: PhrasedRequest) -> PhrasedRequest:
    first, *others = request.parts
    return replace(request, parts=(first, *(part for part in others if not _is_open(part))))


_VAGUE_VERBS = word_set("manage provide connect process handle interact perform apply explore use")
_FRONTED = {word: word for word in ("for", "in", "on", "from", "within")} | {"of": "for", "about": "for"}
_VAGUE = word_set("content data details information list metadata state status value")
_CONTAINERS = word_set("board channel database folder list project repository space team workspace")
_PEOPLE = word_set("accounts agents customers contacts employees members people users")
_VOWEL = re.compile(r"(?i)(?!user|uni|one\b|url|uuid|utf|eu)[aeiou]")
_ADDRESSED = ("give me", "show me")


def _owner_of(request: PhrasedRequest, random: Random) -> str:
    return "our" if request.group == LIST and request.parts[0].plural and random.random() < 0.25 else "the"


def order(request: PhrasedRequest, random: Random, *, addressed: bool = False) -> str:
    """Return the request in the infinitive, with some synonym of its verb; `show me` only if somebody is addressed."""
    target = request.object(_owner_of(request, random))
    known = [
        one
        for one in WORDING["synonyms"].get(request.verb, (request.verb,))
        if _NEEDS_TARGET.get(one, " ") in f" {target}"
    ]
    known = [one for one in known if addressed or one not in _ADDRESSED]
    joined = " for" if request.parts[0].preposition == "for" else ""
    return f"{random.choice(known or [request.verb])}{joined} {target}"


def _parted(request: PhrasedRequest) -> tuple[PhrasedRequest, str, Part] | None:
    """Return the request without its last part, and that part; None where it cannot stand alone."""
    *parts, last = request.parts
    alone = last.value or len(last.words) > 1
    whole = bool(parts) and (parts[0].determiner or parts[0].plural) and parts[0].words[-1] not in _VAGUE
    if not (alone and whole and last.preposition in _FRONTED):
        return None
    return replace(request, parts=tuple(parts)), _FRONTED[last.preposition], last


def direct(request: PhrasedRequest, random: Random) -> str:
    """Return a request that names the action."""
    if (parted := _parted(request)) and random.random() < 0.4:
        short, preposition, last = parted
        wanted = order(short, random, addressed=True)
        frame = random.choice(WORDING["fronted_orders"]).format(
            order=wanted, tail=f"{preposition} {_definite(last, 'the')}"
        )
        return " ".join((_capital(frame), *request.sentences))
    return _told(random.choice(WORDING["orders"]), order(request, random, addressed=True), request)


def indirect(request: PhrasedRequest, random: Random) -> str:
    """Return a request that names the need; for actions without a phrase of their own, one that tells of a chore."""
    needs = WORDING["needs"].get(request.group) if request.group != LIST or request.parts[0].plural else None
    frame = random.choice(needs if needs and random.random() < 0.85 else WORDING["chores"])
    thing = request.object(_owner_of(request, random))
    if request.group == CREATE:
        thing = thing.replace(" to ", " for ", 1)
    forms = (
        {"it": "them", "is": "are", "has": "have"}
        if _is_several(request.parts[0])
        else {"it": "it", "is": "is", "has": "has"}
    )
    told = frame.format(order=order(request, random), the=thing, The=_capital(thing), bare=request.bare(), **forms)
    return " ".join((told.replace("them should", "they should"), *request.sentences))


def _is_several(part: Part) -> bool:
    return part.plural and (not part.value or " and " in part.value)


def near_miss(request: PhrasedRequest, other: PhrasedRequest, random: Random) -> str:
    """Return a request for one of two similar tools that mentions the other's action as unwanted."""
    wanted, unwanted = order(request, random), order(other, random)
    told = random.choice(WORDING["near_misses"]).format(a=wanted, b=unwanted, A=_capital(wanted))
    return " ".join((told, *request.sentences))


def _told(frame: str, wanted: str, request: PhrasedRequest) -> str:
    return " ".join((frame.format(order=wanted, Order=_capital(wanted)), *request.sentences))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
