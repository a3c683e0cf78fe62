"""Clients between a server and a model: how each names, cuts, leaves out or searches tools, with its sources."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.ids import CaseId
from mcp_tef.model.tools import OfferedTool, Tool

PLAIN_API = "plain-api"
"""Name of the profile that changes nothing; runs without a client are asked so."""


class SearchMethod(StrEnum):
    """Way in which a client finds the tools that it loads for a request."""

    BM25 = "bm25"
    KEYWORDS = "keywords"
    EMBEDDINGS = "embeddings"


class TooLong(StrEnum):
    """Treatment of a name over the limit: left out, cut at its end or in its middle, or cut with a hash behind it."""

    LEFT_OUT = "left_out"
    CUT = "cut"
    CUT_IN_MIDDLE = "cut_in_middle"
    HASHED = "hashed"


class SameName(StrEnum):
    """Treatment of tools that end up with one name: one stays, or both get the name of their server or a hash."""

    FIRST = "first"
    LAST = "last"
    SERVER = "server"
    HASHED = "hashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """Form of the names that the model sees.

    `pattern` holds `{server}` and `{tool}`. `allowed` lists characters and ranges; others become `_`. `longest` counts
    the whole name in characters, or server and tool alone where `counts` is "{server}{tool}". `hash_length` is that
    of a SHA-1 in hexadecimal digits, which `hash_changed` adds to every name with a character that is not allowed.
    `longest_prefix` cuts what stands before the tool.
    """

    pattern: str = "{tool}"
    allowed: str = ""
    lower_server: bool = False
    longest_prefix: int | None = None
    longest: int | None = None
    counts: str = ""
    too_long: TooLong = TooLong.LEFT_OUT
    hash_length: int = 8
    hash_changed: bool = False
    same_name: SameName = SameName.FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """Limits of texts: characters of a description with the mark behind a cut, and what is dropped of parameters.

    `parameters` limits the description of a parameter, for models whose name begins with `parameters_for`. Above
    `largest_schema` bytes of JSON a schema loses all its descriptions. `instructions` limits those of a server in
    characters; the same mark stands behind a cut.
    """

    description: int | None = None
    mark: str = ""
    parameters: int | None = None
    parameters_for: str = ""
    largest_schema: int | None = None
    instructions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRule:
    """Search before the model is asked: its method, how many tools it finds, and the texts that it reads."""

    method: SearchMethod
    results: int
    reads: tuple[str, ...] = ("name", "description")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFact:
    """Source of a figure: `of` names it, as in `names.longest`; confidence as in the collection of facts."""

    of: str
    says: str
    source: str
    date: str
    confidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientProfile:
    """One client; a figure that could not be confirmed is not in it. `most_tools` are sent at most, else none is.

    `uses_instructions` is True where those of servers reach the model; False also where nothing is known.
    """

    name: str
    title: str
    version: int
    checked: str
    note: str = ""
    names: NameRule = NameRule()
    texts: TextRule = TextRule()
    most_tools: int | None = None
    uses_instructions: bool = False
    search: SearchRule | None = None
    facts: tuple[ClientFact, ...] = ()

    def limits(self) -> dict[str, int]:
        """Return every limit that is known, by its key."""
        found = {
            "most_tools": self.most_tools,
            "names.longest": self.names.longest,
            "names.longest_prefix": self.names.longest_prefix,
            "texts.description": self.texts.description,
            "texts.parameters": self.texts.parameters,
            "texts.largest_schema": self.texts.largest_schema,
            "texts.instructions": self.texts.instructions,
            "search.results": self.search.results if self.search else None,
        }
        return {key: limit for key, limit in found.items() if limit is not None}

    @property
    def label(self) -> str:
        """Name and version, as runs record them: `codex-cli@1`."""
        return f"{self.name}@{self.version}"


class ChangeKind(StrEnum):
    """Kind of change that a client makes to a tool."""

    RENAMED = "renamed"
    DESCRIPTION_CUT = "description_cut"
    PARAMETERS_CUT = "parameters_cut"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class ClientChange:
    """Change that a client makes to one tool, in a sentence; `lost` is the text that the model does not see."""

    kind: ChangeKind
    tool: Tool
    sentence: str
    lost: str = ""


@dataclass(frozen=True, slots=True)
class ClientView:
    """Tools as a client would show them before any search, and all that it did to them."""

    profile: ClientProfile
    shown: tuple[OfferedTool, ...]
    changes: tuple[ClientChange, ...]

    def reason(self, server: str, tool: str) -> str:
        """Return why a tool is left out; "" for one that is shown."""
        left_out = (one for one in self.changes if one.kind is ChangeKind.LEFT_OUT)
        return next((one.sentence for one in left_out if (one.tool.server, one.tool.name) == (server, tool)), "")


class CaseVisibility(StrEnum):
    """Visibility in a client of the tool that a case expects: shown whole or cut, not found by its search, left out."""

    SHOWN = "shown"
    CUT = "cut"
    NOT_FOUND = "not_found"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCase:
    """Visibility of the tool that a case expects, with the reason; `lost` is the text that the model does not see."""

    case_id: CaseId
    case_name: str
    visibility: CaseVisibility
    reason: str = ""
    lost: str = ""

    @property
    def missed(self) -> bool:
        """True where the model never sees the tool."""
        return self.visibility in (CaseVisibility.NOT_FOUND, CaseVisibility.LEFT_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCheck:
    """Changes of one client to a set of tools, and how often its search finds the tools that cases expect.

    `cases` are those that expect a tool of the set. `by` says what the search reads, "" without one.
    """

    view: ClientView
    tools: int
    cases: tuple[ClientCase, ...] = ()
    by: str = ""

    @property
    def searched(self) -> int:
        """Number of cases that expect a tool of the set."""
        return len(self.cases)

    @property
    def found(self) -> int:
        """Number of cases whose tool is shown after the search."""
        return self.searched - len(self.missed)

    @property
    def missed(self) -> tuple[tuple[str, str], ...]:
        """Names of the cases whose tool is not shown, with the reason."""
        return tuple((one.case_name, one.reason) for one in self.cases if one.missed)
