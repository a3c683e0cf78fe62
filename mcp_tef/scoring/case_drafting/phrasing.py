"""Requests in plain English: the purpose of a tool, with values, as an order, a wish or a need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import takewhile
from random import Random

from mcp_tef.scoring.case_drafting import WORDING
from mcp_tef.scoring.case_drafting.noun_phrases import PIECES, Part, article, part_of
from mcp_tef.scoring.case_drafting.values import LABELLED, NAMED, NUMBERED, PLAIN_NUMBERS, StatedValue
from mcp_tef.scoring.lint.vocabulary import word_set
from mcp_tef.scoring.tfidf_weights import stems

GROUPS = {verb: group for group, verbs in WORDING["verbs"].items() for verb in verbs.split()}
READ, LIST, SEARCH, CREATE, UPDATE = "read", "list", "search", "create", "update"
_SAYS_MORE = re.compile(r" (?:as|based|between|either) ")
"""Words of a purpose that a request without its tail would leave out."""
_NEW = re.compile(r"(?:new|source|target|parent|output) .*|.*path")
_MOVING = word_set("copy duplicate move transfer")
_RELATIVE = word_set("corresponding matching related relevant similar")
_ADDRESS = re.compile(r"(?:^|\s)(?:/|https?:)")
_JOINED = re.compile(r"(\w+ and \w+|\w+) (?!(?:or|up|down|off|out|back)\b)(.+)")
_SETS_UP = re.compile(r"^set(?= an? (?:new|further|additional) )")
_KEPT = {"all": "all"}
"""Determiners that a request takes over from a purpose."""
_ENDS = re.compile(r"\{head\}|Can you\?")
_DEFINITE = word_set("the all your our my its their")
_OPEN = re.compile(
    r"(?i)\b(?:topic|query|keywords?|specified|given|provided|criteria|id|ids|name or id|path|url|urls)\b"
)


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
        group, first = str(GROUPS.get(self.verb.split()[0], "other")), self.parts[0]
        return LIST if group == READ and first.plural and not first.value and first.words[-1] not in _VAGUE else group

    @property
    def stems(self) -> frozenset[str]:
        """Stems of its words."""
        return frozenset(stems(f"{self.verb} {self.bare()}"))

    def object(self, determiner: str) -> str:
        """Return the object with everything that belongs to it, with this determiner where it has no value."""
        return self._with_rest(self._first(determiner))

    def bare(self) -> str:
        """Return the same without the determiner of the object."""
        return self._with_rest(self.parts[0].bare)

    def in_two(self) -> tuple[str, str]:
        """Return the object without its determiner, and what belongs to it: `comments` and `for the task 7`."""
        rest = self._with_rest("").strip()
        return self.parts[0].bare, re.sub("^(?:of|from) ", "for ", rest)

    def _with_rest(self, first: str) -> str:
        rest = (f"{part.preposition} {part.definite('the')}" for part in self.parts[1:])
        return " ".join((first, *rest, *self.phrases)).replace(" ,", ",")

    def _first(self, determiner: str) -> str:
        """Return the object alone: `a page` to create, `pages` to search for, `all pages` to delete."""
        first, group = self.parts[0], self.group
        if group == CREATE and first.indefinite and not first.plural:
            return f"{article(first.bare)} {first.bare}"
        if first.value or group in (LIST, READ):
            return first.definite(determiner)
        bare = first.plural and not first.determiner
        return first.bare if bare else first.definite(_KEPT.get(first.determiner, determiner))


def fitting(purpose: str, values: Sequence[StatedValue] | None, *, optional: int) -> tuple[StatedValue, ...] | None:
    """Return required values, those that say which thing of the purpose is meant, and some other optional ones.

    A number of results fits where several are listed; an ID of anything else does not fit. None where nothing fits.
    """
    request = _parsed(purpose)
    if request is None or values is None:
        return None
    several = request.group in (LIST, SEARCH) or all(value.label for value in values if value.required)
    return _fitting(request, values, optional) if several else None


def _fitting(request: PhrasedRequest, values: Sequence[StatedValue], optional: int) -> tuple[StatedValue, ...]:
    parts = request.parts[request.group in (LIST, SEARCH, CREATE) :]
    needed = [value for value in values if value.required]
    beside = [value for value in values if any(_fits(part, value) for part in parts) or _holds(request, value)]
    for value in beside:
        needed += _new(value, needed)
    others = list[StatedValue]()
    for value in values:
        others += _new(value, (*needed, *others)) if _may_be_added(request, value) else []
    return (*needed, *others[:optional])


def _holds(request: PhrasedRequest, value: StatedValue) -> bool:
    """Return True for what the thing to create goes into: a list for a task."""
    return request.group == CREATE and value.noun in _CONTAINERS


def _new(value: StatedValue, told: Sequence[StatedValue]) -> list[StatedValue]:
    """Return a value unless it is told, or names a thing that one of these names already."""
    known = {one.noun for one in told} - {""}
    return [] if value in told or value.noun in known else [value]


def _may_be_added(request: PhrasedRequest, value: StatedValue) -> bool:
    if not value.label:
        return request.group in (LIST, SEARCH) and request.parts[0].plural
    return value.style != NUMBERED


def request_of(
    purpose: str, values: Sequence[StatedValue] | None, *, product: str = "", unspecific: bool = False
) -> PhrasedRequest | None:
    """Return the request for a purpose (`add a comment to a page`) with values; None where it cannot be said well.

    Unless it may be `unspecific`, it has to say which thing is meant. It names the product unless it names one already.
    """
    request = _parsed(purpose)
    if request is None or values is None:
        return None
    request = _identified(
        reduce(_with, values, request), [value for value in values if value.style and not _NEW.match(value.label)]
    )
    said_well = unspecific or (_is_specific(request, values) and not _has_odd_topic(request))
    return _in_product(_without_open(request), product) if said_well else None


def _in_product(request: PhrasedRequest, product: str) -> PhrasedRequest:
    request = replace(request, parts=tuple(part.spelled(product) for part in request.parts))
    named = any(word[:1].isupper() for part in request.parts for word in part.words)
    placed = any(map(_ADDRESS.search, (*(part.value for part in request.parts), *request.phrases)))
    if named or placed or not product:
        return request
    return replace(request, phrases=(*request.phrases, f"in {product}"))


def _has_odd_topic(request: PhrasedRequest) -> bool:
    """Return True if it asks for something about a topic that has none: people, fields, or what is not searched for."""
    has_topic = any(phrase.startswith("about ") for phrase in request.phrases)
    return has_topic and (request.group != SEARCH or request.parts[0].head.lower() in _WITHOUT_TOPIC)


def _parsed(purpose: str) -> PhrasedRequest | None:
    joined = _JOINED.match(_SETS_UP.sub("create", purpose))
    if joined is None or joined[1].split()[0] in _VAGUE_VERBS or _SAYS_MORE.search(purpose):
        return None
    parts = [part for part in takewhile(bool, map(part_of, PIECES.split(joined[2]))) if part]
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
        if value.sentence in request.sentences and len(unclear) == 1 and _belongs(request.parts[unclear[0]], value):
            part = replace(request.parts[unclear[0]], value=f"with the {value.label} {value.text}")
            kept = tuple(sentence for sentence in request.sentences if sentence != value.sentence)
            request = replace(_replaced(request, unclear[0], part), sentences=kept)
    return request


def _belongs(part: Part, value: StatedValue) -> bool:
    """Return True for an ID that may be that of a part: no `page ID` for a request."""
    return not value.noun or value.noun in {word.lower() for word in part.words}


def _is_specific(request: PhrasedRequest, values: Sequence[StatedValue]) -> bool:
    """Return True if it says which thing is meant, for what to search, and what to change."""
    which = [at for at in _unclear(request) if at or request.group != SEARCH]
    opened = any(map(_is_open, request.parts)) and not request.phrases
    return not (which or opened) and _is_enough(request, values) and bool(values or _is_complete(request))


def _is_enough(request: PhrasedRequest, values: Sequence[StatedValue]) -> bool:
    """Return True if it says what to search for and what to change; IDs stand beside what they are of."""
    if request.group not in (CREATE, UPDATE) and {one.sentence for one in values if one.style} & {*request.sentences}:
        return False
    return len(values) >= (request.group == SEARCH) and bool(request.sentences or request.group != UPDATE)


def _is_complete(request: PhrasedRequest) -> bool:
    """Return True if a request needs no value: it is about all there are, or about what there is only one of."""
    first, *others = request.parts
    if request.group == LIST:
        return first.plural and not set(first.words) & (_VAGUE | _RELATIVE)
    told = [first, *others] if first.determiner or first.words[-1] not in _VAGUE else others
    return bool(told) and all(part.determiner in _DEFINITE for part in told)


def _is_open(part: Part) -> bool:
    """Return True for a phrase that stands for a value, such as `a query`, without one."""
    return not part.value and bool(_OPEN.search(" ".join(part.words)))


def _with(request: PhrasedRequest, value: StatedValue) -> PhrasedRequest:
    if request.group == CREATE and value.label.startswith("new "):
        value = replace(value, label=value.label.removeprefix("new "))
    if request.group == UPDATE and value.style != NUMBERED and not value.noun:
        return replace(request, sentences=(*request.sentences, value.sentence.replace("The ", "The new ", 1)))
    place = _place(request, value)
    return _owned(request, value) or _added(request, value) if place is None else _stated(request, place, value)


def _stated(request: PhrasedRequest, place: int, value: StatedValue) -> PhrasedRequest:
    part = request.parts[place]
    if part.plural and (value.style, value.noun) == (NAMED, ""):
        return replace(request, phrases=(*request.phrases, f"for {value.text}"))
    words, determiner = part.beside(value.text), part.determiner or "the"
    if place and words == (value.noun,) and value.noun in _PLACES | PLAIN_NUMBERS:
        return _replaced(request, place, part.stated_as(value.text))
    return _replaced(request, place, replace(part, value=_beside(part, value), words=words, determiner=determiner))


def _added(request: PhrasedRequest, value: StatedValue) -> PhrasedRequest:
    if phrase := _phrase(request, value):
        return replace(request, phrases=(*request.phrases, phrase))
    return replace(request, sentences=(*request.sentences, value.sentence))


def _owned(request: PhrasedRequest, value: StatedValue) -> PhrasedRequest | None:
    """Return `the details of the task 7` for `task details`; None where the value is not about a word before a noun."""
    first, *others = request.parts
    words = [word.lower() for word in first.words[:-1]]
    if not (value.style and value.noun in words) or first.value:
        return None
    end = words.index(value.noun) + 1
    owner = Part(first.words[:end], "for" if request.group == CREATE else "of", "the")
    owner = replace(owner, value=_beside(owner, value))
    rest = replace(first, words=first.words[end:])
    rest = replace(rest, determiner="the") if rest.plural or rest.words[-1] in _VAGUE else rest
    return replace(request, parts=(rest, owner, *others))


def _place(request: PhrasedRequest, value: StatedValue) -> int | None:
    """Return the part that a value stands beside: the one with its noun; without a noun, the one it belongs to."""
    if value.phrase.startswith("at "):
        value = replace(value, noun=value.label.partition(" ")[0])
    if value.style and not value.noun:
        place = _owner(request)
        return None if request.parts[place].value else place
    return next((at for at, part in enumerate(request.parts) if _fits(part, value)), None)


def _phrase(request: PhrasedRequest, value: StatedValue) -> str:
    """Return a value as a phrase behind the request; "" where it takes a sentence of its own."""
    if value.phrase or not value.style or value.noun not in _CONTAINERS:
        return value.phrase
    preposition = "to" if request.verb in _MOVING else "in"
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
    return bool(value.noun) and value.noun.rstrip("s") == part.head.lower().rstrip("s") and not part.value


def _beside(part: Part, value: StatedValue) -> str:
    if value.phrase.startswith("at ") or value.noun in _PLACES:
        return value.phrase
    if value.style == NUMBERED and value.text.isdigit():
        return f"with the {'ID' if value.noun else value.label} {value.text}"
    joined = {NAMED: "called ", LABELLED: "at " if value.text.startswith("/") else ""}.get(value.style, "")
    return f"{joined if part.indefinite else ''}{value.text}"


def _without_open(request: PhrasedRequest) -> PhrasedRequest:
    first, *others = request.parts
    return replace(request, parts=(first, *(part for part in others if not _is_open(part))))


_VAGUE_VERBS = word_set("manage provide connect process handle interact perform apply explore use")
_FRONTED = {word: word for word in ("for", "in", "on", "within")} | {"of": "for", "about": "for"}
_VAGUE = word_set(
    "conditions content contents data details info information list metadata metrics properties settings state "
    "statistics stats status value"
)
_HOLLOW = word_set("content contents data details info information")
_CHANGED_IN_NEEDS = {CREATE: (" to ", " for "), "delete": (" from the ", " of the ")}
_SEVERAL = {"it": "them", "is": "are", "has": "have"}
_CONTAINERS = word_set("board channel database folder list project repository space team workspace")
_PLACES = word_set("city destination location place")
_WITHOUT_TOPIC = word_set("accounts agents customers contacts employees fields members options people types users")
_REMARKS = word_set("comment label message note notification reply tag")
"""What nobody needs for its own sake, so that a request tells of the chore."""
_ADDRESSED = ("give me", "show me")


def order(request: PhrasedRequest, random: Random, *, addressed: bool = False) -> str:
    """Return the request in the infinitive, with some synonym of its verb; `show me` only if somebody is addressed."""
    target = request.object("the")
    known = WORDING["synonyms"].get(request.verb, (request.verb,))
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
    if not request.phrases and (parted := _parted(request)) and random.random() < 0.4:
        short, preposition, last = parted
        wanted = order(short, random, addressed=True)
        frame = random.choice(WORDING["fronted_orders"]).format(
            order=wanted, tail=f"{preposition} {last.definite('the')}"
        )
        return " ".join((_capital(frame), *request.sentences))
    wanted = order(request, random, addressed=True)
    told = random.choice(WORDING["orders"]).format(order=wanted, Order=_capital(wanted))
    return " ".join((told, *request.sentences))


def indirect(request: PhrasedRequest, random: Random) -> str:
    """Return a request that names the need; for actions without a phrase of their own, one that tells of a chore."""
    needs = [frame for frame in _needs(request) if not (request.sentences and _ENDS.search(frame))]
    frame, need = random.choice(needs or WORDING["chores"]), _need(request)
    before, after = _CHANGED_IN_NEEDS.get(request.group, (" ", " "))
    thing = need.object("the").replace(before, after, 1)
    forms = _SEVERAL if need.parts[0].several else {word: word for word in _SEVERAL}
    head, rest = need.in_two()
    told = frame.format(order=order(request, random), the=thing, The=_capital(thing), head=head, rest=rest, **forms)
    return " ".join((told.replace(" ?", "?").replace(" .", "."), *request.sentences))


def _needs(request: PhrasedRequest) -> Sequence[str]:
    first = request.parts[0]
    needed = first.head not in _REMARKS if request.group == CREATE else request.group != LIST or first.plural
    return WORDING["needs"].get(request.group, ()) if needed else ()


def _need(request: PhrasedRequest) -> PhrasedRequest:
    """Return the request about `the page` for one about `information about the page`."""
    first, *others = request.parts
    hollow = request.group == READ and first.words[1:] == () and first.words[0] in _HOLLOW and not first.value
    if not (hollow and others and others[0].preposition in ("about", "of", "on", "for", "from")):
        return request
    return replace(request, parts=(replace(others[0], preposition=""), *others[1:]))


def near_miss(request: PhrasedRequest, other: PhrasedRequest, random: Random) -> str:
    """Return a request for one of two similar tools that mentions the other's action as unwanted."""
    wanted, unwanted = order(request, random), order(other, random)
    told = random.choice(WORDING["near_misses"]).format(a=wanted, b=unwanted, A=_capital(wanted))
    return " ".join((told, *request.sentences))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
