"""Facts of a description that a caller must know, and those that a rewritten description leaves out."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from mcp_tef.scoring.differentiation.purposes import base_verb, things
from mcp_tef.scoring.differentiation.text_terms import (
    ACTION_MEANINGS,
    Sentence,
    name_words,
    sentences,
    term,
    terms,
    text_meanings,
)
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, called, fixed_values
from mcp_tef.scoring.lint.definition_texts import escape, shows
from mcp_tef.scoring.lint.vocabulary import READING, WRITING, reads_as_english, word_count
from mcp_tef.scoring.phrases import cut, listed

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


LONGEST = 2_000
FEWEST_WORDS_OF_A_REQUEST = 3

_PLACEHOLDER = re.compile(
    r"(?i)[\W_]*(?:none|null|nil|undefined|n/?a|nan|to ?do|tbd|string|text|description|(?:the )?new description)?[\W_]*"
)
_EXAMPLE = re.compile(
    r"(?i)(?:\be\.g\.|\bfor example|\bfor instance|\bexamples?:)[,:\s]*"
    r"(?:[“\"'`]([^”\"'`\n]+)[”\"'`]|([^.;()\n]{2,80}))"
)
_JOINER = "\u200d"


def why_unusable(text: str, side: PairedTool, others: Sequence[PairedTool]) -> str | None:
    """Return the problem of a description, to be read after the model's name; None if it can be used."""
    if problem := _why_unreadable(text):
        return problem
    if _same(text, side.description):
        return "gave the old description back"
    for other in others:
        if _same(text, other.description):
            return f"gave the description of `{other.name}`"
        if _is_about(text, side, other):
            return f"described `{other.name}` in place of `{side.name}`"
    return _why_lossy(text, side) or _why_no_example(text, side)


def _why_lossy(text: str, side: PairedTool) -> str | None:
    kept = {sentence.key for sentence in sentences(text)}
    gone = [each.text for each in sentences(side.description) if each.key in side.boilerplate - kept]
    lost = [*(cut(each, 80) for each in gone), *lost_facts(side.description, text, side.parameters)]
    return f"left out {listed([f'“{each}”' for each in lost])}" if lost else None


def _why_no_example(text: str, side: PairedTool) -> str | None:
    """Return the problem of an example that the old description does not give: it must be a full request."""
    fixed = {str(value) for schema in side.parameters.values() for value in fixed_values(schema)}
    for match in _EXAMPLE.finditer(text):
        sample = next(filter(None, match.groups())).strip(" ,")
        if sample in side.description:
            continue
        if sample in fixed:
            return f"gave “{cut(sample, 40)}” as an example, which is a choice or default of a parameter"
        if word_count(sample) < FEWEST_WORDS_OF_A_REQUEST:
            return f"gave “{cut(sample, 40)}” as an example, which is no full request"
    return None


def _why_unreadable(text: str) -> str | None:
    if _PLACEHOLDER.fullmatch(text):
        return f"gave “{text}” as the description" if text else "gave an empty description"
    if len(text) > LONGEST:
        return f"wrote {len(text):,} characters, more than {LONGEST:,}"
    hidden = next((each for each in text if not shows(each) and each != _JOINER), None)
    return f"put the invisible character {escape(hidden)} into the description" if hidden is not None else None


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _is_about(text: str, side: PairedTool, other: PairedTool) -> bool:
    """Return True if a text has the other tool as its subject: `search_files finds …`, `This tool, search_files …`."""
    if other.name == side.name:
        return False
    name = re.escape(other.name)
    quoted = rf"[`“\"']{name}[`”\"']"
    plain = quoted if other.name.isalpha() and other.name.islower() else rf"(?:{quoted}|{name}(?![\w-]))"
    return (
        re.match(rf"\s*(?:(?:this|the) (?:tool|function)(?: is|,| called| named)*\s+)?{plain}", text, re.IGNORECASE)
        is not None
    )


MOST_POINTERS = 3
VAGUE = text_meanings(
    "available basic certain comprehensive current data detail detailed details different existing full given info "
    "information item items new optional particular provided result results single specific specified support thing "
    "tool various based using id ids name names via like user your one more instance object entity resource element"
)
_AND = re.compile(r",\s(?:and\s|or\s)?|\s(?:and|or)\s(?!more\b)")
_MEANS = re.compile(r"\s(?:by|using|via|with)\s")
_SEVERAL = text_meanings("multiple several batch bulk many")
_SINGLE = text_meanings("single")
_ANY = re.compile(r"^(\S+ )(?:an?|one) (?:(?:new|given|specific|specified|single) )?")
_READING = text_meanings("get list search")


@dataclass(frozen=True, slots=True)
class DescriptionDraft:
    """A description, and the tools that it says when to use instead."""

    text: str
    named: tuple[PairedTool, ...]


def drafts(
    side: PairedTool, others: Sequence[PairedTool], confused: Collection[str] = ()
) -> tuple[DescriptionDraft, ...]:
    """Return descriptions that add when to use the others instead, at most three of them, the fullest first.

    What the description says stays as it is. None where nothing can be said in correct English. `confused` has the ids
    of tools that runs confused this one with; of others, only those that somebody may take for it are named.
    """
    text, said = _whole(side), dict[str, PairedTool]()
    for other in others:
        if (told := _told(other, side)) and (other.id in confused or _is_close(other, side)):
            said.setdefault(told, other)
    pointers = [(f"To {told}, use {called(other, side)}.", other) for told, other in said.items()][:MOST_POINTERS]
    return tuple(_draft(text, pointers[:count]) for count in range(len(pointers) if text else 0, 0, -1))


def _draft(text: str, pointers: Sequence[tuple[str, PairedTool]]) -> DescriptionDraft:
    gap = "\n\n" if "\n" in text else " "
    return DescriptionDraft(text + gap + " ".join(said for said, _ in pointers), tuple(other for _, other in pointers))


def _told(other: PairedTool, side: PairedTool) -> str:
    """Return the purpose of the other tool; "" where it is not beyond doubt, or this tool says or names it already."""
    told = _counted(other, side)
    return told if told and not side.mentions(other) and _differs(told, side) else ""


def _counted(other: PairedTool, side: PairedTool) -> str:
    """Return the purpose of the other tool; `delete a single note` where this tool is for several at once."""
    if _SEVERAL & side.meanings and not _SEVERAL & other.meanings:
        return _ANY.sub(r"\1a single ", other.purpose)
    return other.purpose


def _is_close(other: PairedTool, side: PairedTool) -> bool:
    """Return True for two tools that somebody may take for one another: one name has all words of the other.

    Or they do the same to the same kind of thing: nobody takes creating for deleting, or a page for its author.
    """
    if _opposed(other, side):
        return False
    return _holds_the_name(other, side) or (_same_action(other, side) and _same_thing(other, side))


def _holds_the_name(other: PairedTool, side: PairedTool) -> bool:
    one, two = ({term(word) or word for word in name_words(each.name)} for each in (other, side))
    return one <= two or two <= one


def _same_thing(other: PairedTool, side: PairedTool) -> bool:
    return bool(things(other.purpose) & things(side.purpose or side.lead))


def _same_action(other: PairedTool, side: PairedTool) -> bool:
    words = side.purpose.split()[:1] or re.findall(r"[a-z]+", f"{side.lead} {side.name}".lower())
    return _action(_verb(other)) in map(_action, words)


def _action(word: str) -> str:
    verb = base_verb(word)[0]
    return "read" if _kind(verb) == "read" else next(iter(text_meanings(verb) & ACTION_MEANINGS), verb)


def _differs(purpose: str, side: PairedTool) -> bool:
    """Return True if this purpose of the other tool has a word that is new here, and is more than another verb.

    `get_tasks` for `list_tasks` is anybody's guess. A verb alone tells two tools apart with another object only ("get a
    message by its ID", "list all messages"). Of two things ("files and pages"), each must be new, and to do something
    by what this tool takes too is nothing new.
    """
    what, *means = _MEANS.split(purpose)
    known = text_meanings(" ".join(side.parameters))
    vague = VAGUE - _SINGLE if _SEVERAL & side.meanings else VAGUE
    telling = (text_meanings(what) | (text_meanings(" ".join(means)) - known)) - side.meanings - vague
    parts = _AND.split(what)
    if not telling or not all(text_meanings(each) & telling for each in parts[1:] and parts):
        return False
    objects = [terms(text.partition(" ")[2]).keys() for text in (purpose, side.purpose)]
    return bool(telling - ACTION_MEANINGS) or objects[0] != objects[1]


def _opposed(one: PairedTool, other: PairedTool) -> bool:
    """Return True for two tools whose verbs are for different actions that everybody tells apart."""
    kinds = [_kind(_verb(each)) for each in (one, other)]
    return all(kinds) and kinds[0] != kinds[1]


def _verb(tool: PairedTool) -> str:
    return base_verb((tool.purpose or tool.lead).partition(" ")[0])[0]


def _kind(verb: str) -> str:
    action = next(iter(text_meanings(verb) & ACTION_MEANINGS), "")
    if verb in READING or action in _READING:
        return "read"
    return action or ("write" if verb in WRITING else "")


def _whole(side: PairedTool) -> str:
    """Return the description as it is, a line ended by a full stop; "" where it is not in English."""
    text = side.description if reads_as_english(side.own_text) else ""
    ended = not text or "\n" in text or re.search(r"(?:[.!?:。！？][)\"”'’`*]*)$", text)
    return text if ended else f"{text}."
