"""Values for parameters, and how people state them in a request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.case_drafting import WORDING
from mcp_tef.scoring.differentiation.text_terms import plain_words
from mcp_tef.scoring.schema_walk import SchemaDocument, SchemaPlace, required_in
from mcp_tef.scoring.tfidf_weights import spaced

NUMBERED, NAMED, LABELLED = "numbered", "named", "labelled"
"""How a value stands with its noun: `issue PROJ-12` or `order with the ID 7`, `page “Roadmap”`, `project atlas`."""

_PATH = re.compile(
    r"(?:.* )?(?:path|file(?: ?name)?|file path)|(?:input|output|source|target|destination) (?:file|path)(?: path)?"
)
_TITLE = re.compile(r"(?:.* )?(?:title|name)")
_ID = re.compile(r"(?:(.*) )?(?:id|key|identifier|slug|uuid|guid|number|no)")
PLAIN_NUMBERS = frozenset({"number", "integer"})
"""Names of parameters whose value is the thing itself: the factorial of 12, not of the number with an ID."""
_LIMIT = re.compile(r"(?:max(?:imum)?|limit|count|top k|page size|per page|num|number of|n)(?: .*)?")
_ENDINGS = (("docx", "docx"), ("pdf", "pdf"), ("csv", "csv"), ("excel", "xlsx"), ("image", "png"), ("json", "json"))
_EXAMPLE = re.compile(
    r"(?:e\.g\.,?|for example,?|such as|examples?:|like)\s*['\"“`]([^'\"”`\n]{2,40})['\"”`]", re.IGNORECASE
)
_KEY = re.compile(r"[A-Z]{2,10}-\d+|\d{2,16}")
_FORMAL = re.compile(
    r"(?:sql|[acj]ql|lucene)\b|expression|syntax|regex|statement|selector|pattern|command|lucene|xpath"
)
_SHORT = {word: word.upper() for word in ("id", "url", "pid", "uuid", "guid", "ip", "sku", "nct", "doi")} | {
    "dir": "directory"
}
_SHORT_FIRST = {"from": "source", "to": "target", "num": "number"}
_CHOICE = re.compile(r"(?!(?:all|any|none|dontcare|default|auto|unspecified)$)[A-Za-z][\w -]{2,20}", re.IGNORECASE)
_WRITTEN = re.compile(r"(?:[a-z]+ )?(?:body|content|text|message|comment)(?: text| body)?")
_SAYABLE = re.compile(r"[a-z]+(?: [a-z]+){0,2}")


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A value as a request states it: `text` beside its `noun`, else as a `phrase`, else in a sentence with `label`."""

    parameter: str
    expected: Json
    noun: str = ""
    style: str = ""
    text: str = ""
    phrase: str = ""
    label: str = ""
    required: bool = False

    @property
    def sentence(self) -> str:
        """The value in a sentence of its own."""
        if not self.label:
            return f"The first {self.text} are enough."
        verb = "are" if self.label.endswith("s") and not self.label.endswith("ss") else "is"
        told = "It should say:" if _WRITTEN.fullmatch(self.label) else f"The {self.label} {verb}"
        return f"{told} {self.text}" if self.text.endswith(".”") else f"{told} {self.text}."


def stated_values(tool: Tool, random: Random) -> tuple[StatedValue, ...] | None:
    """Return values of the required parameters and of optional ones; None if a required one cannot be stated."""
    place = SchemaPlace(SchemaDocument(tool.input_schema))
    required = {name for schema in place.schemas() for name in required_in(schema)}
    properties = tool.input_schema.get("properties")
    known = dict.fromkeys(properties if isinstance(properties, Mapping) else (), False) | dict.fromkeys(required, True)
    made = [_ParameterValue.of(name, place.at(name), tool, random, known[name]).stated() for name in known]
    stated = tuple(value for value in made if value)
    return stated if required <= {value.parameter for value in stated} else None


@dataclass(frozen=True, slots=True)
class _ParameterValue:
    """A parameter by name, as people say it and by its schema, for which a value is wanted."""

    name: str
    said: str
    schema: Mapping[str, Any]
    types: frozenset[str]
    tool: Tool
    random: Random
    required: bool

    @classmethod
    def of(cls, name: str, place: SchemaPlace, tool: Tool, random: Random, required: bool) -> "_ParameterValue":
        merged: dict[str, Any] = {}
        for schema in place.schemas():
            merged = {**schema, **merged}
        types = frozenset(place.types() - {"null"})
        return cls(name, spaced(name).lower().strip(), merged, types, tool, random, required)

    def stated(self) -> StatedValue | None:
        """Return a value as a request states it; None where nobody would type one."""
        if not _SAYABLE.fullmatch(self.said):
            return None
        if isinstance(self.schema.get("enum"), list):
            return self._choice(self.schema["enum"])
        if self.types == {"array"}:
            return self._items()
        if self.types and "string" not in self.types:
            return self._number()
        return self._text()

    def _text(self) -> StatedValue | None:
        makers = (self._id, self._of_kind, self._path, self._title, self._example)
        return None if _LIMIT.fullmatch(self.said) else next(filter(None, (make() for make in makers)), None)

    def _made(self, value: Json, **more: str) -> StatedValue:
        texts = {"text": str(value), "label": _label(self.said), **more}
        return StatedValue(self.name, value, **texts, required=self.required)

    def _choice(self, values: Sequence[Json]) -> StatedValue | None:
        known = [value for value in values if isinstance(value, str) and _CHOICE.fullmatch(value)]
        value = self.random.choice(known) if len(known) > 1 and self.required else ""
        text = value if value.istitle() else f"“{spaced(value).lower()}”"
        return self._made(value, text=text) if value else None

    def _items(self) -> StatedValue | None:
        """Return a list with two items, or with one where they would not stand beside their noun."""
        items = self.schema.get("items")
        if not isinstance(items, Mapping) or items.get("type") != "string":
            return None
        described = {**items, "description": self.schema.get("description", "")}
        item = replace(self, said=self.said.removesuffix("s"), schema=described, types=frozenset({"string"}))
        return _both([value for value in (item.stated(), item.stated(), item.stated()) if value])

    def _number(self) -> StatedValue | None:
        if not self.types & {"integer", "number"}:
            return None
        if _LIMIT.fullmatch(self.said):
            return self._limit(self._bound("maximum", 20))
        if self.said in PLAIN_NUMBERS:
            return self._made(self.random.randint(4, 96), noun=self.said, style=NUMBERED)
        if found := _ID.fullmatch(self.said):
            return self._made(self.random.randrange(1000, 99999), noun=_last_word(found[1]), style=NUMBERED)
        if not self.schema.keys() & {"minimum", "maximum"}:
            return None  # a number that may mean anything, such as a code for a choice
        first = self._bound("minimum", 2)
        last = max(first, min(self._bound("maximum", max(40, first)), first + 60))
        style = NUMBERED if _label(self.said).isupper() else ""
        return self._made(self.random.randint(first, last), style=style) if self.required else None

    def _bound(self, keyword: str, otherwise: int) -> int:
        bound = self.schema.get(keyword)
        return bound if isinstance(bound, int) else otherwise

    def _limit(self, most: int) -> StatedValue | None:
        fitting = [number for number in (3, 5, 8, 12) if number <= most]
        return self._made(self.random.choice(fitting), label="") if fitting else None

    def _id(self) -> StatedValue | None:
        found = _ID.fullmatch(self.said)
        value = self._example_or([str(self.random.randrange(10_000, 999_999))])
        return self._made(value, noun=_last_word(found[1]), style=NUMBERED) if found else None

    def _of_kind(self) -> StatedValue | None:
        for pattern, phrase, pool in WORDING["kinds"]:
            if re.fullmatch(pattern, self.said):
                return self._from_pool(phrase, pool)
        return None

    def _from_pool(self, phrase: str, pool: Json) -> StatedValue | None:
        if pool == "topics" and _FORMAL.search(self._told):
            return None
        if pool in ("topics", "texts", "titles"):
            value = self.random.choice(WORDING[pool])
            text = value if pool == "topics" else f"“{value}”"
            return self._made({"$contains": value}, text=text, phrase=phrase.format(value))
        value = self._example_or(WORDING[pool] if isinstance(pool, str) else pool, 0.3)
        return self._made(value, noun=_last_word(self.said), style=LABELLED, phrase=phrase.format(value))

    @property
    def _told(self) -> str:
        return f"{self.said} {self.schema.get('description', '')} {self.tool.name}".lower()

    def _path(self) -> StatedValue | None:
        if not self.required or not _PATH.fullmatch(self.said):
            return None
        told = self._told
        noun = next((word for word in ("file", "directory", "folder") if word in told), "")
        if not noun:
            return None
        ending = next((ending for word, ending in _ENDINGS if word in told), "txt")
        pool = [file.format(ending) for file in WORDING["files" if noun == "file" else "folders"]]
        return self._made(self._example_or(pool), noun=noun, style=LABELLED)

    def _title(self) -> StatedValue | None:
        if not _TITLE.fullmatch(self.said):
            return None
        noun = self.said.rpartition(" ")[0] or " ".join(plain_words(self.tool.name))
        pool = next((names for pattern, names in WORDING["names"] if re.search(rf"\b(?:{pattern})s?\b", noun)), [""])
        value = self._example_or(WORDING[pool] if isinstance(pool, str) else pool)
        if not value:
            return None  # nobody would believe an invented name of an instrument or a gene
        return self._made(value, noun=_last_word(self.said.rpartition(" ")[0]), style=NAMED, text=f"“{value}”")

    def _example(self) -> StatedValue | None:
        value = self._example_or([""])
        return self._made(value, text=f"“{value}”") if value and self.required else None

    def _example_or(self, pool: Sequence[str], share: float = 1.0) -> str:
        """Return an example of the schema in a share of the cases, else a value of the pool."""
        example = next(_examples(self.schema, self.random), "")
        return example if example and self.random.random() < share else self.random.choice(pool)


def _both(items: Sequence[StatedValue]) -> StatedValue | None:
    one, *others = {value.text: value for value in items}.values() or (None,)
    if one is None or not others or not one.noun:
        return one and replace(one, expected=[one.expected])
    both = f"{one.text} and {others[0].text}"
    return replace(one, expected=[one.expected, others[0].expected], text=both, phrase="", label=f"{one.label}s")


def _last_word(text: str | None) -> str:
    return (text or "").rpartition(" ")[2]


def _label(said: str) -> str:
    """Return the name of a parameter as people write it: `from_id` → `source ID`."""
    words = [_SHORT.get(word, word) for word in said.split()]
    return " ".join([_SHORT_FIRST.get(words[0], words[0]), *words[1:]])


def _examples(schema: Mapping[str, Any], random: Random) -> Iterator[str]:
    """Yield the examples of a schema; a key or number gets other digits, so that each request has its own."""
    listed = schema.get("examples")
    described = _EXAMPLE.findall(str(schema.get("description", "")))
    for value in (*(listed if isinstance(listed, list) else ()), *described):
        if isinstance(value, str) and 1 < len(value) <= 40 and "," not in value and value[0].isalnum():
            yield re.sub(r"\d", lambda _: str(random.randint(1, 9)), value) if _KEY.fullmatch(value) else value
