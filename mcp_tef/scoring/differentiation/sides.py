"""Two tools made ready to be told apart, in an order that does not depend on where they stood."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.examples import examples, own_properties
from mcp_tef.scoring.differentiation.names import name_words
from mcp_tef.scoring.differentiation.words import Phrase, distinct_phrase, lead, opening_phrase, sentences, terms, tidy
from mcp_tef.scoring.lint.words import ACTIONS, reads_as_english
from mcp_tef.scoring.stems import spaced
from mcp_tef.scoring.wording import ticked


class Side:
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
        """One of its annotations."""
        given = self.tool.raw.get("annotations")
        return given.get(name) if isinstance(given, Mapping) else None

    def mentions(self, other: "Side") -> bool:
        """Whether its description names the other tool; a name that is a plain word must stand in quotation marks."""
        if other.name == self.name:
            return False
        name = re.escape(other.name)
        plain = other.name.isalpha() and other.name.islower()
        pattern = rf"[`'\"“‘]{name}[`'\"”’]" if plain else rf"(?<![\w-]){name}(?![\w-])"
        return re.search(pattern, self.description) is not None


@dataclass(frozen=True, slots=True)
class Sides:
    """A pair. `similarity` and `confusability` are its scores, 0–1."""

    a: Side
    b: Side
    similarity: float
    confusability: float = 0.0

    def both(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Each with the other."""
        return ((self.a, self.b), (self.b, self.a))


def sides(one: ComparedTool, other: ComparedTool, similarity: float, confusability: float = 0.0) -> Sides:
    """The pair, ordered by the tools' own ids, so that it reads the same wherever they stand."""
    first, second = sorted((one, other), key=lambda each: (each.id, each.tool.fingerprint))
    return Sides(Side(first), Side(second), similarity, confusability)


def own_parameters(side: Side, other: Side) -> tuple[str, ...]:
    """Parameters that only this one has, those that it asks for first."""
    alike = {spaced(name).lower() for name in other.parameters}
    own = [name for name in side.parameters if spaced(name).lower() not in alike]
    return tuple(sorted(own, key=lambda name: name not in side.required))


def shared_parameters(pair: Sides) -> tuple[str, ...]:
    """Parameters that both have, as the first writes them."""
    alike = {spaced(name).lower() for name in pair.b.parameters}
    return tuple(name for name in pair.a.parameters if spaced(name).lower() in alike)


def own_phrase(side: Side, other: Side) -> Phrase | None:
    """The words of its first sentence that the other does not use at all, or at least not in its own first one.

    The whole beginning where the two only start with different verbs; None for what does not read as English, whose
    phrases nobody here can tell.
    """
    if not reads_as_english(side.lead):
        return None
    found = distinct_phrase(side.lead, other.known) or distinct_phrase(side.lead, terms(other.lead))
    verbs = [base_verb(each.lead.partition(" ")[0], each.name) for each in (side, other)]
    return found or (opening_phrase(side.lead) if all(verbs) and verbs[0] != verbs[1] else None)


def base_verb(word: str, name: str) -> str:
    """`gets` → `get`; "" for what is no verb of action that is known or in the tool's name."""
    plain = word.lower()
    endings = (("ies", "y"), ("es", ""), ("s", ""), ("", ""))
    forms = [plain.removesuffix(ending) + instead for ending, instead in endings if plain.endswith(ending)]
    known = (form for form in forms if form in ACTIONS or form in name_words(name))
    return next((form for form in known if not form.endswith(("ing", "ed"))), "")


def called(side: Side, other: Side) -> str:
    """Its name in back quotes, with its server where the other has the same name."""
    server = f" of the server {ticked(side.tool.server)}" if side.name == other.name and side.tool.server else ""
    return f"{ticked(side.name)}{server}"
