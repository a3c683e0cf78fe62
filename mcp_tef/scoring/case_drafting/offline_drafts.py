"""Drafted cases from definitions alone: direct and indirect requests, near misses, and requests for no tool."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from mcp_tef.model.cases import NO_TOOL, CaseDraft, CaseOrigin, Expectation, ExpectedCall, expectation_to_json
from mcp_tef.model.drafted_cases import DraftedCase, DraftKind
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.case_drafting import WORDING, phrasing
from mcp_tef.scoring.case_drafting.rules import is_near_duplicate, plain_words, why_refused
from mcp_tef.scoring.case_drafting.values import StatedValue, stated_values
from mcp_tef.scoring.differentiation.purposes import base_verb, purpose
from mcp_tef.scoring.differentiation.text_terms import sentences
from mcp_tef.scoring.lint.vocabulary import word_set
from mcp_tef.scoring.tfidf_weights import stems

PER_KIND, PER_PAIR, PER_SERVER = 5, 3, 10
_ATTEMPTS = 12
_NEEDS_NO_THE = word_set("a an the all your its to you me us it them")
_NO_ARTICLE = word_set("an? the all its your one each any seconds minutes real time detail bulk order you")
_BARE = re.compile(rf"\b(for|in|of|on|from|to|into) (?=(?!(?:{'|'.join(sorted(_NO_ARTICLE))})\b|\w+ing\b)[a-z]+\b)")


def known_purpose(tool: Tool) -> str:
    """Return the purpose of a tool as an infinitive; missing articles are put in, and the name is a last resort."""
    first = next(iter(sentences(tool.description)), None)
    text = " ".join(first.text.split()) if first else ""
    words = plain_words(tool.name)
    words = words[1:] if len(words) > 2 and not base_verb(words[0])[0] else words
    named = " ".join(words) if len(words) in (2, 3) and words[0] in phrasing.GROUPS else ""
    told = (purpose(told) for told in (text, _with_articles(text), _with_articles(named)) if told)
    return next(filter(None, told), "")


def _with_articles(text: str) -> str:
    """Return a text with “the” after its verb and after prepositions where a noun stands there alone."""
    verb, _, rest = text.partition(" ")
    first = rest.partition(" ")[0].lower()
    whole = rest if first in _NEEDS_NO_THE or first.endswith("ing") else f"the {rest}"
    return f"{verb} {_BARE.sub(lambda found: f'{found[1]} the ', whole)}" if rest else ""


def expectation_of(tool: Tool, parameters: Mapping[str, Json]) -> Expectation:
    """Return the expectation of one call with these arguments."""
    return Expectation(((ExpectedCall(tool=tool.name, server=tool.server or None, parameters=parameters or None),),))


def drafted(
    kind: DraftKind, tool: Tool | None, server: str, query: str, *, family: str, expectation: Expectation = NO_TOOL
) -> DraftedCase:
    """Return a draft; `tool` is the expected one."""
    draft = CaseDraft(
        name=query[:80],
        query=query,
        expectation=expectation,
        servers=(server,) if server else (),
        family=family,
        origin=CaseOrigin.GENERATED,
    )
    return DraftedCase(kind, server, tool.name if tool else "", draft)


def tool_drafts(tool: Tool, seed: int) -> tuple[DraftedCase, ...]:
    """Return up to 5 direct and 5 indirect requests; fewer where the definition says too little in plain English."""
    random, told = Random(f"{seed} {tool.server} {tool.name}"), known_purpose(tool)  # noqa: S311  # not for secrets
    made: list[DraftedCase] = []
    for kind, phrase in ((DraftKind.DIRECT, phrasing.direct), (DraftKind.INDIRECT, phrasing.indirect)):
        for number in range(PER_KIND if told else 0):
            stated = stated_values(tool, Random(f"{seed} {tool.name} {number}"), optional=1 + number % 2)  # noqa: S311
            request = phrasing.request_of(told, stated)
            if request:
                made += _drafted(kind, [tool], stated or (), partial(phrase, request, random), made)
    return tuple(made)


def near_misses(tool: Tool, other: Tool, seed: int) -> tuple[DraftedCase, ...]:
    """Return up to 3 requests for a tool that mention what a similar tool does."""
    random = Random(f"{seed} {tool.server} {tool.name} {other.server} {other.name}")  # noqa: S311
    wanted, unwanted = map(known_purpose, (tool, other))
    rival = phrasing.request_of(unwanted, (), unspecific=True) if set(stems(unwanted)) - set(stems(wanted)) else None
    made: list[DraftedCase] = []
    for _ in range(PER_PAIR if rival else 0):
        stated = stated_values(tool, random, optional=0)
        request = phrasing.request_of(wanted, stated)
        if request and rival:
            phrase = partial(phrasing.near_miss, request, rival, random)
            made += _drafted(DraftKind.NEAR_MISS, [tool, other], stated or (), phrase, made)
    return tuple(replace(one, other=other.name) for one in made)


def _drafted(
    kind: DraftKind,
    tools: Sequence[Tool],
    values: Sequence[StatedValue],
    phrase: Callable[[], str],
    made: Sequence[DraftedCase],
) -> tuple[DraftedCase, ...]:
    """Return a draft that expects the first of the tools, unless every attempt at a phrase breaks a rule.

    Requests for the same call are one family, since only their wording varies.
    """
    tool, queries = tools[0], [one.draft.query for one in made]
    expected = expectation_of(tool, {value.parameter: value.expected for value in values})
    families = {canonical(expectation_to_json(one.draft.expectation)): one.draft.family for one in made}
    what = " or ".join(one.name for one in tools)
    numbered = f"{what} {len(families) + 1} (generated)"
    family = families.get(canonical(expectation_to_json(expected)), numbered)
    query = next((query for query in (phrase() for _ in range(_ATTEMPTS)) if _is_kept(query, tools, queries)), "")
    return (drafted(kind, tool, tool.server, query, family=family, expectation=expected),) if query else ()


def _is_kept(query: str, tools: Sequence[Tool], queries: Sequence[str]) -> bool:
    return len(plain_words(query)) > 3 and not why_refused(query, tools) and not is_near_duplicate(query, queries)


def no_tool_drafts(server: str, tools: Sequence[Tool], seed: int) -> tuple[DraftedCase, ...]:
    """Return up to 10 requests that no tool of a server is for, by their words."""
    random = Random(f"{seed} {server}")  # noqa: S311
    known = {word for tool in tools for word in stems(f"{tool.name} {tool.description}")}
    rare = [query for query in WORDING["no_tool"] if not {word for word in stems(query) if len(word) > 3} & known]
    kept = [query for query in rare if not why_refused(query, tools)]
    return tuple(
        drafted(DraftKind.NO_TOOL, None, server, query, family=f"{query[:40]} (generated)")
        for query in random.sample(kept, min(len(kept), PER_SERVER))
    )
