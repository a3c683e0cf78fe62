"""Drafted cases from definitions alone, and the rules that every drafted request keeps.

There are direct and indirect requests, near misses, and requests for no tool.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from mcp_tef.model.cases import NO_TOOL, CaseDraft, CaseOrigin, Expectation, ExpectedCall, expectation_to_json
from mcp_tef.model.drafted_cases import DraftedCase, DraftKind
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.case_drafting import WORDING, phrasing
from mcp_tef.scoring.case_drafting.noun_phrases import article, is_plural
from mcp_tef.scoring.case_drafting.values import StatedValue, stated_values
from mcp_tef.scoring.differentiation.purposes import base_verb, purpose
from mcp_tef.scoring.differentiation.text_terms import plain_words, sentences, word_runs
from mcp_tef.scoring.differentiation.tool_pair import own_properties
from mcp_tef.scoring.lint.vocabulary import word_set
from mcp_tef.scoring.tfidf_weights import stems

MOST_SHARED_WORDS = 3
LEAST_DISTANCE = 0.3
LONGEST_QUERY = 600


def why_refused(query: str, tools: Iterable[Tool]) -> str | None:
    """Return the rule that a request breaks against any of these tools, as a sentence; None if it keeps all."""
    said = plain_words(query)
    if not said:
        return "It is empty."
    if len(query) > LONGEST_QUERY:
        return f"It is longer than {LONGEST_QUERY} characters."
    runs = word_runs(said, MOST_SHARED_WORDS + 1)
    for tool in tools:
        if names_tool(query, tool.name):
            return f"It names the tool {tool.name}."
        if shared := runs & word_runs(plain_words(tool.description), MOST_SHARED_WORDS + 1):
            return f"It repeats words of the description of {tool.name}: “{' '.join(min(shared))}”."
    return None


def names_tool(query: str, name: str) -> bool:
    """Return True if a text has a tool's name in it, as it is written or as separate words."""
    words = tuple(plain_words(name))
    whole = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", query, re.IGNORECASE)
    return bool(whole) or (bool(words) and words in word_runs(plain_words(query), len(words)))


def is_near_duplicate(query: str, others: Iterable[str]) -> bool:
    """Return True if a text shares more than 70 % of its words with another (Jaccard index over the words)."""
    said = set(plain_words(query))
    return any(_overlap(said, set(plain_words(other))) > 1 - LEAST_DISTANCE for other in others)


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


PER_KIND, PER_PAIR, PER_SERVER = 5, 3, 10
_ATTEMPTS = 12
MOST_WORDS, FEWEST_MENTIONS = 8, 3
_ARTICLES = word_set("a an the all any each every both some your its their this that one")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z]\w{2,}\b")
_BETWEEN = re.compile(r" (for|in|of|on|from|to|into) ")


def known_purpose(tool: Tool) -> str:
    """Return the purpose of a tool as an infinitive; missing articles are put in, and the name is a last resort."""
    first = next(iter(sentences(tool.description)), None)
    text = " ".join(first.text.split()) if first else ""
    words = plain_words(tool.name)
    words = words[1:] if len(words) > 2 and not base_verb(words[0])[0] else words
    named = " ".join(words) if len(words) in (2, 3) and words[0] in phrasing.GROUPS else ""
    told = (purpose(told) for told in (text, _with_articles(text, tool), _with_articles(named, tool)) if told)
    return next(filter(None, told), "")


def _with_articles(text: str, tool: Tool) -> str:
    """Return a short text with “a” before each noun that a parameter is named after: `move task` with `task_id`."""
    verb, _, rest = text.partition(" ")
    nouns = {word for name in own_properties(tool) for word in plain_words(name)}
    if phrasing.GROUPS.get(verb.lower()) == phrasing.CREATE:
        nouns |= {*plain_words(_BETWEEN.split(rest)[0])}
    pieces = [_with_article(piece, nouns) for piece in _BETWEEN.split(rest.rstrip("."))]
    return f"{verb} {' '.join(pieces)}" if rest and len(text.split()) <= MOST_WORDS else ""


def _with_article(piece: str, nouns: Collection[str]) -> str:
    first, last = plain_words(piece)[:1], plain_words(piece)[-1:]
    bare = first and first[0] not in _ARTICLES and last[0] in nouns and not is_plural(last[0])
    return f"{article(piece)} {piece}" if bare else piece


def expectation_of(tool: Tool, parameters: Mapping[str, Json]) -> Expectation:
    """Return the expectation of one call with these arguments."""
    return Expectation(((ExpectedCall(tool=tool.name, server=tool.server or None, parameters=parameters or None),),))


def query_name(query: str) -> str:
    """Return the name of a drafted case."""
    return " ".join(query.split())[:80]


def drafted(
    kind: DraftKind, tool: Tool | None, server: str, query: str, *, family: str, expectation: Expectation = NO_TOOL
) -> DraftedCase:
    """Return a draft; `tool` is the expected one."""
    draft = CaseDraft(
        name=query_name(query),
        query=query,
        expectation=expectation,
        servers=(server,) if server else (),
        family=family,
        origin=CaseOrigin.GENERATED,
    )
    return DraftedCase(kind, server, tool.name if tool else "", draft)


_NO_PRODUCTS = frozenset({"get", "post", "put", "patch", "delete", "api", "data", "http", "json", "time", "url"})
"""Words that look like names in descriptions and server names, though nobody calls a product so."""


def product_of(tool: Tool, tools: Sequence[Tool]) -> str:
    """Return the name of the product that a tool is for, as the descriptions of its server write it.

    That is a word of its name that descriptions write with a capital, else the name of its server.
    """
    named = frozenset(plain_words(tool.name)) - _NO_PRODUCTS
    proper = Counter(word for each in tools for word in set(_PROPER.findall(each.description)))
    known = [word for word, count in proper.most_common() if count >= FEWEST_MENTIONS and word.lower() in named]
    return known[0] if known else _server_product(tool.server, tools)


def _server_product(name: str, tools: Sequence[Tool]) -> str:
    """Return the name of a server as descriptions write it; "" where nobody calls a product so."""
    name = name.partition(" - ")[0]
    if name.casefold() in _NO_PRODUCTS:
        return ""
    spelling = re.compile(r"\W?".join(map(re.escape, plain_words(name))) or r"\b\B", re.IGNORECASE)
    return next((found[0] for each in tools if (found := spelling.search(each.description))), name)


def why_none(tool: Tool) -> str:
    """Return why no request for a tool can be drafted from its definition, as a sentence."""
    told, stated = known_purpose(tool), stated_values(tool, Random(0))  # noqa: S311  # not for secrets
    if not told:
        return "Its description does not begin with a plain English sentence on what it does."
    if stated is None:
        return "It requires a value that nobody states in words, such as an object or a code."
    return "Its definition does not tell which thing a request would be about, or how to say it."


def tool_drafts(tool: Tool, seed: int, product: str = "") -> tuple[DraftedCase, ...]:
    """Return up to 5 direct and 5 indirect requests; fewer where the definition says too little in plain English."""
    random, told = Random(f"{seed} {tool.server} {tool.name}"), known_purpose(tool)  # noqa: S311  # not for secrets
    made: list[DraftedCase] = []
    for kind, phrase in ((DraftKind.DIRECT, phrasing.direct), (DraftKind.INDIRECT, phrasing.indirect)):
        for number in range(PER_KIND if told else 0):
            every = stated_values(tool, Random(f"{seed} {tool.name} {number}"))  # noqa: S311
            stated = phrasing.fitting(told, every, optional=number % 2 if kind is DraftKind.DIRECT else 0)
            request = phrasing.request_of(told, stated, product=product)
            if request:
                made += _drafted(kind, [tool], stated or (), partial(phrase, request, random), made)
    return tuple(made)


def near_misses(tool: Tool, other: Tool, seed: int, product: str = "") -> tuple[DraftedCase, ...]:
    """Return up to 3 requests for a tool that mention what a similar tool does."""
    random = Random(f"{seed} {tool.server} {tool.name} {other.server} {other.name}")  # noqa: S311
    wanted, unwanted = map(known_purpose, (tool, other))
    rival = phrasing.request_of(unwanted, (), unspecific=True)
    made: list[DraftedCase] = []
    for _ in range(PER_PAIR if rival else 0):
        stated = phrasing.fitting(wanted, stated_values(tool, random), optional=0)
        request = phrasing.request_of(wanted, stated, product=product)
        if request and rival and rival.stems - request.stems:
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
