"""Trials: the same cases asked with two arms, the original tools and the draft, and what they showed."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.comparison import Claim, ClaimVerdict
from mcp_tef.model.ids import CaseId


class TrialGoal(StrEnum):
    """Goal of a trial: QUICK ends with the first claim, SURE with the second, FULL after all rounds."""

    QUICK = "quick"
    SURE = "sure"
    FULL = "full"


class TrialEnd(StrEnum):
    """Reason for the end of a trial."""

    DECIDED = "decided"
    FUTILE = "futile"
    BUDGET = "budget"
    COMPLETE = "complete"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One case of a trial so far: passes of each arm, over its pairs of judged runs."""

    case_id: CaseId
    pairs: int
    original: int
    draft: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOutcome:
    """A guard case, asked afresh after a first break: passes and runs of each arm, and if it is broken."""

    case_id: CaseId
    original: tuple[int, int]
    draft: tuple[int, int]
    broken: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialClaims:
    """The two claims of a trial, read after `look` rounds; `sentence` is the verdict in one line."""

    on_these_cases: Claim
    for_queries_like_these: Claim
    look: int
    guards: tuple[GuardOutcome, ...] = ()

    @property
    def worse(self) -> bool:
        """True if either claim is worse, or a guard is broken."""
        claims = (self.on_these_cases, self.for_queries_like_these)
        return any(claim.verdict is ClaimVerdict.WORSE for claim in claims) or any(one.broken for one in self.guards)
