"""Comparisons of two batches, two runs, two listings of a server, or of verdicts before and after judging again."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import Expectation
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.metrics import Rate
from mcp_tef.model.quality import LintFinding
from mcp_tef.model.runs import Batch, RunDetail, RunSummary
from mcp_tef.model.tools import Listing, OfferedTool, Snapshot, Tool
from mcp_tef.model.verdicts import Classification, PastVerdict, Verdict


class PairChange(StrEnum):
    """Change of a run from one batch to the other; NEW and GONE have no partner."""

    FIXED = "fixed"
    REGRESSED = "regressed"
    UNCHANGED_RIGHT = "unchanged_right"
    UNCHANGED_WRONG = "unchanged_wrong"
    NEW = "new"
    GONE = "gone"
    NOT_COMPARABLE = "not_comparable"


class PairedBy(StrEnum):
    """Key that pairs two runs: case, repeat and model; or only the case, where the models differ."""

    RUN = "run"
    CASE = "case"


class ComparisonConclusion(StrEnum):
    """Conclusion of a paired test; undecided means that there are too few runs to tell."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairableRun:
    """The little of a run that pairing needs; `posed` is its query and expectation as they were, as one text."""

    id: RunId
    case_id: CaseId
    model: str
    repeat: int
    classification: Classification | None
    parameters_ok: bool | None
    posed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """A run of each batch, or one without a partner; `parameters` is None where they are not judged on both sides."""

    change: PairChange
    case_id: CaseId
    before: RunId | None
    after: RunId | None
    parameters: PairChange | None = None
    posed_alike: bool = True


@dataclass(frozen=True, slots=True)
class RateDifference:
    """A later share minus an earlier one, with its 95 % interval; all None where there is no pair."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """A yes-or-no outcome before and after, over `n` pairs that have it on both sides.

    `p` is McNemar's exact probability, None without a pair. `more_pairs` is about how many further pairs would
    settle it, None where it is settled or where nothing points either way.
    """

    n: int
    both_right: int
    fixed: int
    regressed: int
    both_wrong: int
    before: Rate
    after: Rate
    difference: RateDifference
    p: float | None
    reading: ComparisonConclusion
    more_pairs: int | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchComparison:
    """Two batches run by run. `selection` asks for the right tools, `parameters` for right values where both chose so.

    `pairs` stand in the order of the later batch, then those that are gone; `notes` are sentences for people.
    """

    before: Batch
    after: Batch
    paired_by: PairedBy
    pairs: tuple[RunPair, ...]
    selection: PairedTest
    parameters: PairedTest
    posed_otherwise: int
    notes: tuple[str, ...] = ()

    def of(self, change: PairChange) -> tuple[RunPair, ...]:
        """Return the pairs with one change."""
        return tuple(pair for pair in self.pairs if pair.change is change)

    @property
    def counts(self) -> Mapping[PairChange, int]:
        """Number of pairs with each change, 0 included."""
        often = Counter(pair.change for pair in self.pairs)
        return {change: often[change] for change in PairChange}

    @property
    def worse(self) -> bool:
        """True if the choice of tools, or the parameters, got worse."""
        return ComparisonConclusion.WORSE in (self.selection.reading, self.parameters.reading)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """A pair with both of its runs as rows of a table."""

    pair: RunPair
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
    findings: tuple[LintFinding, ...] = ()

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A new verdict on a run, by an expectation; `past` is what it replaces."""

    run_id: RunId
    verdict: Verdict
    expectation: Expectation
    expected_rank: int | None
    past: PastVerdict


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A run as it now reads, and the verdict that it had before."""

    run: RunSummary
    past: PastVerdict

    @property
    def was_right(self) -> bool:
        """True if the choice of tools counted as correct before."""
        return self.past.verdict.right

    @property
    def is_right(self) -> bool:
        """True if it counts as correct now."""
        return self.run.classification in (Classification.TP, Classification.TN)


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
        """Return the result as a sentence: “Judged again: 200 runs, 3 otherwise than before (2 now right).”."""
        if not self.judged:
            return "No run was judged again: none of them has an answer."
        if not self.changes:
            return f"Judged again: {_runs(self.judged)}, and no verdict changed."
        right = sum(change.is_right and not change.was_right for change in self.changes)
        wrong = sum(change.was_right and not change.is_right for change in self.changes)
        turned = [f"{number:,} now {word}" for number, word in ((right, "right"), (wrong, "wrong")) if number]
        found = ", ".join(turned) or "right and wrong as before"
        return f"Judged again: {_runs(self.judged)}, {len(self.changes):,} otherwise than before ({found})."


def _runs(number: int) -> str:
    return f"{number:,} run{'' if number == 1 else 's'}"
