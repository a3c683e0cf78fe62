"""Comparisons of two batches, two runs, two listings of a server, or of verdicts before and after judging again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import Expectation
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import Arm, Batch, RunDetail, RunSummary
from mcp_tef.model.tools import Listing, OfferedTool, Snapshot, Tool
from mcp_tef.model.verdicts import PastVerdict, RunMark, Verdict

if TYPE_CHECKING:
    from mcp_tef.model.metrics import Rate
    from mcp_tef.model.quality import LintFinding


class PairChange(StrEnum):
    """Change of a case's pass rate from one batch to the other; NEW and GONE were run in one batch only."""

    FIXED = "fixed"
    REGRESSED = "regressed"
    UNCHANGED_RIGHT = "unchanged_right"
    UNCHANGED_WRONG = "unchanged_wrong"
    NEW = "new"
    GONE = "gone"
    NOT_COMPARABLE = "not_comparable"


MARGIN = 0.05  # difference of rates that is worth a change


class PairedBy(StrEnum):
    """Key that pairs the runs of two batches: case and model; or only the case, where the models differ."""

    CASE_AND_MODEL = "case_and_model"
    CASE = "case"


class PassCriterion(StrEnum):
    """Outcome that a comparison is about: a baseline cannot fill in values, so only its choice of tools counts."""

    CORRECT_CALL = "correct_call"
    CORRECT_TOOL = "correct_tool"


class ClaimVerdict(StrEnum):
    """Verdict of one claim of a comparison."""

    BETTER = "better"
    WORSE = "worse"
    NO_WORTHWHILE_CHANGE = "no_worthwhile_change"
    CANNOT_TELL_YET = "cannot_tell_yet"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim's verdict, one sentence with its numbers, and the probability of the test behind it, if there is one.

    `interval` is that of the difference of rates, where one was computed.
    """

    verdict: ClaimVerdict
    sentence: str
    p: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientResult:
    """Runs of one model through one client: those that are right, and those whose tool the client did not show.

    `claim` compares it with the plain API for queries like these, where the same batch asked that too.
    """

    client: str
    model: str
    runs: int
    right: int
    not_shown: int
    criterion: PassCriterion
    claim: Claim | None = None

    @property
    def works(self) -> bool | None:
        """True where it is not worse than the plain API beyond the margin; None where that cannot be told yet."""
        if self.claim and self.claim.interval and self.claim.interval[0] >= -MARGIN:
            return True
        settled = self.claim is not None and self.claim.verdict is not ClaimVerdict.CANNOT_TELL_YET
        return self.claim.verdict is not ClaimVerdict.WORSE if self.claim and settled else None


PassCounts: TypeAlias = dict[tuple[CaseId, str], tuple[int, int]]
"""Correct calls and judged runs, by case and model label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairableRun:
    """The little of a run that pairing needs; `posed` is all that was asked and expected, as one text.

    `family` joins paraphrases; the case alone where it is empty.
    """

    id: RunId
    case_id: CaseId
    model: str
    repeat: int
    mark: RunMark | None
    posed: str
    family: str = ""

    def passed(self, criterion: PassCriterion) -> bool:
        """Return True if the run was judged and meets the criterion."""
        tool_only = criterion is PassCriterion.CORRECT_TOOL
        return self.mark is not None and (self.mark.correct_tool if tool_only else self.mark is RunMark.CORRECT_CALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSide:
    """The runs of a case in one batch; `shown` is the one to look at: the first that differs from the other batch's."""

    runs: tuple[RunId, ...]
    judged: int
    passed: int
    shown: RunId


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePair:
    """A case in both batches, or in one of them; `posed_alike` is False where the case was edited in between."""

    change: PairChange
    case_id: CaseId
    before: CaseSide | None
    after: CaseSide | None
    posed_alike: bool = True

    @property
    def shown(self) -> tuple[RunId | None, RunId | None]:
        """The runs to look at, before and after."""
        return (self.before.shown if self.before else None), (self.after.shown if self.after else None)


@dataclass(frozen=True, slots=True)
class RateDifference:
    """A later share minus an earlier one, with its 95 % interval; all None where there is no case."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ShareChange:
    """A share of runs before and after, over the cases that were judged in both batches."""

    before: "Rate"
    after: "Rate"
    difference: RateDifference


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCase:
    """A case that must hold; it does not where it passes less often than before beyond chance, or was not judged."""

    case_id: CaseId
    holds: bool
    sentence: str
    p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchComparison:
    """Two batches case by case, and the two claims by `criterion`: on these cases, and for queries like these.

    `pairs` stand in the order of the later batch, then those that are gone; `size` is how much was compared, as text.
    `wins` and `losses` count pairs of runs, `left_out` runs without a verdict, `evidence` the E-values for better and
    worse, `icc` the correlation of the runs of one case. `notes` are sentences for people.
    """

    before: Batch
    after: Batch
    paired_by: PairedBy
    criterion: PassCriterion
    pairs: tuple[CasePair, ...]
    correct_call: ShareChange
    correct_tool: ShareChange
    on_these_cases: Claim
    for_queries_like_these: Claim
    size: str
    cases: int
    families: int
    run_pairs: int
    wins: int
    losses: int
    evidence: tuple[float, float]
    icc: float | None
    left_out: int
    posed_otherwise: int
    must_hold: tuple[HeldCase, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, change: PairChange) -> tuple[CasePair, ...]:
        """Return the pairs with one change."""
        return tuple(pair for pair in self.pairs if pair.change is change)

    @property
    def counts(self) -> Mapping[PairChange, int]:
        """Number of pairs with each change, 0 included."""
        often = Counter(pair.change for pair in self.pairs)
        return {change: often[change] for change in PairChange}

    @property
    def failed(self) -> bool:
        """True if it is worse for queries like these, or a case that must hold does not."""
        worse = self.for_queries_like_these.verdict is ClaimVerdict.WORSE
        return worse or not all(held.holds for held in self.must_hold)

    @property
    def undecided(self) -> bool:
        """True if the runs cannot tell whether other queries would show a change."""
        return self.for_queries_like_these.verdict is ClaimVerdict.CANNOT_TELL_YET


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """A pair with the runs to look at, one of each batch."""

    pair: CasePair
    before: RunSummary | None
    after: RunSummary | None


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One thing that differs between two runs, in words."""

    name: str
    before: str
    after: str


class DefinitionChange(StrEnum):
    """Difference of a tool between two snapshots; OFFERED_AS: the same definition under another name."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    OFFERED_AS = "offered_as"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A tool that two runs did not see alike. `diff` is a unified diff of the definitions as indented JSON."""

    server: str
    tool: str
    change: DefinitionChange
    before: OfferedTool | None
    after: OfferedTool | None
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs side by side; the lists hold only what differs. `tools_alike` counts tools that both saw alike."""

    before: RunDetail
    after: RunDetail
    settings: tuple[ValueChange, ...]
    verdict: tuple[ValueChange, ...]
    answer: tuple[ValueChange, ...]
    tools: tuple[ToolChange, ...]
    tools_alike: int


@dataclass(frozen=True, slots=True)
class ToolDrift:
    """A tool that was added, removed or changed; `findings` are the signs of poisoning in it now."""

    change: ToolChange
    findings: "tuple[LintFinding, ...]" = ()

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.change.tool

    @property
    def before(self) -> Tool | None:
        """The definition that was seen."""
        return self.change.before.tool if self.change.before else None

    @property
    def after(self) -> Tool | None:
        """The definition as it is now."""
        return self.change.after.tool if self.change.after else None

    @property
    def redescribed(self) -> bool:
        """True if a tool that was listed before has another description now."""
        return bool(self.before and self.after and self.before.description != self.after.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Every tool that differs. `listing` is what there is now; `agreed` says that the user had agreed to start it."""

    listing: Listing
    tools: tuple[ToolDrift, ...]
    agreed: bool = False

    @property
    def redescribed(self) -> tuple[str, ...]:
        """The tools that say something else of themselves."""
        return tuple(tool.name for tool in self.tools if tool.redescribed)

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The tools that show signs of poisoning now."""
        return tuple(tool.name for tool in self.tools if tool.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRun:
    """A run that was judged, with all that judging it again needs; the answer comes without the raw exchange."""

    id: RunId
    case_id: CaseId
    batch_id: BatchId | None
    expectation: Expectation
    snapshot: Snapshot
    answer: Answer
    verdict: Verdict
    arm: Arm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A new verdict on a run, by an expectation; `past` is what it replaces.

    Without `past` only the confidence is another: `agreement`, and what follows from it.
    """

    run_id: RunId
    verdict: Verdict
    expectation: Expectation
    expected_rank: int | None
    past: PastVerdict | None
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A run as it now reads, and the verdict that it had before."""

    run: RunSummary
    past: PastVerdict

    @property
    def passed_before(self) -> bool:
        """True if the run was a correct call before."""
        return self.past.verdict.mark is RunMark.CORRECT_CALL


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeReport:
    """Result of rejudging: the judged runs (some with changed verdicts), and those that could not be judged.

    `without_answer` runs failed or were never asked; `gone` ones were removed, or their case was.
    """

    judged: int = 0
    without_answer: int = 0
    gone: int = 0
    changes: tuple[VerdictChange, ...] = ()

    @property
    def unchanged(self) -> int:
        """Runs whose verdict came out as it was."""
        return self.judged - len(self.changes)

    @property
    def sentence(self) -> str:
        """Return the result as a sentence: “Judged again: 200 runs, 3 otherwise than before (2 now correct).”."""
        if not self.judged:
            return "No run was judged again: none of them has an answer."
        runs = f"{self.judged:,} run{'' if self.judged == 1 else 's'}"
        if not self.changes:
            return f"Judged again: {runs}, and no verdict changed."
        turned = ", ".join(filter(None, (self._turned(True), self._turned(False)))) or "the same ones correct"
        return f"Judged again: {runs}, {len(self.changes):,} otherwise than before ({turned})."

    def _turned(self, passes: bool) -> str:
        number = sum(change.run.passes is passes is not change.passed_before for change in self.changes)
        return f"{number:,} now {'correct' if passes else 'no correct call'}" if number else ""
