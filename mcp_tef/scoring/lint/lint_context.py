"""Input and building blocks of the lint rules: a tool with parameters, texts and neighbours; rules with points."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_tef.model.clients import ClientProfile
from mcp_tef.model.json import Json, deeper_than
from mcp_tef.model.quality import LintRule, Severity
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.definition_texts import DefinitionText, folded, shown_name, texts_of
from mcp_tef.scoring.phrases import kind_of
from mcp_tef.scoring.schema_soundness import why_unsound
from mcp_tef.scoring.schema_walk import Keys, SchemaDocument, required_in, subschemas
from mcp_tef.scoring.tool_schema import ToolSchema

MOST_NODES = 2_000
DEEPEST = 32
LONGEST_NAME = 80
_OPENINGS = re.compile(r"(?<![a-z])[a-z]{1,3}")
_TYPED = ("type", "enum", "const", "$ref", "properties", "items", "not", "if")


@dataclass(frozen=True)
class InputNode:
    """A value of the input. `path` reads `filter.tags[].name`, "" for the input itself; list items have no `name`.

    `schemas` are all object schemas that speak about the value, its own first.
    """

    path: str
    name: str
    schemas: tuple[Mapping[str, Any], ...]
    depth: int
    own: Json = None

    @property
    def place(self) -> str:
        """Place of this parameter, for people."""
        return f"parameter {self.path}" if self.path else "inputSchema"

    @cached_property
    def description(self) -> str:
        """Description of the parameter: its own, else one from a reference or a branch."""
        given = [text for text in (schema.get("description") for schema in self.schemas) if isinstance(text, str)]
        own = self.own.get("description") if isinstance(self.own, Mapping) else None
        return (own if isinstance(own, str) and own.strip() else min(filter(str.strip, given), default="")).strip()

    @cached_property
    def types(self) -> frozenset[str]:
        """The JSON Schema types that any of its schemas names."""
        named = (schema.get("type") for schema in self.schemas)
        lists = (item if isinstance(item, list) else [item] for item in named)
        return frozenset(name for names in lists for name in names if isinstance(name, str))

    @property
    def typed(self) -> bool:
        """True if anything says what kind of value it is."""
        return not isinstance(self.own, Mapping) or any(not schema.keys().isdisjoint(_TYPED) for schema in self.schemas)

    def has(self, *keywords: str) -> bool:
        """Return True if any of its schemas uses one of the keywords."""
        return any(keyword in schema for schema in self.schemas for keyword in keywords)

    @cached_property
    def properties(self) -> Mapping[str, list[Json]]:
        """The schemas of each property that any of its schemas names, by name."""
        found: dict[str, list[Json]] = {}
        for schema in self.schemas:
            named = schema.get("properties")
            for name, child in named.items() if isinstance(named, Mapping) else ():
                found.setdefault(name, []).append(child)
        return dict(sorted(found.items()))

    @property
    def required(self) -> tuple[str, ...]:
        """The names that any of its schemas requires, sorted."""
        return tuple(sorted({name for schema in self.schemas for name in required_in(schema)}))


def nodes_of(schema: Mapping[str, Any]) -> tuple[InputNode, ...]:
    """Return the input, then its parameters level by level in order of their names, at most `MOST_NODES`."""
    document = SchemaDocument(schema)
    root = InputNode("", "", document.reach((schema,)), 0, schema)
    found: list[InputNode] = []
    waiting: deque[tuple[InputNode, frozenset[int]]] = deque([(root, frozenset())])
    while waiting and len(found) < MOST_NODES:
        node, above = waiting.popleft()
        found.append(node)
        here = {id(inner) for inner in node.schemas}
        if node.depth < DEEPEST and above.isdisjoint(here):
            waiting.extend((child, above | here) for child in _children(document, node))
    return tuple(found)


def _children(document: SchemaDocument, node: InputNode) -> Iterator[InputNode]:
    for name, schemas in node.properties.items():
        path = ".".join(filter(None, (node.path, shown_name(name, LONGEST_NAME))))
        yield InputNode(path, name, document.reach(schemas), node.depth + 1, schemas[0])
    items = [item for schema in node.schemas for item in _items(schema)]
    if items:
        yield InputNode(f"{node.path}[]", "", document.reach(items), node.depth, items[0])


def _items(schema: Mapping[str, Any]) -> Iterator[Json]:
    for keyword in ("items", "prefixItems"):
        given = schema.get(keyword)
        yield from given if isinstance(given, list) else [given] if isinstance(given, Mapping) else []


SOUND_DEPTH = 64
SHORTEST_SAYING = 12
SHORTEST_ELSEWHERE = 5  # of scripts that write a sentence in few characters

_DEFINITIONS = ("$schema", "$defs", "definitions")


class ListedNames:
    """The names that are listed together, by server, and the clients that are to show them."""

    def __init__(self, tools: Iterable[Tool] = (), clients: Sequence[ClientProfile] = ()) -> None:
        self.clients = clients
        self._counts = Counter((tool.server, tool.name) for tool in tools)
        self._servers: dict[str, set[str]] = {}
        self._by_case: dict[tuple[str, str], set[str]] = {}
        for server, name in self._counts:
            self._servers.setdefault(name, set()).add(server)
            self._by_case.setdefault((server, str(name).casefold()), set()).add(name)

    def count(self, tool: Tool) -> int:
        """Count of the tools with this name that its server lists."""
        return self._counts[tool.server, tool.name]

    def case_twins(self, tool: Tool) -> tuple[str, ...]:
        """Return the other names of its server that differ from the tool's by case only, sorted."""
        return tuple(sorted(self._by_case.get((tool.server, str(tool.name).casefold()), set()) - {tool.name}))

    def own(self, tool: Tool, name: str) -> bool:
        """Return True if the tool's own server lists a name."""
        return name == tool.name or (tool.server, name) in self._counts

    def elsewhere(self, tool: Tool, name: str) -> tuple[str, ...]:
        """Return the other servers that list a name, sorted."""
        return tuple(sorted(self._servers.get(name, set()) - {tool.server}))


NOBODY = ListedNames()


class LintContext:
    """A tool under lint. `tokens` is what its definition costs; nothing here raises, whatever the definition holds."""

    def __init__(self, tool: Tool, tokens: int = 0, catalogue: ListedNames = NOBODY, why_rejected: str = "") -> None:
        self.tool = tool
        self.tokens = tokens
        self.catalogue = catalogue
        self.why_rejected = why_rejected
        named = isinstance(tool.raw.get("name") if why_rejected else tool.name, str)
        self.name = tool.name if named else ""
        self.description = tool.description.strip() if isinstance(tool.description, str) else ""
        self.schema: Json = tool.input_schema

    @cached_property
    def annotations(self) -> Mapping[str, Json]:
        """The hints of the server about the tool's behaviour; empty where they are no object."""
        given = self.tool.raw.get("annotations") if isinstance(self.tool.raw, Mapping) else None
        return given if isinstance(given, Mapping) else {}

    @cached_property
    def nodes(self) -> tuple[InputNode, ...]:
        """The input as a whole, then every parameter and list item, nearest first."""
        return nodes_of(self.schema) if isinstance(self.schema, Mapping) else ()

    @cached_property
    def parameters(self) -> tuple[InputNode, ...]:
        """Every named parameter, nested ones included, nearest first."""
        return tuple(node for node in self.nodes if node.name)

    @cached_property
    def texts(self) -> tuple[DefinitionText, ...]:
        """Every text of the definition that may reach a model or a person, names included."""
        return tuple(texts_of(self.tool))

    @cached_property
    def foreign_texts(self) -> tuple[DefinitionText, ...]:
        """The texts that hold more than printable ASCII; most do not."""
        return tuple(text for text in self.texts if not (text.text.isascii() and text.text.isprintable()))

    @cached_property
    def readings(self) -> tuple[tuple[DefinitionText, str], ...]:
        """The texts that are long enough to say something, each with how a model reads it."""
        shortest = (SHORTEST_ELSEWHERE, SHORTEST_SAYING)
        return tuple((text, text.read) for text in self.texts if len(text.text) >= shortest[text.text.isascii()])

    @cached_property
    def folds(self) -> tuple[tuple[DefinitionText, str, str], ...]:
        """The same texts, each with how a model reads it and that reading folded for comparison."""
        return tuple((text, reading, folded(reading)) for text, reading in self.readings)

    @cached_property
    def all_said(self) -> str:
        """All folded texts, so that one look tells whether a word occurs at all."""
        return "\n".join(fold for _, _, fold in self.folds)

    @cached_property
    def openings(self) -> frozenset[str]:
        """The first three letters of every word in the folded texts."""
        return frozenset(_OPENINGS.findall(self.all_said))

    @cached_property
    def why_unsound(self) -> str | None:
        """Fault of the input schema as the end of a sentence; None if it is valid."""
        return why_invalid(self.schema) if isinstance(self.schema, Mapping) else None

    @cached_property
    def subschemas(self) -> tuple[tuple[SchemaDocument, Keys, Mapping[str, Any]], ...]:
        """Every object schema of the valid input and output schemas, with the document and the keys that lead there."""
        output = self.tool.output_schema
        fields = {"inputSchema": None if self.why_unsound else self.schema}
        fields["outputSchema"] = output if isinstance(output, Mapping) and not why_invalid(output) else None
        documents = [(field, SchemaDocument(root)) for field, root in fields.items()]
        return tuple(
            (document, keys, schema)
            for field, document in documents
            for keys, schema in subschemas(document.schema, field, MOST_NODES)
        )

    @cached_property
    def refused_defaults(self) -> tuple[tuple[InputNode, Json], ...]:
        """The parameters with a default that their own schema refuses, as far as the schemas are sound."""
        owners = [(node, node.own) for node in self.parameters if isinstance(node.own, Mapping)]
        given = [(node, own) for node, own in owners if "default" in own]
        if not given or self.why_unsound:
            return ()
        return tuple((node, own["default"]) for node, own in given if _refuses_default(self.schema, own))


def _refuses_default(root: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    """Return True if a schema certainly refuses its default; references go to the definitions of the root."""
    alone = {key: root[key] for key in _DEFINITIONS if key in root}
    report = ToolSchema({**alone, "properties": {"value": schema}}).check({"value": schema["default"]})
    return bool(report.faults)


def why_invalid(schema: Mapping[str, Json]) -> str | None:
    """Return the fault of a schema as the end of a sentence, however deep it nests; None if it is valid."""
    if deeper_than(schema, SOUND_DEPTH):
        return f"it nests more than {SOUND_DEPTH} levels deep."
    if not isinstance(schema.get("$schema", ""), str):
        return f"its $schema is {kind_of(schema['$schema'])}, not text."
    return why_unsound(schema)


@dataclass(frozen=True, slots=True)
class LintHit:
    """One place that breaks a rule: where, in one sentence, what to do about it, and the text that is there."""

    place: str
    sentence: str
    fix: str
    excerpt: str = ""


Look = Callable[[LintContext], Iterable[LintHit]]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule with the points (of 100) that its first finding costs, and how its findings are found."""

    rule: LintRule
    points: int
    look: Look


def error(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings keep a tool from working, or endanger who uses it."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.ERROR, title=title, why=why), points, look)


def warning(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings make wrong picks or wrong arguments likely."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.WARNING, title=title, why=why), points, look)


def note(rule_id: str, points: int, look: Look, *, title: str, why: str) -> RuleCheck:
    """Return a check whose findings are worth a thought."""
    return RuleCheck(LintRule(id=rule_id, severity=Severity.NOTE, title=title, why=why), points, look)
