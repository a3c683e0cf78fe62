"""Similarity of tools, observed confusion, and advice on telling tools apart. None of it is stored."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mcp_tef.errors import InputError
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.secrets import require_no_credentials
from mcp_tef.model.tools import Tool, ToolLabel, ToolProblem

if TYPE_CHECKING:
    from mcp_tef.model.metrics import Rate


class SourceKind(StrEnum):
    """Source of compared tools; one kind per analysis."""

    SERVERS = "servers"
    URLS = "urls"
    FILES = "files"
    TOOLS = "tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSource:
    """Tools to compare: server names (none means all servers), URLs, paths, or pasted definitions."""

    kind: SourceKind = SourceKind.SERVERS
    names: tuple[str, ...] = ()
    definitions: tuple[Mapping[str, Any], ...] = ()


class EmbedderKind(StrEnum):
    """Kind of an embedder, which turns texts into vectors."""

    TFIDF = "tfidf"
    FASTEMBED = "fastembed"
    FOLDER = "folder"
    LITELLM = "litellm"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder by kind and target: a model's name, a folder or an address; "" means the kind's default.

    `base_url` is where a litellm model is asked instead of at its provider's own address.
    """

    kind: EmbedderKind
    target: str = ""
    base_url: str = ""

    def __post_init__(self) -> None:
        for address in (self.base_url, self.target if self.kind is EmbedderKind.HTTP else ""):
            require_no_credentials(address)

    @property
    def label(self) -> str:
        """As it is written on the command line: `fastembed:MODEL`."""
        return f"{self.kind}:{self.target}" if self.target else str(self.kind)


def parse_embedder(text: str) -> EmbedderChoice:
    """`tfidf`, `fastembed[:MODEL]`, `folder:DIR`, `litellm:PROVIDER/MODEL` or `http:URL`; InputError otherwise."""
    kind, _, target = text.strip().partition(":")
    kinds = {str(one) for one in EmbedderKind}
    alone = kind in (EmbedderKind.TFIDF, EmbedderKind.FASTEMBED)
    if kind not in kinds or (not target and not alone) or (kind == EmbedderKind.TFIDF and target):
        hint = "Write tfidf, fastembed, fastembed:MODEL, folder:DIR, litellm:PROVIDER/MODEL or http:URL."
        raise InputError(f"{text or 'An empty word'} is not an embedder.", hint=hint)
    return EmbedderChoice(EmbedderKind(kind), target)


@dataclass(frozen=True, slots=True)
class ComparedTool:
    """A tool of an analysis. `id` is unique in it: `server/name`, with a number where even that is shared."""

    id: str
    tool: Tool


@dataclass(frozen=True, slots=True)
class UnreachableSource:
    """A server, url or file that gave no tools, with the reason."""

    server: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSet:
    """The tools that a source gave, and what it did not give. `problems` are tools set aside, by server.

    `instructions` are those of servers that have some, by name.
    """

    tools: tuple[ComparedTool, ...]
    unreachable: tuple[UnreachableSource, ...] = ()
    problems: tuple[tuple[str, ToolProblem], ...] = ()
    instructions: tuple[tuple[str, str], ...] = ()


class MatrixKind(StrEnum):
    """One way to look at how alike tools are. Every matrix is symmetric, in 0–1, with a diagonal of 1."""

    SIMILARITY = "similarity"
    FULL = "full"
    LEXICAL = "lexical"
    NAMES = "names"
    PARAMETERS = "parameters"
    CONFUSABILITY = "confusability"


HIGH_FROM, MEDIUM_FROM = 0.5, 0.25
"""Confusability from which on 6 and 3 of 10 pairs of a real catalogue were judged alike by a reader."""


class ConfusabilityLevel(StrEnum):
    """Confusability as it is shown: it orders pairs, but is no probability that a model confuses them."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


def confusability_level(score: float) -> ConfusabilityLevel:
    """Return the level of a score."""
    if score >= HIGH_FROM:
        return ConfusabilityLevel.HIGH
    return ConfusabilityLevel.MEDIUM if score >= MEDIUM_FROM else ConfusabilityLevel.LOW


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPair:
    """Two tools by their places in the analysis, a < b, with every score in 0–1.

    `similarity` is the cosine of name and description, `full` that with parameters (None where it was not asked for),
    `lexical` the TF-IDF overlap, `names` and `parameters` the overlap of name words and of flattened parameters,
    `percentile` the share of all pairs that are less similar, `confusability` how sure a reader judges them alike.
    """

    a: int
    b: int
    similarity: float
    full: float | None
    lexical: float
    names: float
    parameters: float
    percentile: float
    confusability: float

    @property
    def level(self) -> ConfusabilityLevel:
        """The confusability as it is shown."""
        return confusability_level(self.confusability)


@dataclass(frozen=True, slots=True)
class FlagRule:
    """From which score on a pair is flagged: by its confusability, or by the similarity of its descriptions."""

    threshold: float = HIGH_FROM
    kind: MatrixKind = MatrixKind.CONFUSABILITY

    def flags(self, pair: ToolPair) -> bool:
        """Return True if a pair is flagged; scores are compared as 32-bit numbers, as in the matrices."""
        score = pair.similarity if self.kind is MatrixKind.SIMILARITY else pair.confusability
        (threshold,) = struct.unpack("f", struct.pack("f", self.threshold))
        return score >= float(threshold)

    @property
    def text(self) -> str:
        """The rule in words: "high confusability", or from which number on."""
        if self == FlagRule():
            return "high confusability"
        return f"{self.kind} from {self.threshold:g} on"


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of given pairs, in their order; `notice` says where another embedder stood in."""

    pairs: tuple[ToolPair, ...]
    notice: str | None


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """A score of a pair under its plain name ("Parameters"), with one sentence that says where it comes from."""

    kind: MatrixKind
    title: str
    score: float
    sentence: str

    @property
    def shown(self) -> str:
        """The score with two decimals; confusability as its level."""
        return confusability_level(self.score) if self.kind is MatrixKind.CONFUSABILITY else f"{self.score:.2f}"


@dataclass(frozen=True, slots=True)
class SharedParameter:
    """One parameter of a pair: in `a`, in `b`, or in both; `same_type` where both declare the same type."""

    name: str
    type_a: str | None
    type_b: str | None

    @property
    def in_both(self) -> bool:
        """True if both tools have the parameter."""
        return self.type_a is not None and self.type_b is not None

    @property
    def same_type(self) -> bool:
        """True if both tools have the parameter with the same type."""
        return self.in_both and self.type_a == self.type_b


@dataclass(frozen=True, slots=True, kw_only=True)
class PairExplanation:
    """Why a pair looks alike, in words. `shared_words` are words of the two descriptions as they are written there."""

    summary: str
    scores: tuple[ScoreExplanation, ...]
    shared_words: tuple[str, ...]
    parameters: tuple[SharedParameter, ...]


@dataclass(frozen=True, slots=True)
class OverlapWeights:
    """Weight of each dimension in the overlap; only their proportions matter."""

    semantic: float = 0.5
    parameters: float = 0.3
    description: float = 0.2


@dataclass(frozen=True, slots=True)
class ClusterMerge:
    """Two nodes joined at a height (1 − similarity). Nodes below n are tools, n + k is merge k."""

    left: int
    right: int
    height: float
    size: int


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """Tools that may be confused, named by what they share ("search, file"); places in the analysis."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The order that puts like tools side by side, the tree behind it, groups, and copies on different servers."""

    order: tuple[int, ...]
    merges: tuple[ClusterMerge, ...]
    groups: tuple[ToolGroup, ...]
    near_duplicates: tuple[ToolPair, ...]


class PairStatus(StrEnum):
    """Predicted against observed."""

    SIMILAR_AND_CONFUSED = "alike_and_confused"
    CONFUSED_NOT_SIMILAR = "confused_not_alike"
    SIMILAR_NOT_CONFUSED = "alike_not_confused"
    SIMILAR_UNTESTED = "alike_untried"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairObservation:
    """Observed confusion of a pair: of `runs` that expected one and were offered both, `confused` picked the other.

    `a_taken_for_b` counts runs that expected a and picked b.
    """

    confused: int
    runs: int
    a_taken_for_b: int
    b_taken_for_a: int
    rate: "Rate"
    label_a: ToolLabel
    label_b: ToolLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """One pair that wants work; `harm` orders the list, most harmful first."""

    pair: ToolPair
    observation: PairObservation | None
    standing: PairStatus
    harm: float


class IssueType(StrEnum):
    """Why two tools are hard to tell apart."""

    SCOPE_CLARITY = "scope_clarity"
    EXAMPLE_DISTINCTIVENESS = "example_distinctiveness"
    PARAMETER_UNIQUENESS = "parameter_uniqueness"
    NAMING_CLARITY = "naming_clarity"
    TERMINOLOGY_OVERLAP = "terminology_overlap"


class Priority(StrEnum):
    """Priority of a recommendation."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentiationIssue:
    """One reason with its evidence: the words, the parameters, the examples that both tools have."""

    type: IssueType
    priority: Priority
    sentence: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseEffect:
    """Cases of a tool and its look-alikes: how many the built-in baseline gets right before and after a change."""

    cases: int
    correct_before: int
    correct_after: int

    @property
    def gain(self) -> int:
        """Cases won; below 0 where more are lost."""
        return self.correct_after - self.correct_before


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """A new description for one tool; a tool has at most one for all pairs that advice was asked for.

    `revised` is the new description and `before` the old one; `author` is the label of the model that wrote it, or
    "draft" where it was made from the definitions. `patch` is an RFC 6902 patch of the `tools/list` document of the
    tool's server; `override` a ToolHive-style override, `{"toolsOverride": {name: {"description"}}}`. `cases` is None
    where no case expects the tool or one of its look-alikes.
    """

    issue: IssueType
    tool_id: str
    tool_name: str
    server: str
    action: str
    rationale: str
    priority: Priority
    author: str
    before: str
    revised: str
    patch: tuple[Mapping[str, Any], ...]
    override: Mapping[str, Any]
    cases: CaseEffect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAdvice:
    """Issues of two tools and suggested changes; `failure` says why the asked model gave no usable text."""

    a: str
    b: str
    similarity: float
    issues: tuple[DifferentiationIssue, ...]
    recommendations: tuple[Recommendation, ...]
    failure: FailureInfo | None = None
    tokens: int | None = None
    cost_usd: float | None = None
