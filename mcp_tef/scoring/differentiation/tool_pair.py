"""Two tools in a stable order with everything that tells them apart, including the examples they give."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.text_terms import (
    Phrase,
    distinct_phrase,
    lead,
    name_words,
    opening_phrase,
    sentences,
    terms,
    tidy,
)
from mcp_tef.scoring.lint.vocabulary import ACTIONS, reads_as_english
from mcp_tef.scoring.phrases import ticked
from mcp_tef.scoring.tfidf_weights import spaced

LONGEST_EXAMPLE = 60

_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)|‘([^’\n]+)’|`([^`\n]+)`")
_INTRODUCED = re.compile(r"(?i)\b(?:e\.g\.|for example|for instance|such as|examples?:)[,:\s]*([^()\n.;“”\"'`]{2,80})")
_TELLING = re.compile(r"[^\W\d_]{2}")


def examples(tool: Tool) -> dict[str, str]:
    """Return the examples of a tool in reading order, each with its place: "description" or a parameter's name.

    Numbers and switches are no examples of anything.
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
    description = schema.get("description")
    yield from _in_text(description if isinstance(description, str) else "")
    lists = (schema.get("examples"), schema.get("enum"), [schema.get("default"), schema.get("const")])
    values = [value for each in lists if isinstance(each, list) for value in each]
    yield from (_written(value) for value in values if not isinstance(value, bool | None))


def _written(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


class PairedTool:
    """One tool of a pair, with what can be said of it by itself."""

    def __init__(self, compared: ComparedTool) -> None:
        self.id = compared.id
        self.tool: Tool = compared.tool
        self.description = tidy(compared.tool.description)

    @property
    def name(self) -> str:
        """Its name."""
        return self.tool.name

    @cached_property
    def lead(self) -> str:
        """The first sentence of its description; where there is none, the words of its name."""
        return lead(self.description) or spaced(self.name).lower()

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The terms of its description."""
        return terms(self.description)

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The terms of its name and description."""
        return {**terms(self.name), **self.words}

    @cached_property
    def sentences(self) -> frozenset[str]:
        """Its sentences, by their words."""
        return frozenset(sentence.key for sentence in sentences(self.description))

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


def sides(one: ComparedTool, other: ComparedTool, similarity: float, confusability: float = 0.0) -> PairedTools:
    """Return the pair, ordered by the tools' own ids, so that it reads the same wherever they stand."""
    first, second = sorted((one, other), key=lambda each: (each.id, each.tool.fingerprint))
    return PairedTools(PairedTool(first), PairedTool(second), similarity, confusability)


def own_parameters(side: PairedTool, other: PairedTool) -> tuple[str, ...]:
    """Return parameters that only this one has, those that it asks for first."""
    alike = {spaced(name).lower() for name in other.parameters}
    own = [name for name in side.parameters if spaced(name).lower() not in alike]
    return tuple(sorted(own, key=lambda name: name not in side.required))


def shared_parameters(pair: PairedTools) -> tuple[str, ...]:
    """Return parameters that both have, as the first writes them."""
    alike = {spaced(name).lower() for name in pair.b.parameters}
    return tuple(name for name in pair.a.parameters if spaced(name).lower() in alike)


def own_phrase(side: PairedTool, other: PairedTool) -> Phrase | None:
    """Return the words of its first sentence that the other does not use at all, or at least not in its own first one.

    The whole beginning where the two only start with different verbs; None for what does not read as English, whose
    phrases nobody here can tell.
    """
    if not reads_as_english(side.lead):
        return None
    found = distinct_phrase(side.lead, other.known) or distinct_phrase(side.lead, terms(other.lead))
    verbs = [base_verb(each.lead.partition(" ")[0], each.name) for each in (side, other)]
    return found or (opening_phrase(side.lead) if all(verbs) and verbs[0] != verbs[1] else None)


def base_verb(word: str, name: str) -> str:
    """Return `gets` → `get`; "" for what is no verb of action that is known or in the tool's name."""
    plain = word.lower()
    endings = (("ies", "y"), ("es", ""), ("s", ""), ("", ""))
    forms = [plain.removesuffix(ending) + instead for ending, instead in endings if plain.endswith(ending)]
    known = (form for form in forms if form in ACTIONS or form in name_words(name))
    return next((form for form in known if not form.endswith(("ing", "ed"))), "")


def called(side: PairedTool, other: PairedTool) -> str:
    """Return its name in back quotes, with its server where the other has the same name."""
    server = f" of the server {ticked(side.tool.server)}" if side.name == other.name and side.tool.server else ""
    return f"{ticked(side.name)}{server}"
