"""Purposes of tools as an infinitive with its object, taken from descriptions where the English is beyond doubt."""

import re
from collections.abc import Sequence
from itertools import pairwise

from mcp_tef.scoring.differentiation.text_terms import sentences, term
from mcp_tef.scoring.lint.vocabulary import BASE_VERBS, reads_as_english, word_set

MOST_WORDS = 14
MOST_FREE_WORDS = 2

_INTRODUCTION = re.compile(
    r"(?i)(?:use (?:this|it)(?: tool| function| command)?(?: when you (?:need|want))? to"
    r"|(?:this|the) (?:tool|function|command|endpoint|method)(?: can be used to| is used to| can| will"
    r"| allows? (?:you|users) to| lets you| helps (?:you|users)(?: to)?)?"
    r"|(?:an? )?(?:tool|function|utility) (?:to|that|which)|(?:can be )?used to"
    r"|(?:allows?|enables?) (?:you|users|agents|the user) to|(?:lets|helps) (?:you|users))\s+"
)
_BRACKETS = re.compile(r"(?:(?<!\s)\s++)?[(\[][^()\[\]]*[)\]]")
_STOP = re.compile(
    r"(?:(?<!\s)\s++)?[;:—–]|\s-+\s|,?\s(?:such as|including|e\.g\.|i\.e\.|like)(?:\s|$)|\s\.\.\.|…|\.\s"
    r"|,?\sand returns?\s"
    r"|\swith(?:out)? (?:an? )?(?:[a-z]+ )?(?:filter(?:ing|s)|limits?|options|pagination|parameters)\b"
    r"|,\s(?:with|using|which|where|returning|based|optionally|without|then|so|if|when|but|and (?:then|return))\b"
)
_FURTHER_ACTION = re.compile(
    r",?\s(?:and|or|then|and then)\s(?:optionally\s)?([a-z]+)(?=\s(?:a|an|the|its|their|it|them)\b)"
)
_SIDE_CLAUSE = re.compile(
    r",?\s(?:using|via|so that|because|when|while|where|without|instead|based on|that|which|in order|optionally|"
    r"returning|allowing|providing|given|with|for|by|from|within|across)\s"
)
_STRANGE = re.compile(  # `the page or specific section` lacks an article
    r"[`<>{}|\\*#=_@$/\"“”~^•\n]|\w\.\w|\bI\b|\bwe\b|\b(?:true|false|null)\b"
    r"|\b(?:and|or) (?:certain|current|given|particular|provided|selected|single|specific|specified)\b"
)
_DETERMINERS = word_set(
    "a an the all any each every both one two three several multiple many more some your its their his her another "
    "either no various different"
)
PREPOSITIONS = word_set(
    "about across after against among around as at before between by during for from in inside into near of on "
    "onto out over per through to towards under up upon via with within without using"
)
_FREE_PREPOSITIONS = word_set("as by per")  # `by name`, `by text or pattern` need no article
_LOOSE_PREPOSITIONS = _FREE_PREPOSITIONS | word_set("using via with without")
_ENDS_NO_PHRASE = (
    PREPOSITIONS | _DETERMINERS | word_set("and or but that which who is are be not than if when including")
)
_FEW_OBJECTS = word_set("into of out over that this these those it")
_MASS = word_set(
    "access advice analytics audio availability code compliance content context data documentation email feedback "
    "filtering formatting geometry guidance handling hardware help history html indexing information infrastructure "
    "input json knowledge logic markdown matching math media memory metadata money music news output performance "
    "pricing processing progress research searching security software sql state storage text time traffic usage video "
    "weather work xml yaml"
)
_IRREGULAR_PLURALS = word_set("aliases children criteria indices media men people women")
_MODIFIERS = word_set("analytics data its media sales sports news operations systems")  # `sales data`
_COUNTED_TOO = word_set("code email history output query state text time video context input")
_SINGULAR = word_set("a an each every another one")
_OWNER = re.compile(r"(.+)['’]s \S")
_GERUND_OR_NAMES = re.compile(r"\w+ing\b|[A-Z]\w*(?: (?:and |or )?[A-Z]\w*)*$")
_JOINING = word_set("that which who and or")
_NO_PLURALS = ("ss", "us", "is", "ous")
_AS_ASKED = dict.fromkeys(("display", "give", "output", "print", "provide", "return", "show", "view"), "get")
_NO_PURPOSE = word_set("allow be enable ensure force have help let support use work act serve handle interact operate")


_HOLLOW = word_set(
    "available basic comprehensive content contents current data detail detailed details existing full given info "
    "information list metadata new optional particular properties result results set specific specified"
)
_CLAUSES = word_set("are if is that what when where whether which who")
_PARTICIPLE = re.compile(r"\w+ed|belonging|containing")


def base_verb(word: str) -> tuple[str, bool]:
    """Return `gets` → (`get`, True): the base form, and True for the third person; "" for no verb that is known."""
    plain = word.lower()
    if plain in BASE_VERBS:
        return plain, False
    endings = (("ies", "y"), ("es", ""), ("s", ""))
    forms = (plain.removesuffix(ending) + instead for ending, instead in endings if plain.endswith(ending))
    return next((form for form in forms if form in BASE_VERBS), ""), True


def purpose(description: str) -> str:
    """Return `add a comment to a page`: what a tool is for, by its first sentence; "" if unsure.

    The verb is a known one in its base form, and each noun has an article, is a plural, a proper name, or cannot be
    counted. What is longer than 14 words is cut before a side clause.
    """
    first = next(iter(sentences(description)), None)
    if first is None:
        return ""
    line = re.split(r"(?<!\s)[^\S\n]*+\n\s*+(?=[A-Z\-*])", first.text.strip(), maxsplit=1)[0]
    text = _INTRODUCTION.sub("", " ".join(line.split()), count=1) if _INTRODUCTION.match(line) else line
    return _infinitive(" ".join(text.split())) if reads_as_english(text) else ""


def things(purpose: str) -> frozenset[str]:
    """Return the terms of what a purpose acts on: `comment` for `add a comment to a page`.

    Where that says nothing by itself (`details`, `information`), it is what stands before it, else what follows.
    """
    stretches = (words for _, words in _stretches(purpose.split()[1:]) if words)
    return next(filter(None, map(_heads, stretches)), frozenset())


def _heads(words: Sequence[str]) -> frozenset[str]:
    end = next((at for at, word in enumerate(words) if word.lower() in _CLAUSES), len(words))
    parts = re.split(r" (?:and|or) ", " ".join(words[:end]))
    return frozenset(term for term in map(_head_term, map(str.split, parts)) if term)


def _head_term(words: list[str]) -> str:
    """Return the term of the noun that a phrase is about; "" where it says nothing."""
    while len(words) > 1 and _PARTICIPLE.fullmatch(words[-1]):  # `all tags associated`
        words = words[:-1]
    if words and words[-1].lower() in _HOLLOW:
        words = words[:-1]
    return term(words[-1].lower()) if words and words[-1].lower() not in _DETERMINERS | _HOLLOW else ""


def _infinitive(text: str) -> str:
    text = _BRACKETS.sub("", text).rstrip(".!。 ")
    head, _, rest = text.partition(" ")
    verb, third = base_verb(head)
    if joined := re.match(r"(and|or) (\w+) ", rest):
        second = base_verb(joined[2])[0]
        verb, rest = f"{verb} {joined[1]} {second}" if verb and second else "", rest[joined.end() :]
    thing = _object(rest, third)
    if not verb or verb in _NO_PURPOSE or not thing:
        return ""
    return f"{_AS_ASKED.get(verb, verb)} {thing}"


def _object(rest: str, third: bool) -> str:
    """Return the object of a verb, cut where a further action or an aside begins; "" for what is no whole phrase."""
    text = _shortened(_first_action(_STOP.split(rest)[0])).strip(" ,.!?'’")
    words = text.split()
    if not words or _STRANGE.search(text) or not _is_complete(words):
        return ""
    return text if _is_grammatical(words) and not (third and any(map(_is_inflected, _after_and(words)))) else ""


def _is_inflected(word: str) -> bool:
    return all(base_verb(word))


def _first_action(text: str) -> str:
    """Return the text up to a further verb with an object of its own, or up to a comma that lists nothing."""
    starts = (further.start() for further in _FURTHER_ACTION.finditer(text) if base_verb(further[1])[0])
    text = text[: next(starts, len(text))]
    before, _, behind = text.partition(",")
    return text if re.search(r"\b(?:and|or)\b", behind) else before


def _is_complete(words: Sequence[str]) -> bool:
    ends = words[-1].lower() in _ENDS_NO_PHRASE or words[0].lower() in _FEW_OBJECTS
    return len(words) <= MOST_WORDS and not ends


def _after_and(words: Sequence[str]) -> list[str]:
    """Return the words after `and`: in the third person, they may be verbs that would have to be changed as well."""
    return [after for before, after in pairwise(words) if before.lower() in ("and", "or")]


def _shortened(text: str) -> str:
    while len(text.split()) > MOST_WORDS and (cuts := list(_SIDE_CLAUSE.finditer(text))):
        text = text[: cuts[-1].start()]
    return text


def _is_grammatical(words: Sequence[str]) -> bool:
    """Return True if no noun lacks its article: each stretch between prepositions is a whole noun phrase."""
    (_, first), *others = _stretches(words)
    first = first[2:] if first[:2] == ["one", "or"] else first
    if first and not _is_whole(first, named=False):
        return False
    return all(_fits(before, inside) for before, inside in others)


def _fits(before: str, words: Sequence[str]) -> bool:
    """Return True for words that may follow a preposition: after `by` or `using`, also `name` or `giving a list`."""
    if not words or before not in _LOOSE_PREPOSITIONS:
        return bool(words) and _is_whole(words)
    parts = re.split(r" (?:and|or) ", " ".join(words))
    if before in _FREE_PREPOSITIONS and max(len(part.split()) for part in parts) <= MOST_FREE_WORDS:
        return True
    return bool(_GERUND_OR_NAMES.match(" ".join(words))) or _is_whole(words, named=False)


def _stretches(words: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return the words between prepositions and commas, each stretch with what is before it."""
    stretches: list[tuple[str, list[str]]] = [("", [])]
    for word in words:
        plain = word.strip(",'’")
        if plain.lower() in PREPOSITIONS:
            stretches.append((plain.lower(), []))
        elif stretches[-1][1] or plain.lower() not in ("and", "or"):
            stretches[-1][1].append(plain)
        if word.endswith(","):
            stretches.append((",", []))
    return stretches


def _is_whole(words: Sequence[str], *, named: bool = True) -> bool:
    """Return True for words that are a noun phrase by themselves, or `find them` after a `to`.

    A capital shows a name only where `named`: elsewhere it may be that of a title ("Create Issue").
    """
    end = next((at for at, word in enumerate(words) if word.lower() in _JOINING), len(words))
    head, tail = words[: max(end, 1)], words[end + 1 :]
    if not _is_noun_phrase(head, named) and not _is_action(head):
        return False
    if end == len(words) or words[end].lower() not in ("and", "or") or head[0].lower() in _DETERMINERS:
        return True
    return bool(tail) and _is_whole(tail)


def _is_noun_phrase(head: Sequence[str], named: bool) -> bool:
    if owner := _OWNER.match(" ".join(head)):
        return _is_noun_phrase(owner[1].split(), True)
    return not any(map(_is_plural_noun, head[:-1])) and _is_determined(head, named)


def _is_determined(head: Sequence[str], named: bool) -> bool:
    noun = head[-1]
    if noun[:1].isupper() if named else re.search("[a-z][A-Z]", noun):
        return True
    if head[0].lower() in _SINGULAR:
        return len(head) > 1 and not _is_plural(noun) and noun.lower() not in _MASS - _COUNTED_TOO
    return _is_counted(head) or noun.lower() in _MASS


def _is_plural_noun(word: str) -> bool:
    return _is_plural(word) and word.islower() and word not in _MODIFIERS


def _is_counted(head: Sequence[str]) -> bool:
    return head[0].isdigit() or _is_plural(head[-1]) or (head[0].lower() in _DETERMINERS and len(head) > 1)


def _is_action(head: Sequence[str]) -> bool:
    """Return True for a verb with its object."""
    plain = not any(map(_is_plural_noun, head[:-1]))
    return plain and len(head) > 1 and base_verb(head[0]) == (head[0].lower(), False) and _is_whole(head[1:])


def _is_plural(word: str) -> bool:
    plain = word.lower()
    ends = plain.endswith("s") and not plain.endswith(_NO_PLURALS) and len(plain) > 3
    return plain in _IRREGULAR_PLURALS or (ends and not _OWNER.match(f"{plain} x"))
