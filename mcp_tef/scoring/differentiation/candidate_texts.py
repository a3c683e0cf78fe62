"""Candidates for better descriptions, made by rules from failing requests, and the reasons to refuse a candidate."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from mcp_tef.model.improvements import TextCandidate, WorkingFailure
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.descriptions import VAGUE, drafts
from mcp_tef.scoring.differentiation.text_terms import (
    ACTION_MEANINGS,
    plain_words,
    sentences,
    terms,
    without,
    word_runs,
)
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.scoring.lint.definition_size import HEAVY
from mcp_tef.scoring.lint.lint_context import NOBODY, InputNode, ListedNames, nodes_of
from mcp_tef.scoring.lint.linter import lint, score
from mcp_tef.scoring.phrases import listed, ticked
from mcp_tef.scoring.tfidf_weights import spaced

MOST_REPEATED_WORDS = 4
MOST_TERMS = 8
RARER = 2
"""Times that a word has to be more frequent in requests for a tool than in other requests."""
MOST_PARAMETERS = 10
ORDERS = "poisoning-"

_NAMES = re.compile(r"[\"“][^\"“”]*[\"”]|(?<![.!?:] )(?<!^)\b[A-Z][\w’'-]*|\b\w*\d[\w-]*")
_WORD = re.compile(r"[^\W\d_]{3,}(?!['’])")
_TALK = frozenset(terms(
    "after again also ask been before can could did does fit forget give going had hello help here how just know "
    "let like long look make many may might more much myself need next off one please put really right say should "
    "some something still sure tell thank thing think too try use want was were what when where which who will with "
    "would yes"
))  # fmt: skip
"""Words of talk: requests for any tool have them."""


@dataclass(frozen=True, slots=True)
class CandidateTool:
    """A tool before or after a change, with the tokens of its definition."""

    tool: Tool
    tokens: int


def why_refused(
    before: CandidateTool, after: CandidateTool, queries: Sequence[str], names: ListedNames = NOBODY
) -> str | None:
    """Return the reason, as a sentence, not to ask with a changed description; None if it may be asked."""
    name = ticked(before.tool.name)
    if not after.tool.description.strip():
        return f"The description of {name} is empty."
    if after.tokens > max(HEAVY, before.tokens):
        return f"The definition of {name} would take {after.tokens:,} tokens, more than {HEAVY:,}."
    if repeated := _repeated(before.tool.description, after.tool.description, queries):
        return f"The description of {name} repeats a test case: “{repeated}”."
    return _why_worse(before, after, names)


def _why_worse(before: CandidateTool, after: CandidateTool, names: ListedNames) -> str | None:
    """Return what lint finds worse after a change: instructions to the model, or a lower score."""
    name = ticked(before.tool.name)
    was, now = (lint(one.tool, one.tokens, names) for one in (before, after))
    known = {one.rule.id for one in was}
    orders = [one.sentence for one in now if one.rule.id.startswith(ORDERS) and one.rule.id not in known]
    if orders:
        return f"The description of {name} gives the model instructions: {orders[0]}"
    if score(now) < score(was):
        new = next((one.sentence for one in now if one.rule.id not in known), "")
        return f"Lint finds the description of {name} worse. {new}".strip()
    return None


def _repeated(before: str, after: str, queries: Sequence[str]) -> str:
    """Return the first words that a description repeats of a query, five in a row, and that it did not have before."""
    length = MOST_REPEATED_WORDS + 1
    new = word_runs(plain_words(after), length) - word_runs(plain_words(before), length)
    found = new & set(chain.from_iterable(word_runs(plain_words(query), length) for query in queries))
    return " ".join(min(found, default=()))


def say_the_same(one: PairedTool, other: PairedTool) -> bool:
    """Return True if no telling word and no parameter tells two tools apart: wording cannot, since they are one."""
    silent = VAGUE - ACTION_MEANINGS
    names = [{spaced(name).lower() for name in each.parameters} for each in (one, other)]
    return names[0] == names[1] and one.meanings - silent == other.meanings - silent


def added_sentences(before: str, after: str) -> tuple[str, ...]:
    """Return the sentences of a text that the text before does not have."""
    known = {sentence.key for sentence in sentences(before)}
    return tuple(sentence.text for sentence in sentences(after) if sentence.key not in known)


def without_sentence(text: str, unwanted: str) -> str:
    """Return a text without one of its sentences; the rest stays in its lines."""
    start = text.find(unwanted)
    joined = f"{text[:start].rstrip(' ')} {text[start + len(unwanted) :].lstrip(' ')}"
    return joined.strip() if start >= 0 else without(text, {one.key for one in sentences(unwanted)})


def rule_candidates(
    failures: Sequence[WorkingFailure], tools: Mapping[str, PairedTool], requests: Mapping[str, Sequence[str]]
) -> Iterator[TextCandidate]:
    """Yield candidates from rules: first all failing tools at once by one rule, then tool by tool.

    `requests` holds the working queries of each tool by its name. The tool with most failures comes first.
    """
    counts = Counter(one.expected for one in failures if one.expected in tools)
    wanted = [name for name, _ in counts.most_common()]
    rivals = {name: _rivals(name, failures, tools) for name in wanted}
    made = {name: dict(_variants(tools[name], rivals[name], requests)) for name in wanted}
    yield from _joint(made)
    for name in wanted:
        for rule, text in made[name].items():
            yield TextCandidate(texts={name: text}, reason=rule)
    yield from _pointing_back(wanted, rivals, tools)


def _joint(made: Mapping[str, Mapping[str, str]]) -> Iterator[TextCandidate]:
    """Yield for each rule the texts of all tools that it has made one for, where there are several."""
    for rule in dict.fromkeys(rule for variants in made.values() for rule in variants):
        texts = {name: variants[rule] for name, variants in made.items() if rule in variants}
        if len(texts) > 1:
            yield TextCandidate(texts=texts, reason=rule)


def _rivals(name: str, failures: Sequence[WorkingFailure], tools: Mapping[str, PairedTool]) -> list[PairedTool]:
    """Return the tools that were called in place of one, the most frequent first."""
    called = (one.selected for one in failures if one.expected == name and one.selected)
    counts = Counter(rival for rival in called if rival != name and rival in tools)
    return [tools[rival] for rival, _ in counts.most_common()]


def _variants(
    side: PairedTool, rivals: Sequence[PairedTool], requests: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Yield descriptions of one tool, each with the rule that made it."""
    text, takes, about = side.description.rstrip(), takes_text(side), _about(side, requests)
    pointing = next((one.text for one in drafts(side, rivals, {rival.id for rival in rivals})), None)
    for rule, start, added in (
        ("Names what the tool takes.", text, (takes,)),
        ("Names what requests are about.", text, (about,)),
        ("Names what requests are about, and what the tool takes.", text, (about, takes)),
        ("Says when to use other tools.", pointing, ()),
        ("Names what requests are about, and when to use other tools.", pointing, (about,)),
    ):
        if start is not None and all(added):
            yield rule, " ".join(filter(None, (start, *added)))


def takes_text(side: PairedTool) -> str:
    """Return a sentence with the parameters and choices that the description does not name; "" where it has all."""
    said = terms(side.description).keys()
    nodes = [node for node in nodes_of(side.tool.input_schema) if node.name]
    wholes = [_with_values(node, nodes) for node in nodes if node.depth == 1]
    found = [whole for whole in wholes if not terms(whole).keys() <= said]
    return f"Takes {', '.join(found[:MOST_PARAMETERS])}." if found else ""


def _with_values(node: InputNode, nodes: Sequence[InputNode]) -> str:
    """Return a parameter's words, with the parameters in it or its choices."""
    inner = [one.name for one in nodes if one.path.startswith((f"{node.path}.", f"{node.path}[]."))]
    choices = [value for schema in node.schemas for value in schema.get("enum") or () if isinstance(value, str)]
    values = ", ".join(spaced(one).lower() for one in (inner or choices)[:MOST_PARAMETERS])
    return spaced(node.name).lower() + (f" ({values})" if values else "")


def _about(side: PairedTool, requests: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence with words that requests for this tool have, far more often than other requests."""
    own = requests.get(side.name, ())
    rest = [query for name, queries in requests.items() if name != side.name for query in queries]
    words: dict[str, str] = {}
    for query in own:
        words = terms(" ".join(_WORD.findall(_NAMES.sub(" ", query)))) | words
    mine, others = Counter(_all_terms(own)), Counter(_all_terms(rest))
    said = terms(f"{side.name} {side.description}").keys() | _TALK
    telling = {
        key: others[key] / max(1, len(rest)) - mine[key] / len(own)
        for key in words
        if key not in said and mine[key] * len(rest) > RARER * others[key] * len(own)
    }
    best = sorted(telling, key=lambda key: (telling[key], words[key]))[:MOST_TERMS]
    return f"For requests about {listed_whole([words[key] for key in best])}." if len(best) > 1 else ""


def _all_terms(queries: Collection[str]) -> Iterator[str]:
    return (key for query in queries for key in terms(query))


def listed_whole(items: Sequence[str]) -> str:
    """Return all items in one list, however long."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def _pointing_back(
    wanted: Sequence[str], rivals: Mapping[str, Sequence[PairedTool]], tools: Mapping[str, PairedTool]
) -> Iterator[TextCandidate]:
    """Yield descriptions of rivals that say when to use the tool that was meant."""
    for name in wanted:
        for rival in rivals[name]:
            for draft in drafts(rival, [tools[name]], {tools[name].id})[:1]:
                told = listed([ticked(other.name) for other in draft.named])
                yield TextCandidate(texts={rival.name: draft.text}, reason=f"Says when to use {told} instead.")
