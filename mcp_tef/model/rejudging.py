"""Inputs, results and report of judging finished runs again."""

from dataclasses import dataclass

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import Expectation
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.tools import Snapshot
from mcp_tef.model.verdicts import Classification, PastVerdict, Verdict


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
