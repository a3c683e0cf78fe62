"""Quality of tool definitions: findings by rule, and reviews by a model."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.json import JsonObject
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.similarity import ComparedTool, UnreachableSource
from mcp_tef.model.tools import ToolProblem


class Severity(StrEnum):
    """Severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """A rule by its stable id (`description-missing`): what it asks, and why a model needs it."""

    id: str
    severity: Severity
    title: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """Finding of a rule in one tool, at `place` ("description", "parameter query"); `excerpt` is the text there.

    `penalty` is how many of the 100 points of the tool's score it cost.
    """

    rule: LintRule
    place: str
    sentence: str
    fix: str
    excerpt: str = ""
    penalty: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionRepair:
    """A definition in which findings of a rule are repaired, as lint has proved: `put_in` says what was put in.

    `places` are those of the findings that are gone, `left` counts those that need knowledge of the tool.
    """

    rule: LintRule
    definition: JsonObject
    put_in: str
    places: tuple[str, ...]
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Findings that somebody accepted: of a rule, in one tool by id or name (any, if empty) and place (any, if empty).

    With a `definition` (see `ToolQuality.definition`), it is void as soon as the tool's text changes.
    """

    rule: str
    tool: str = ""
    place: str = ""
    reason: str = ""
    date: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class GradedQuality:
    """A model's score, 1–10, and its words for it."""

    score: int
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReview:
    """Review of a definition by a model, asked with `prompt`. `suggested` is the description that it proposes."""

    model: str
    clarity: GradedQuality
    completeness: GradedQuality
    conciseness: GradedQuality
    suggested: str | None
    prompt: str = ""
    tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuality:
    """One tool judged. `score` 0–100 is 100 less the penalties; `tokens` is what the definition costs each request.

    `ignored` findings are accepted by a suppression, and cost nothing.
    """

    tool: ComparedTool
    score: int
    findings: tuple[LintFinding, ...]
    tokens: int
    review: ModelReview | None = None
    failure: FailureInfo | None = None
    ignored: tuple[tuple[LintFinding, Suppression], ...] = ()

    @property
    def definition(self) -> str:
        """Short fingerprint of the tool's definition, which suppressions are bound to."""
        return self.tool.tool.fingerprint[:12]

    def suppressed_by(self, entry: Suppression) -> bool:
        """Return True if an entry is about this tool as it is now."""
        return entry.tool in ("", self.tool.id, self.tool.tool.name) and entry.definition in ("", self.definition)


@dataclass(frozen=True, slots=True)
class ServerTokenCount:
    """Tokens that all tools of a server add to each request."""

    server: str
    tools: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """Tools from worst to best, and the weight of every server. `tokenizer` names what counted the tokens.

    Rejected definitions are among the tools; `problems` are those of whole lists, such as missing pages, by server.
    `void` suppressions are bound to a definition that a tool no longer has. `notes` are about the whole set: tools that
    a client refuses, and instructions of servers.
    """

    tools: tuple[ToolQuality, ...]
    servers: tuple[ServerTokenCount, ...]
    tokenizer: str
    unreachable: tuple[UnreachableSource, ...] = ()
    problems: tuple[tuple[str, ToolProblem], ...] = ()
    void: tuple[Suppression, ...] = ()
    notes: tuple[str, ...] = ()
