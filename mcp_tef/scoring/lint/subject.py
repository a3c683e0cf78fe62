"""One tool made ready for lint: its parameters flattened, all its texts with their places, and its neighbours."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from mcp_tef.model.json import Json, deeper_than
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.nodes import Node, nodes_of
from mcp_tef.scoring.lint.texts import Text, texts_of
from mcp_tef.scoring.schema import ToolSchema
from mcp_tef.scoring.soundness import why_unsound
from mcp_tef.scoring.wording import kind_of

SOUND_DEPTH = 64
SHORTEST_SAYING = 12

_DEFINITIONS = ("$schema", "$defs", "definitions")


class Catalogue:
    """The names that are listed together, by server."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._counts = Counter((tool.server, tool.name) for tool in tools)
        self._servers: dict[str, set[str]] = {}
        for server, name in self._counts:
            self._servers.setdefault(name, set()).add(server)

    def count(self, tool: Tool) -> int:
        """How often the tool's own server lists its name."""
        return self._counts[tool.server, tool.name]

    def own(self, tool: Tool, name: str) -> bool:
        """Whether the tool's own server lists a name."""
        return name == tool.name or (tool.server, name) in self._counts

    def elsewhere(self, tool: Tool, name: str) -> tuple[str, ...]:
        """The other servers that list a name, sorted."""
        return tuple(sorted(self._servers.get(name, set()) - {tool.server}))


NOBODY = Catalogue()


class Subject:
    """A tool under lint. `tokens` is what its definition costs; nothing here raises, whatever the definition holds."""

    def __init__(self, tool: Tool, tokens: int = 0, catalogue: Catalogue = NOBODY) -> None:
        self.tool = tool
        self.tokens = tokens
        self.catalogue = catalogue
        self.name = tool.name if isinstance(tool.name, str) else ""
        self.description = tool.description.strip() if isinstance(tool.description, str) else ""
        self.schema: Json = tool.input_schema

    @cached_property
    def annotations(self) -> Mapping[str, Json]:
        """The hints of the server about the tool's behaviour; empty where they are no object."""
        given = self.tool.raw.get("annotations") if isinstance(self.tool.raw, Mapping) else None
        return given if isinstance(given, Mapping) else {}

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The input as a whole, then every parameter and list item, nearest first."""
        return nodes_of(self.schema) if isinstance(self.schema, Mapping) else ()

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """Every named parameter, nested ones included, nearest first."""
        return tuple(node for node in self.nodes if node.name)

    @cached_property
    def texts(self) -> tuple[Text, ...]:
        """Every text of the definition that may reach a model or a person, names included."""
        return tuple(texts_of(self.tool))

    @cached_property
    def readings(self) -> tuple[tuple[Text, str], ...]:
        """The texts that are long enough to say something, each with how a model reads it."""
        return tuple((text, text.read) for text in self.texts if len(text.text) >= SHORTEST_SAYING)

    @cached_property
    def all_said(self) -> str:
        """All that the texts say, in small letters, so that one look tells whether a word occurs at all."""
        return "\n".join(reading for _, reading in self.readings).lower()

    @cached_property
    def why_unsound(self) -> str | None:
        """What makes the input schema invalid, as a sentence's end; None where nothing does."""
        return why_invalid(self.schema) if isinstance(self.schema, Mapping) else None

    @cached_property
    def refused_defaults(self) -> tuple[tuple[Node, Json], ...]:
        """The parameters with a default that their own schema refuses, as far as the schemas are sound."""
        owners = [(node, node.own) for node in self.parameters if isinstance(node.own, Mapping)]
        given = [(node, own) for node, own in owners if "default" in own]
        if not given or self.why_unsound:
            return ()
        return tuple((node, own["default"]) for node, own in given if _refuses_default(self.schema, own))


def _refuses_default(root: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    """Whether a schema certainly refuses its default; references go to the definitions of the root."""
    alone = {key: root[key] for key in _DEFINITIONS if key in root}
    report = ToolSchema({**alone, "properties": {"value": schema}}).check({"value": schema["default"]})
    return bool(report.faults)


def why_invalid(schema: Mapping[str, Json]) -> str | None:
    """What makes a schema invalid, however deep it nests, as a sentence's end; None where nothing does."""
    if deeper_than(schema, SOUND_DEPTH):
        return f"it nests more than {SOUND_DEPTH} levels deep."
    if not isinstance(schema.get("$schema", ""), str):
        return f"its $schema is {kind_of(schema['$schema'])}, not text."
    return why_unsound(schema)
