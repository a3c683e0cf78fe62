"""What to change so that two tools are told apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mcp_tef.model.runs import Failure


class IssueType(StrEnum):
    """Why two tools are hard to tell apart."""

    SCOPE_CLARITY = "scope_clarity"
    EXAMPLE_DISTINCTIVENESS = "example_distinctiveness"
    PARAMETER_UNIQUENESS = "parameter_uniqueness"
    NAMING_CLARITY = "naming_clarity"
    TERMINOLOGY_OVERLAP = "terminology_overlap"


class Priority(StrEnum):
    """What to do first."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """One change to one tool.

    `revised` is the new description and `before` the old one, None where the change is not to the description;
    `author` is the label of the model that wrote it, or "draft" where it was made from the tool's own schema.
    `patch` is an RFC 6902 patch of the `tools/list` document of the tool's server; `override` a ToolHive-style
    override, `{"toolsOverride": {name: {"name"?, "description"?}}}`. `similarity_after` is what the pair would score.
    """

    issue: IssueType
    tool_id: str
    tool_name: str
    action: str
    rationale: str
    priority: Priority
    author: str
    before: str | None
    revised: str | None
    patch: tuple[Mapping[str, Any], ...]
    override: Mapping[str, Any]
    similarity_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAdvice:
    """What is wrong between two tools and what to do; `failure` says why the asked model gave no usable text."""

    a: str
    b: str
    similarity: float
    issues: tuple[DifferentiationIssue, ...]
    recommendations: tuple[Recommendation, ...]
    failure: Failure | None = None
    tokens: int | None = None
    cost_usd: float | None = None
