"""Repairs of texts and names: what does not belong there is taken out, what is missing is drafted."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import dropwhile, takewhile
from typing import TypeAlias

from mcp_tef.model.json import Json
from mcp_tef.model.json_patch import MISSING
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.purposes import PREPOSITIONS, base_verb
from mcp_tef.scoring.differentiation.text_terms import Sentence, sentences
from mcp_tef.scoring.lint.definition_texts import plain_letters
from mcp_tef.scoring.lint.disclosure_phrases import MARKS
from mcp_tef.scoring.lint.disguises import joined_letters, plain_words, without_direction, without_hidden
from mcp_tef.scoring.lint.lint_context import InputNode, LintContext, Look
from mcp_tef.scoring.lint.names import PROVIDER_LENGTH
from mcp_tef.scoring.lint.schemas import explanation_above, says_nothing
from mcp_tef.scoring.lint.vocabulary import ACTIONS, BASE_VERBS, words
from mcp_tef.scoring.repairs.definition_edits import DefinitionEdit, Place, RepairSubject
from mcp_tef.scoring.repairs.drafted_texts import begun_with_action, completed, parameter_text, tool_texts, with_kind
from mcp_tef.scoring.tfidf_weights import STOP_WORDS, spaced

Repairer: TypeAlias = Callable[[RepairSubject], Iterator[DefinitionEdit]]
"""Edits that may make findings of one rule go away, for each place the best first."""
AtFault: TypeAlias = Callable[[str], bool]
TextRepair: TypeAlias = Callable[[str, AtFault], Iterator[str]]

DESCRIPTION: Place = ("description",)
NAME: Place = ("name",)
MOST_NAME_WORDS = 3
LEAST_SPACES = 3

# Repeats are bounded: in a hostile text, what begins often and never ends would be searched to the end each time.
_COMMENT = re.compile(
    r"(?<!`)<!--(?s:.{0,2000}?)-->|^[ \t]{0,3}\[(?://|_|comment|hidden)\]:[^\n]*$", re.MULTILINE | re.IGNORECASE
)
_UNSEEN_ELEMENT = re.compile(
    r"<(?P<tag>[a-z]\w{0,20}+)(?=[^>]{0,200}\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0\b))"
    r"[^>]{0,400}+>(?:(?!<(?P=tag)\b).){0,2000}?</(?P=tag)\s{0,3}>",
    re.IGNORECASE | re.DOTALL,
)
_MARKED = re.compile(rf"<(?P<tag>{MARKS}) ?>.{{0,2000}}?</(?P=tag) ?>", re.IGNORECASE | re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,1000}\)|<img\b[^>]{0,1000}>", re.IGNORECASE)
_GAPS = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)|(?<!\n)\n{3,}")
_VAGUE_VERB = re.compile(r"(?:this (?:tool|function) )?(?:is used to |can )?[a-z]+(?: with)?\b", re.IGNORECASE)
_NOT_OF_PROVIDERS = re.compile(r"[^A-Za-z0-9_-]+")


def in_texts(look: Look, repair: TextRepair) -> Repairer:
    """Return a repairer of each text in which a rule finds something, whatever else the definition holds."""

    def edits(subject: RepairSubject) -> Iterator[DefinitionEdit]:
        def at_fault(text: str) -> bool:
            schema = {"type": "object"}
            alone = Tool(
                server=subject.tool.server, name=subject.tool.name, description=text, input_schema=schema, raw={}
            )
            return any(True for _ in look(LintContext(alone, 0, subject.names)))

        for place, text in subject.texts():
            for better in repair(text, at_fault) if at_fault(text) else ():
                yield from _put_text(subject, place, _tidied(better))

    return edits


def _put_text(subject: RepairSubject, place: Place, text: str) -> Iterator[DefinitionEdit]:
    """Yield the edit that puts in a text; in place of one that is empty by now, drafted ones."""
    if text:
        yield ((place, text),)
    if place == DESCRIPTION:
        drafted = [completed(subject.tool, text)] if text else tool_texts(_without_description(subject.tool))
        yield from (((place, one),) for one in drafted)
    elif not text:
        yield from _drafted_at(subject, place)
        if place[-1] == "title":
            yield ((place, MISSING),)


def _drafted_at(subject: RepairSubject, place: Place) -> Iterator[DefinitionEdit]:
    for at, node in subject.parameters():
        if (*at, "description") == place:
            yield from _drafted_parameter(at, node)


def _without_description(tool: Tool) -> Tool:
    return Tool(
        server=tool.server,
        name=tool.name,
        description="",
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        raw=tool.raw,
    )


def _tidied(text: str) -> str:
    return _GAPS.sub(lambda gap: "\n\n" if "\n" in gap[0] else " ", text).strip()


def without_sentences(text: str, at_fault: AtFault) -> Iterator[str]:
    """Yield the text without the sentences at fault."""
    kept = text
    for sentence in reversed(sentences(text)):
        if at_fault(sentence.text):
            kept = _without(kept, sentence)
    if kept != text:
        yield kept


def _without(text: str, sentence: Sentence) -> str:
    """Return a text without a sentence; lines stay lines, and what stands before keeps its place."""
    before, after = text[: sentence.start].rstrip(" "), text[sentence.end :].lstrip(" ")
    return f"{before}{'' if before[-1:] == chr(10) or after[:1] == chr(10) else ' '}{after}"


def without_parts(*patterns: "re.Pattern[str]") -> TextRepair:
    """Return a repair that takes out what is at fault of what the patterns match."""

    def repair(text: str, at_fault: AtFault) -> Iterator[str]:
        kept = text
        for pattern in patterns:
            kept = pattern.sub(lambda part: " " if at_fault(part[0]) else part[0], kept)
        if kept != text:
            yield kept

    return repair


UNSEEN_PARTS = without_parts(_COMMENT, _UNSEEN_ELEMENT)
PICTURES = without_parts(_IMAGE)
MARKED_PARTS = without_parts(_MARKED)


def rewritten(change: Callable[[str], str]) -> TextRepair:
    """Return a repair that changes a text as a whole."""

    def repair(text: str, _at_fault: AtFault) -> Iterator[str]:
        yield change(text)

    return repair


SEEN_LETTERS = rewritten(without_hidden)
ONE_DIRECTION = rewritten(without_direction)
ONE_SCRIPT = rewritten(plain_words)
WHOLE_WORDS = rewritten(joined_letters)


def drafted_description(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Draft a description from name, parameters and results."""
    for text in tool_texts(_without_description(subject.tool)):
        yield ((DESCRIPTION, text),)


def completed_description(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Say what the tool takes and returns."""
    yield ((DESCRIPTION, completed(subject.tool, subject.tool.description)),)


def action_first(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Begin the description with the action of the name."""
    for text in begun_with_action(subject.tool):
        yield ((DESCRIPTION, text),)


def placeholders(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Draft each description that is a placeholder."""
    yield from drafted_description(subject)
    for place, node in subject.parameters():
        yield from _drafted_parameter(place, node)


def undocumented_parameters(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Draft a description of each parameter that has none."""
    for place, node in subject.parameters():
        if not node.description:
            yield from _drafted_parameter(place, node)


def named_parameters(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Add what the schema says to each description of a parameter, or draft it anew."""
    for place, node in subject.parameters():
        if text := node.description and with_kind(node.description, node):
            yield (((*place, "description"), text),)
            yield from _drafted_parameter(place, node)


def vague_parameters(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Draft each description of a parameter anew that has no telling word; what lists some of its values stays."""
    for place, node in subject.parameters():
        if node.description and says_nothing(node.description):
            yield from _drafted_parameter(place, node)


def _drafted_parameter(place: Place, node: InputNode) -> Iterator[DefinitionEdit]:
    if text := parameter_text(node):
        yield (((*place, "description"), text),)


def vague_words(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Name the action of the name in place of one that says nothing."""
    text = subject.tool.description.strip()
    opening, named = _VAGUE_VERB.match(text), words(spaced(subject.tool.name))
    if opening and named and named[0] in BASE_VERBS:
        yield ((DESCRIPTION, f"{named[0].capitalize()}{text[opening.end() :]}"),)


def repeated_sentences(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Take out sentences that a line of the description says again from its first one on; the rest stays as it is."""
    text = kept = subject.tool.description
    if "```" not in text:
        for sentence in reversed(list(_said_again(text))):
            kept = _without(kept, sentence)
    if kept != text:
        yield ((DESCRIPTION, kept.strip()),)


def _said_again(text: str) -> Iterator[Sentence]:
    """Yield the sentences that repeat the beginning of their line, in order.

    Others stay: what is said of one parameter may be said of the next one too.
    """
    first, end, cut = "", 0, False
    seen: set[str] = set()
    for sentence in sentences(text):
        said = " ".join(sentence.text.split())
        if not end or "\n" in text[end : sentence.start]:
            first, seen, cut = said, set(), False
        else:
            cut = (said == first and said.count(" ") >= LEAST_SPACES) or (cut and said in seen)
        if cut:
            yield sentence
        seen.add(said)
        end = sentence.end


def moved_explanations(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Move what the tool's description says of a parameter to the parameter, or copy it where the rest is too short."""
    text = subject.tool.description
    for place, node in subject.parameters():
        found = None if node.description else explanation_above(text, node.name)
        if found:
            said: tuple[Place, str] = ((*place, "description"), found["said"].strip())
            rest = f"{text[: found.start()].rstrip()}{text[found.end() :]}".strip()
            yield (said, (DESCRIPTION, rest))
            yield (said,)
            text = rest


def plain_name(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write names of tool and parameters in plain letters."""
    yield ((NAME, plain_letters(subject.tool.name)),)
    for place, schema in subject.schemas():
        named = schema.get("properties")
        if isinstance(named, Mapping):
            yield _renamed(place, schema, {name: plain_letters(name) for name in named})


def _renamed(place: Place, schema: Mapping[str, Json], names: Mapping[str, str]) -> DefinitionEdit:
    """Return the edit that gives the properties of a schema other names; no edit where two would be the same."""
    if len(set(names.values())) < len(names):
        return ()
    properties = {names[name]: value for name, value in schema["properties"].items()}
    required = schema.get("required")
    listed = [names.get(one, one) for one in required] if isinstance(required, list) else MISSING
    return (((*place, "properties"), properties), ((*place, "required"), listed))


def allowed_name(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Write the name with the characters that all providers accept, cut at a word where it is too long."""
    name = _NOT_OF_PROVIDERS.sub("_", subject.tool.name).strip("_")
    if len(name) > PROVIDER_LENGTH:
        name = name[: PROVIDER_LENGTH + 1].rpartition("_")[0] or name[:PROVIDER_LENGTH]
    if name and not subject.names.own(subject.tool, name):
        yield ((NAME, name),)


def telling_name(subject: RepairSubject) -> Iterator[DefinitionEdit]:
    """Name the tool by the action and the thing that its description begins with."""
    said = words(" ".join(one.text for one in sentences(subject.tool.description)[:1]))
    verb = base_verb(said[0])[0] if said and said[0] in ACTIONS else ""
    named = [*takewhile(_names_thing, dropwhile(lambda word: not _names_thing(word), said[1:]))]
    name = "_".join([verb, *named[: MOST_NAME_WORDS - 1]])
    if verb and named and name.isascii() and not subject.names.own(subject.tool, name):
        yield ((NAME, name),)


def _names_thing(word: str) -> bool:
    return word not in STOP_WORDS and word not in PREPOSITIONS
