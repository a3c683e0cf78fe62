"""Record of a crowd test: its runs by cell, the decision of each curve, and the cells still due."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.runs import NOT_OFFERED_CODE, RunResult, RunStatus, RunSummary
from mcp_tef.model.verdicts import RunMark
from mcp_tef.statistics.crowd_loss import CrowdDecision
from mcp_tef.workflows.crowd_plan import ORDER_PASS, CrowdCell, CrowdPlan

MOST_TRIES = 2
Curve = tuple[str, int]
"""A model's label, and the place of the search in front."""


@dataclass(slots=True)
class CrowdRun:
    """One run: its result once it has ended. `picked` is server and tool of its first call, None for no call."""

    id: RunId
    model: str
    case_id: CaseId
    cell: CrowdCell
    ended: bool = False
    mark: RunMark | None = None
    picked: tuple[str, str] | None = None
    failure: str = ""
    tokens: int | None = None
    cost_usd: float | None = None

    def take(self, result: RunResult) -> None:
        """Note a result."""
        calls = result.answer.calls if result.answer else None
        self.ended = result.status in (RunStatus.COMPLETED, RunStatus.FAILED)
        self.mark = result.verdict.mark if result.verdict else None
        self.picked = (calls[0].server or "", calls[0].tool) if calls else None
        self.failure = result.failure.code if result.failure else ""

    @classmethod
    def of(cls, run: RunSummary, cell: CrowdCell) -> "CrowdRun":
        """Return a stored run."""
        ended = run.status in (RunStatus.COMPLETED, RunStatus.FAILED) and not run.interrupted
        picked = (run.selected_server or "", run.selected_tool) if run.selected_tool else None
        return cls(
            run.id, run.model, run.case_id, cell, ended, run.mark, picked, run.failure_code, run.tokens, run.cost_usd
        )


class CrowdRecord:
    """Takes in runs and results; the decisions read whole passes, so that a replay decides as the test did.

    `families` numbers the family of each case of the plan; `models` are labels.
    """

    def __init__(self, plan: CrowdPlan, families: Sequence[int], models: Sequence[str]) -> None:
        self.plan = plan
        self.models = tuple(models)
        self.runs: dict[RunId, CrowdRun] = {}
        self._by_cell: dict[tuple[str, CrowdCell], dict[CaseId, CrowdRun]] = {}
        self._tries: Counter[tuple[str, CrowdCell, CaseId]] = Counter()
        self._numbers = {case_id: number for number, case_id in enumerate(plan.cases)}
        self._same = {(case_id, *one) for case_id, found in plan.equivalents.items() for one in found}
        self.decisions: dict[Curve, CrowdDecision] = {
            (model, search): CrowdDecision(families, plan.sizes, passes=plan.passes, margin=plan.margin)
            for model in models
            for search in range(len(plan.searches))
        }

    def put(self, run: CrowdRun) -> None:
        """Take in a run that was planned, or one that has ended."""
        self.runs[run.id] = run
        self._tries[run.model, run.cell, run.case_id] += 1
        there = self._by_cell.setdefault((run.model, run.cell), {})
        if run.case_id not in there or there[run.case_id].mark is None:
            there[run.case_id] = run
            self._decide(run)

    def end(self, result: RunResult) -> None:
        """Note the result of a run."""
        run = self.runs[result.run_id]
        run.take(result)
        self._decide(run)

    def _decide(self, run: CrowdRun) -> None:
        if run.ended and run.case_id in self._numbers and run.cell.turn < ORDER_PASS:
            curve = self.decisions[run.model, run.cell.search]
            curve.add(run.cell.size, run.cell.turn, self._numbers[run.case_id], self.passed(run))

    def is_equivalent(self, run: CrowdRun) -> bool:
        """Return True if the run selected a stranger that does the same as the expected tool."""
        return run.picked is not None and (run.case_id, *run.picked) in self._same

    def passed(self, run: CrowdRun) -> bool | None:
        """Return if a run selected the expected tool; None without a verdict. A tool not found by search is missed."""
        if run.mark is None:
            return False if run.failure == NOT_OFFERED_CODE else None
        if self.is_equivalent(run):
            return self.plan.accept
        return run.mark.correct_tool

    def advance(self) -> None:
        """Let the decisions read every pass whose runs have all ended."""
        for curve, decision in self.decisions.items():
            while decision.looks < self.plan.passes and self._has_ended(curve, decision):
                decision.read()

    def _has_ended(self, curve: Curve, decision: CrowdDecision) -> bool:
        open_sizes = decision.open_sizes() if decision.looks else range(len(self.plan.sizes))
        return bool(open_sizes) and all(
            (run := self._run(curve[0], CrowdCell(decision.looks, curve[1], size), case_id))
            and run.ended
            and not self._is_due_again(run)
            for size in open_sizes
            for case_id in self.plan.cases
        )

    def _run(self, model: str, cell: CrowdCell, case_id: CaseId) -> CrowdRun | None:
        return self._by_cell.get((model, cell), {}).get(case_id)

    def due(self) -> list[tuple[str, CrowdCell, CaseId]]:
        """Return the runs to plan next: for each curve the sizes that its next pass asks; at last the other order."""
        wanted = [one for curve, decision in self.decisions.items() for one in self._next_pass(curve, decision)]
        last = CrowdCell(ORDER_PASS, 0, len(self.plan.sizes) - 1)
        if not wanted and not self.plan.stealing:
            wanted = [(model, last, case_id) for model in self.models for case_id in self.plan.cases]
        return list(filter(self._is_due, wanted))

    def _is_due(self, wanted: tuple[str, CrowdCell, CaseId]) -> bool:
        run = self._run(*wanted)
        return run is None or self._is_due_again(run)

    def _is_due_again(self, run: CrowdRun) -> bool:
        """Return True for a run that failed once: it is asked again, then left out."""
        return run.ended and self.passed(run) is None and self._tries[run.model, run.cell, run.case_id] < MOST_TRIES

    def _next_pass(self, curve: Curve, decision: CrowdDecision) -> Iterator[tuple[str, CrowdCell, CaseId]]:
        if decision.looks >= self.plan.passes:
            return
        sizes = decision.open_sizes() if decision.looks else range(len(self.plan.sizes))
        for size in sizes:
            cell = CrowdCell(decision.looks, curve[1], size)
            yield from ((curve[0], cell, case_id) for case_id in self.plan.cases_of(cell))

    def at(self, model: str, search: int, size: int) -> list[CrowdRun]:
        """Return the runs of one point that have ended, those about the order left out."""
        cells = [CrowdCell(turn, search, size) for turn in range(self.plan.passes)]
        return [run for cell in cells for run in self._by_cell.get((model, cell), {}).values() if run.ended]

    def wrong_at(self, model: str, search: int, size: int) -> set[RunId]:
        """Return the runs of one point that did not select the expected tool."""
        runs = self.at(model, search, size)
        return {run.id for run in runs if run.case_id in self._numbers and self.passed(run) is False}

    def changed_pairs(self, model: str) -> list[tuple[CrowdRun, CrowdRun]]:
        """Return the runs without and with all strangers that differ, of one case in one round each."""
        ends = [(0, 0), (0, len(self.plan.sizes) - 1)]
        pairs = []
        for turn in range(self.plan.passes):
            before, after = (self._by_cell.get((model, CrowdCell(turn, *one)), {}) for one in ends)
            pairs += [(before[one], after[one]) for one in self.plan.cases if one in before and one in after]
        return [pair for pair in pairs if None not in (kept := {self.passed(one) for one in pair}) and len(kept) > 1]

    def reordered(self, model: str) -> Mapping[CaseId, CrowdRun]:
        """Return the runs of the other order by case."""
        return self._by_cell.get((model, CrowdCell(ORDER_PASS, 0, len(self.plan.sizes) - 1)), {})

    @property
    def left_out(self) -> int:
        """Number of runs that failed, so that they are in no share."""
        return sum(decision.left_out for decision in self.decisions.values())

    @property
    def calls(self) -> int:
        """Number of runs that have ended with an answer or a failure of the model."""
        return sum(run.ended and run.failure != NOT_OFFERED_CODE for run in self.runs.values())
