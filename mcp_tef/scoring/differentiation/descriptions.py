"""Drafts of descriptions from two definitions, and the acceptance test for drafts written by a model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_tef.scoring.differentiation.text_terms import Phrase, lead, plain_case, sentences, terms, tidy, without
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, base_verb, called, own_parameters, own_phrase
from mcp_tef.scoring.lint.definition_texts import escape, shows
from mcp_tef.scoring.phrases import counted, ticked
from mcp_tef.scoring.tfidf_weights import spaced

LONGEST = 2_000

_PLACEHOLDER = re.compile(
    r"(?i)[\W_]*(?:none|null|nil|undefined|n/?a|nan|to ?do|tbd|string|text|description|(?:the )?new description)?[\W_]*"
)
_JOINER = "\u200d"


def why_unusable(text: str, side: PairedTool, other: PairedTool) -> str | None:
    """Return the problem of a description, to be read after the model's name; None if it can be used."""
    if problem := _why_unreadable(text):
        return problem
    if _same(text, side.description):
        return "gave the old description back"
    if _same(text, other.description):
        return f"gave the description of `{other.name}`"
    if _is_about(text, side, other):
        return f"described `{other.name}` in place of `{side.name}`"
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


MOST_PARAMETERS = 3
LONGEST_NOTE = 70

_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")


@dataclass(frozen=True, slots=True)
class Draft:
    """A description, and what its reader must know of it beyond what was asked for."""

    text: str
    note: str = ""


def scope_drafts(side: PairedTool, other: PairedTool) -> Iterator[Draft]:
    """Yield descriptions that say when to use the other tool, the fullest first."""
    pointer = pointer_to(other, side)
    facts = own_facts(side, other)
    everything = f"{facts} {pointer}".strip()
    if pointer:
        yield Draft(_with(_whole(side), everything))
    if facts:
        yield Draft(_with(_whole(side), facts), _unnamed(other, side) if pointer else "")
    if everything and shared_sentences(side, other):
        yield Draft(_with(_trimmed(side, other), everything), _left_out(side, other))


def plain_drafts(side: PairedTool, other: PairedTool) -> Iterator[Draft]:
    """Yield descriptions without the sentences that both tools have, else with what only this tool has."""
    facts = own_facts(side, other)
    if shared_sentences(side, other):
        yield Draft(_with(_trimmed(side, other), facts))
    elif facts:
        yield Draft(_with(_whole(side), facts))


def example_drafts(side: PairedTool, other: PairedTool) -> Iterator[Draft]:
    """Yield descriptions with examples that only this definition gives."""
    own = [(sample, place) for sample, place in side.examples.items() if sample not in other.examples]
    told = [f"{ticked(place)} “{sample}”" for sample, place in own if place != "description"][:2]
    if told:
        yield Draft(_with(_whole(side), f"For example with {' or '.join(told)}."))


def parameter_drafts(side: PairedTool, other: PairedTool) -> Iterator[Draft]:
    """Yield descriptions that name the parameters which only this tool has."""
    if note := parameter_note(side, other):
        yield Draft(_with(_whole(side), note))


def shared_sentences(side: PairedTool, other: PairedTool) -> tuple[str, ...]:
    """Return the keys of sentences that both have word for word, but for the first of all, and for headings."""
    first = lead(side.description)
    return tuple(
        sentence.key
        for sentence in sentences(side.description)
        if sentence.key in other.sentences and lead(sentence.text) != first and not sentence.text.rstrip().endswith(":")
    )


def pointer_to(other: PairedTool, side: PairedTool) -> str:
    """Return `For a Confluence page, use …`: when to use the other tool, in words that only it has; "" without any."""
    name = called(other, side)
    if (phrase := own_phrase(other, side)) is not None:
        return f"{_purpose(phrase, other)}, use {name}."
    own = [ticked(each) for each in own_parameters(other, side) if each in other.required]
    return f"Where {own[0]} is given, use {name}." if own else ""


def own_facts(side: PairedTool, other: PairedTool) -> str:
    """Return sentences on the tool from its definition: its parameters, its result, and if it changes anything."""
    return " ".join(filter(None, (parameter_note(side, other), _returns(side, other), _hints(side, other))))


def parameter_note(side: PairedTool, other: PairedTool) -> str:
    """`Needs … Can take …`: the parameters that only this tool has and that its description does not name yet."""
    own = [name for name in own_parameters(side, other) if name not in side.description]
    asked = [_noted(side, name) for name in own if name in side.required][:MOST_PARAMETERS]
    free = [_noted(side, name) for name in own if name not in side.required][: MOST_PARAMETERS - len(asked)]
    needs = f"Needs {_series(asked)}." if asked else ""
    takes = f"Can take {_series(free)}." if free else ""
    return f"{needs} {takes}".strip()


def _unnamed(other: PairedTool, side: PairedTool) -> str:
    return f"The draft does not name {called(other, side)}, because its words would make the two more alike."


def _left_out(side: PairedTool, other: PairedTool) -> str:
    count = len(shared_sentences(side, other))
    return f"The draft leaves out {counted(count, 'sentence', 'sentences')} that both have word for word."


def _with(text: str, addition: str) -> str:
    gap = "\n\n" if "\n" in text else " "
    return f"{text}{gap}{addition}".strip()


def _whole(side: PairedTool) -> str:
    """Return the description as it is, ended by a full stop; a sentence of the name's words where there is none."""
    text = side.description or spaced(side.name).capitalize()
    return text if text[-1:] in ".!?:)`*。！？" else f"{text}."


def _trimmed(side: PairedTool, other: PairedTool) -> str:
    return without(side.description, shared_sentences(side, other)) or _whole(side)


def _purpose(phrase: Phrase, other: PairedTool) -> str:
    """Return `To add a worklog entry` or `For inline comments`."""
    first, _, rest = phrase.text.partition(" ")
    verb = base_verb(first, other.name)
    if phrase.opening and verb and rest:
        return f"To {verb} {rest}"
    if phrase.opening and verb:
        return f"To {verb}"
    return f"For {plain_case(first)} {rest}".strip()


def _noted(side: PairedTool, name: str) -> str:
    """Return a parameter with what its own description says of it in few words."""
    schema = side.parameters[name]
    choices = schema.get("enum")
    if isinstance(choices, list) and 1 < len(choices) <= 5 and all(isinstance(each, str) for each in choices):
        return f"{ticked(name)} ({', '.join(choices)})"
    described = schema.get("description")
    text = lead(tidy(_BRACKETS.sub("", described))) if isinstance(described, str) else ""
    note = text.removeprefix("The ").removeprefix("A ")
    says_more = terms(note).keys() - terms(name).keys()
    return f"{ticked(name)} ({note})" if says_more and len(note) <= LONGEST_NOTE else ticked(name)


def _series(items: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def _returns(side: PairedTool, other: PairedTool) -> str:
    own = [name for name in _outputs(side) if name not in _outputs(other) and name not in side.description]
    return f"Returns {_series([ticked(name) for name in own[:MOST_PARAMETERS]])}." if own else ""


def _outputs(side: PairedTool) -> tuple[str, ...]:
    properties = (side.tool.output_schema or {}).get("properties")
    return tuple(properties) if isinstance(properties, dict) else ()


def _hints(side: PairedTool, other: PairedTool) -> str:
    if side.hint("readOnlyHint") is True and other.hint("readOnlyHint") is not True:
        return "Changes nothing."
    if side.hint("destructiveHint") is True and other.hint("destructiveHint") is not True:
        return "May delete or overwrite."
    return ""
