"""Trials: the same cases asked with two arms, the original tools and the draft, and what they showed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mcp_tef.model.comparison import Claim, ClaimVerdict, PassCriterion, ShareChange
from mcp_tef.model.ids import BatchId, CaseId, DraftId
from mcp_tef.model.runs import ModelSettings


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRequest:
    """Settings of a trial of one draft with one model. `cases` are the affected ones; `rounds` is the most per case.

    With `same_against_same` both arms get the original tools. `step` is the state of the draft to try, by default the
    current one; `against` is the state in the original arm, 0 for the listing. With `hints`, the draft's arm offers the
    listing with each case's own query as an example in its expected tools. `gate` numbers the gates of candidate texts
    from 1, each at a stricter level; 0 is none. No run is planned beyond `most_calls`. `name` is that of the batch.
    With `against_settings` there is no draft: they are those of the original arm, and differ in the prompt.
    """

    draft: DraftId
    settings: ModelSettings
    cases: tuple[CaseId, ...]
    guards: tuple[CaseId, ...] = ()
    rounds: int = 5
    goal: TrialGoal = TrialGoal.QUICK
    seed: int = 0
    max_cost_usd: float | None = None
    concurrency: int = 4
    same_against_same: bool = False
    step: int | None = None
    against: int = 0
    hints: bool = False
    gate: int = 0
    most_calls: int | None = None
    name: str = ""
    against_settings: ModelSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """State or end of a trial. `sentence` is the verdict in one line, `evidence` E(better) and E(worse).

    `end` is None while it runs. `shares` holds the correct calls (for the baseline: correct tools) of both arms,
    `other_shares` the other outcome, without a verdict. `plan` tells what would settle it, "" if nothing is open.
    `guards` counts the cases that must not change, `guard_outcomes` are theirs in full rounds.
    `of_prompts` is True where the arms are prompts, not tools. Of the pairs left out, `not_offered` are those whose
    expected tool neither arm offers; `missing_tools` names that tool by case ("" where it is not known).
    """

    batch_id: BatchId
    draft_name: str
    model: str
    criterion: PassCriterion
    claims: TrialClaims
    sentence: str
    plan: str
    wins: int
    losses: int
    pairs: int
    left_out: int
    evidence: tuple[float, float] | None
    shares: ShareChange
    other_shares: ShareChange
    outcomes: tuple[CaseOutcome, ...]
    icc: float | None
    drafts_tried: int
    calls: int
    planned_calls: int
    cost_usd: float | None
    seed: int
    end: TrialEnd | None
    guards: int = 0
    guard_outcomes: tuple[CaseOutcome, ...] = ()
    of_prompts: bool = False
    not_offered: int = 0
    missing_tools: Mapping[str, str] = field(default_factory=dict)
