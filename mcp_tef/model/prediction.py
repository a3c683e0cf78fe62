"""Predictions for a draft, made while it is edited, and the cases that a trial of it is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.ids import CaseId
from mcp_tef.model.quality import LintFinding


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A tool near a changed one; `similarity` and `confusability` are 0 to 1."""

    tool: str
    similarity: float
    confusability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPrediction:
    """One changed tool, as the listing and as the draft has it. Sides are empty where it was added or removed.

    `neighbours_before` and `neighbours_after` hold the five nearest tools, nearest first.
    """

    name: str
    findings_gone: tuple[LintFinding, ...] = ()
    findings_new: tuple[LintFinding, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    neighbours_before: tuple[Neighbour, ...] = ()
    neighbours_after: tuple[Neighbour, ...] = ()

    @property
    def newly_near(self) -> tuple[Neighbour, ...]:
        """Tools that are among the nearest with the draft only."""
        before = {one.tool for one in self.neighbours_before}
        return tuple(one for one in self.neighbours_after if one.tool not in before)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCase:
    """Rank (from 1) of the expected tool in the search of the offline baseline with each arm; None if not offered.

    `passed_before` and `passed_after` tell if the baseline would select the expected tool, or rightly none.
    """

    case_id: CaseId
    rank_before: int | None
    rank_after: int | None
    passed_before: bool
    passed_after: bool


@dataclass(frozen=True, slots=True)
class DirectionRecord:
    """Count of finished trials in this workspace whose direction the baseline predicted rightly."""

    right: int = 0
    trials: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Effects of a draft, found by search and rules alone: no model was asked.

    `tools` holds the changed tools in the order of the draft, `cases` the cases of the affected set.
    """

    tools: tuple[ToolPrediction, ...] = ()
    set_tokens_before: int = 0
    set_tokens_after: int = 0
    cases: tuple[RankedCase, ...] = ()
    record: DirectionRecord = DirectionRecord()

    @property
    def fixed(self) -> int:
        """Number of cases that only the draft passes."""
        return sum(one.passed_after and not one.passed_before for one in self.cases)

    @property
    def broken(self) -> int:
        """Number of cases that only the original passes."""
        return sum(one.passed_before and not one.passed_after for one in self.cases)


class ScopeReason(StrEnum):
    """Reason for a case to be affected by a draft, in the order in which they are tightened: the last goes first."""

    EXPECTS_CHANGED = "expects_changed"
    SELECTED_CHANGED = "selected_changed"
    NEAR_CHANGED = "near_changed"
    RANKS_CHANGED = "ranks_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialScope:
    """Cases of a trial: those about the changed tools with the reasons, and guards that must not change.

    `total` counts all cases of the draft's servers. `tightened` holds reasons that were left out since more than
    half of all cases would have been affected.
    """

    affected: Mapping[CaseId, tuple[ScopeReason, ...]]
    guards: tuple[CaseId, ...]
    total: int
    tightened: tuple[ScopeReason, ...] = ()
