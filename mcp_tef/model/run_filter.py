"""Filters over runs, and the orders in which they are listed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.tools import ToolLabel
from mcp_tef.model.verdicts import Classification, RunMark, VerdictKind


class RunOrder(StrEnum):
    """Sort order of a list of runs; `planned` is newest batch first, as planned within a batch.

    `case` is the planned order with the repeats of a case by a model behind its first run.
    """

    PLANNED = "planned"
    CASE = "case"
    OUTCOME = "outcome"
    QUERY = "query"
    EXPECTED = "expected"
    SELECTED = "selected"
    CONFIDENCE = "confidence"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter and order of runs to list, count or sum up; None and empty do not restrict.

    Of several values in one field any may hold; all fields must. Suites and tags are those that the case has
    now. `expected`, `selected` and `offered` name tools, servers or both. A run that was right expected the tool
    that was selected; a server that an expectation leaves open is the only one that offered the tool.
    `since` is included, `until` is not; both are about the moment the run was planned.
    `outcome` order is wrong (FN, FP, TN), wrong arguments, correct calls (TP, TN), then runs without a verdict; runs
    without a confidence come last.
    `text` is looked for in the query, the case's name, and the expected and selected tools.
    `failures` are codes of failures. Runs that were `interrupted` count as failed; where that is False they do not, and
    where it is True they are named beside those of `statuses`.
    """

    batch_id: BatchId | None = None
    case_id: CaseId | None = None
    statuses: tuple[RunStatus, ...] = ()
    interrupted: bool | None = None
    classifications: tuple[Classification, ...] = ()
    kinds: tuple[VerdictKind, ...] = ()
    marks: tuple[RunMark, ...] = ()
    unreadable: bool | None = None
    failures: tuple[str, ...] = ()
    model: str | None = None
    text: str = ""
    run_ids: tuple[RunId, ...] = ()
    batch_ids: tuple[BatchId, ...] = ()
    case_ids: tuple[CaseId, ...] = ()
    models: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    expected: ToolLabel | None = None
    selected: ToolLabel | None = None
    offered: ToolLabel | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: RunOrder = RunOrder.PLANNED
    descending: bool = False

    def admits_state(self, run: RunSummary) -> bool:
        """Return True if a run has one of the requested states."""
        if run.interrupted and self.interrupted is not None:
            return self.interrupted
        return not (self.statuses or self.interrupted) or run.status in self.statuses
