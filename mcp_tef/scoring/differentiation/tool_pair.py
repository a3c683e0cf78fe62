"""Two tools in a stable order with everything that tells them apart, and the issues that make this hard."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import HIGH_FROM, MEDIUM_FROM, ComparedTool, DifferentiationIssue, IssueType, Priority
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.purposes import purpose
from mcp_tef.scoring.differentiation.text_terms import (
    alikeness,
    blurred,
    lead,
    meanings,
    name_words,
    sentences,
    terms,
    text_meanings,
    tidy,
    without,
)
from mcp_tef.scoring.phrases import counted, cut, listed, ticked
from mcp_tef.scoring.tfidf_weights import spaced

LONGEST_EXAMPLE = 60

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^“”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)|‘([^‘’\n]+)’|`([^`\n]+)`")
_INTRODUCED = re.compile(r"(?i)\b(?:e\.g\.|for example|for instance|such as|examples?:)[,:\s]*([^()\n.;“”\"'`]{2,80})")
_TELLING = re.compile(r"[^\W\d_]{2}")


def examples(tool: Tool) -> dict[str, str]:
    """Return the examples of a tool in reading order, each with its place: "description" or a parameter's name.

    Numbers, switches, choices and defaults are no examples of a use.
    """
    found: dict[str, str] = {}
    properties = own_properties(tool)
    named = {tool.name, *properties}
    for text, place in _samples(tool, properties):
        sample = " ".join(text.split()).strip(" ,:")
        if sample not in named and len(sample) <= LONGEST_EXAMPLE and _TELLING.search(sample):
            found.setdefault(sample, place)
    return found


def own_properties(tool: Tool) -> Mapping[str, Mapping[str, Any]]:
    """Return the parameters as the schema itself names them, each with its schema; `true` is an empty one."""
    properties = tool.input_schema.get("properties")
    items = properties.items() if isinstance(properties, Mapping) else ()
    return {name: schema if isinstance(schema, Mapping) else {} for name, schema in items}


def _samples(tool: Tool, properties: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    yield from ((text, "description") for text in _in_text(tool.description))
    for name, schema in properties.items():
        yield from ((text, name) for text in _in_schema(schema))


def _in_text(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        yield next(filter(None, match.groups()))
    for match in _INTRODUCED.finditer(text):
        yield from match[1].split(",")


def _in_schema(schema: Mapping[str, Json]) -> Iterator[str]:
    description, given = schema.get("description"), schema.get("examples")
    standing = {_written(value) for value in fixed_values(schema)}
    samples = [*_in_text(description if isinstance(description, str) else "")]
    samples += (
        [_written(value) for value in given if not isinstance(value, bool | None)] if isinstance(given, list) else []
    )
    yield from (sample for sample in samples if sample not in standing)


def fixed_values(schema: Mapping[str, Json]) -> tuple[Json, ...]:
    """Return the choices, the default and the constant of a parameter, which show no use of a tool."""
    choices = schema.get("enum")
    found = [*(choices if isinstance(choices, list) else ()), schema.get("default"), schema.get("const")]
    return tuple(value for value in found if value is not None)


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


class PairedTool:
    """One tool of a pair, with what can be said of it by itself.

    `boilerplate` are the keys of sentences that many tools of its server have. They stay in its description, and are
    left out of everything that is compared.
    """

    def __init__(self, compared: ComparedTool, boilerplate: frozenset[str] = frozenset()) -> None:
        self.id = compared.id
        self.tool: Tool = compared.tool
        self.description = tidy(compared.tool.description)
        self.boilerplate = boilerplate & {sentence.key for sentence in sentences(self.description)}
        self.own_text = without(self.description, boilerplate)

    @property
    def name(self) -> str:
        """Its name."""
        return self.tool.name

    @cached_property
    def lead(self) -> str:
        """The first sentence of its description; where there is none, the words of its name."""
        return lead(self.own_text) or spaced(self.name).lower()

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The terms of its description."""
        return terms(self.own_text)

    @cached_property
    def purpose(self) -> str:
        """Its job, as `add a comment to a page`; "" where that is not beyond doubt."""
        return purpose(self.own_text)

    @cached_property
    def meanings(self) -> frozenset[str]:
        """The meanings of the telling words of its name and description."""
        return text_meanings(f"{self.name} {self.own_text}")

    @cached_property
    def parameters(self) -> Mapping[str, Mapping[str, Any]]:
        """Its parameters, by name."""
        return own_properties(self.tool)

    @cached_property
    def required(self) -> frozenset[str]:
        """Names of parameters that it asks for."""
        names = self.tool.input_schema.get("required")
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    @cached_property
    def examples(self) -> Mapping[str, str]:
        """Its examples, each with where it stands."""
        return examples(self.tool)

    def hint(self, name: str) -> Json:
        """Return one of its annotations."""
        given = self.tool.raw.get("annotations")
        return given.get(name) if isinstance(given, Mapping) else None

    def mentions(self, other: "PairedTool") -> bool:
        """Return True if its description names the other tool; a plain word must stand in quotation marks."""
        if other.name == self.name:
            return False
        name = re.escape(other.name)
        plain = other.name.isalpha() and other.name.islower()
        pattern = rf"[`'\"“‘]{name}[`'\"”’]" if plain else rf"(?<![\w-]){name}(?![\w-])"
        return re.search(pattern, self.description) is not None


@dataclass(frozen=True, slots=True)
class PairedTools:
    """A pair. `similarity` and `confusability` are its scores, 0–1."""

    a: PairedTool
    b: PairedTool
    similarity: float
    confusability: float = 0.0

    def both(self) -> tuple[tuple[PairedTool, PairedTool], tuple[PairedTool, PairedTool]]:
        """Return each with the other."""
        return ((self.a, self.b), (self.b, self.a))


def sides(one: PairedTool, other: PairedTool, similarity: float, confusability: float = 0.0) -> PairedTools:
    """Return the pair, ordered by the tools' own ids, so that it reads the same wherever they stand."""
    first, second = sorted((one, other), key=lambda each: (each.id, each.tool.fingerprint))
    return PairedTools(first, second, similarity, confusability)


def copies(pair: PairedTools) -> bool:
    """Return True if nothing that a model sees tells the two apart."""
    a, b = pair.a.tool, pair.b.tool
    return (a.name, a.description, a.input_schema) == (b.name, b.description, b.input_schema)


def shared_parameters(pair: PairedTools) -> tuple[str, ...]:
    """Return parameters that both have, as the first writes them."""
    alike = {spaced(name).lower() for name in pair.b.parameters}
    return tuple(name for name in pair.a.parameters if spaced(name).lower() in alike)


def called(side: PairedTool, other: PairedTool) -> str:
    """Return its name in back quotes, with its server where the other is of another one."""
    server = f" of the server {ticked(side.tool.server)}" if side.tool.server not in ("", other.tool.server) else ""
    return f"{ticked(side.name)}{server}"


FEWEST_WORDS = 2
FEWEST_SHARE = 0.4
MOST_EVIDENCE = 12


def issues(pair: PairedTools) -> tuple[DifferentiationIssue, ...]:
    """Return every issue of a pair, most urgent first; none where confusability is low and words and names differ."""
    if copies(pair):
        return (_same_definition(pair),)
    telling = [issue for find in (_terminology, _naming) for issue in find(pair)]
    if not telling and pair.confusability < MEDIUM_FROM:
        return ()
    found = [*telling, *(issue for find in _OTHERS for issue in find(pair))]
    return tuple(sorted(found, key=lambda issue: (_RANK[issue.priority], _ORDER.index(issue.type))))


def _same_definition(pair: PairedTools) -> DifferentiationIssue:
    sentence = "Name, description and parameters are the same, so no text can tell the two apart: offer only one."
    return _issue(IssueType.SCOPE_CLARITY, Priority.HIGH, sentence, (pair.a.id, pair.b.id))


def _scope(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    silent = [side for side, other in pair.both() if not side.mentions(other)]
    if not silent:
        return
    leads = tuple(f"{ticked(side.name)}: “{cut(side.lead, 120)}”" for side, _ in pair.both() if side.description)
    if empty := [called(side, other) for side, other in pair.both() if not side.description]:
        has, its = ("has", "its") if len(empty) == 1 else ("have", "their")
        sentence = f"{listed(empty)} {has} no description, so {its} scope is a guess."
        yield _issue(IssueType.SCOPE_CLARITY, Priority.HIGH, sentence, leads)
    elif len(silent) == 2:
        sentence = "Neither description says when to use the other tool instead."
        priority = Priority.HIGH if pair.confusability >= HIGH_FROM else Priority.MEDIUM
        yield _issue(IssueType.SCOPE_CLARITY, priority, sentence, leads)
    else:
        sentence = f"{ticked(silent[0].name)} does not say when to use the other tool instead."
        yield _issue(IssueType.SCOPE_CLARITY, Priority.LOW, sentence, leads)


def _examples(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = tuple(sample for sample in pair.a.examples if sample in pair.b.examples)
    if shared:
        shown = listed([f"“{cut(sample, 40)}”" for sample in shared])
        sentence = f"Both definitions give the same {'example' if len(shared) == 1 else 'examples'}: {shown}."
        share = len(shared) / min(len(pair.a.examples), len(pair.b.examples))
        yield _issue(IssueType.EXAMPLE_DISTINCTIVENESS, _by(share, 0.99, 0.5), sentence, shared)
    elif not pair.a.examples and not pair.b.examples:
        missing = tuple(f"{ticked(side.name)}: no example" for side, _ in pair.both())
        yield _issue(
            IssueType.EXAMPLE_DISTINCTIVENESS, Priority.LOW, "Neither definition gives an example of its use.", missing
        )


def _parameters(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = shared_parameters(pair)
    smaller = min(len(pair.a.parameters), len(pair.b.parameters))
    larger = max(len(pair.a.parameters), len(pair.b.parameters))
    if not shared or len(shared) < 0.5 * smaller:
        return
    names = listed([ticked(name) for name in shared])
    same = len(shared) == larger
    sentence = f"Both take the same parameters: {names}." if same else f"Both take {names}."
    share = len(shared) / (smaller + larger - len(shared))
    yield _issue(IssueType.PARAMETER_UNIQUENESS, _by(share, 0.99, 0.5), sentence, shared)


def _naming(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    a, b = pair.a.name, pair.b.name
    if not blurred(a, b):
        return
    common = meanings(a) & meanings(b)
    if a == b:
        sentence = f"Both tools are called {ticked(a)}."
    elif meanings(a) == meanings(b):
        sentence = f"{ticked(a)} and {ticked(b)} mean the same."
    elif meanings(a) <= meanings(b) or meanings(b) <= meanings(a):
        short, long = sorted((a, b), key=lambda name: len(meanings(name)))
        sentence = f"The name {ticked(short)} says nothing that {ticked(long)} does not say too."
    else:
        sentence = f"The names {ticked(a)} and {ticked(b)} are made of nearly the same words."
    yield _issue(IssueType.NAMING_CLARITY, _by(alikeness(a, b), 0.99, 0.8), sentence, _words_of(pair, common))


def _words_of(pair: PairedTools, common: frozenset[str]) -> tuple[str, ...]:
    """Return the words of both names that mean the same, `fetch/get` where they are not the same word."""
    pairs = ((one, other) for one in name_words(pair.a.name) for other in name_words(pair.b.name))
    same = [(one, other) for one, other in pairs if meanings(one) == meanings(other) and meanings(one) <= common]
    return tuple(dict.fromkeys(one if one == other else f"{one}/{other}" for one, other in same))


def _terminology(pair: PairedTools) -> Iterator[DifferentiationIssue]:
    shared = [word for key, word in pair.a.words.items() if key in pair.b.words]
    smaller = min(len(pair.a.words), len(pair.b.words))
    if len(shared) < FEWEST_WORDS or len(shared) < FEWEST_SHARE * smaller:
        return
    share = len(shared) / smaller
    of = counted(smaller, "telling word", "telling words")
    sentence = f"{len(shared)} of the {of} of the shorter description are in the other one too."
    yield _issue(IssueType.TERMINOLOGY_OVERLAP, _by(share, 0.75, 0.55), sentence, tuple(shared))


def _issue(kind: IssueType, priority: Priority, sentence: str, evidence: tuple[str, ...]) -> DifferentiationIssue:
    return DifferentiationIssue(type=kind, priority=priority, sentence=sentence, evidence=evidence[:MOST_EVIDENCE])


def _by(share: float, high: float, medium: float) -> Priority:
    return Priority.HIGH if share >= high else Priority.MEDIUM if share >= medium else Priority.LOW


_ORDER = tuple(IssueType)
_RANK = {priority: place for place, priority in enumerate(Priority)}
_OTHERS: tuple[Callable[[PairedTools], Iterator[DifferentiationIssue]], ...] = (_scope, _examples, _parameters)
