"""Runs as rows of a table: what each cell says, and which rows a filter lets through while they come in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.screens.runs.words import NONE, Mark, mark_of, model_name, outcome_of, share, state_of
from mcp_tef import CaseId, Classification, Kind, RunFilter, RunId, RunStatus, RunSummary

HIGH = 0.7
WRONG = frozenset({Classification.FN, Classification.FP})


class Look(StrEnum):
    """How a cell's text is set."""

    NAME = "name"
    ASIDE = "aside"
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run, ready to paint. `loud` where the confidence was high and the choice wrong.

    `outdated` names the expected and the selected tool, where they are defined otherwise by now.
    """

    id: RunId
    mark: Mark
    query: str
    selected: str
    look: Look
    confidence: str
    loud: bool
    model: str
    spoken: str
    case_id: CaseId
    outdated: tuple[str, ...] = ()

    @property
    def outdated_words(self) -> str:
        """What to say of the tools that changed; empty where none did."""
        return f"Defined otherwise since this run: {', '.join(self.outdated)}." if self.outdated else ""


def row(run: RunSummary, outdated: tuple[str, ...] = ()) -> Row:
    """The row of a run, with the tools of it that changed since."""
    selected, look = _selected(run)
    confidence = NONE if run.confidence is None else share(run.confidence)
    query = " ".join(run.query.split())
    return Row(
        id=run.id,
        mark=mark_of(run),
        query=query,
        selected=selected,
        look=look,
        confidence=confidence,
        loud=run.classification in WRONG and run.confidence is not None and run.confidence >= HIGH,
        model=model_name(run.model),
        spoken=f"{outcome_of(run)}: {query}, {selected}, confidence {confidence}",
        case_id=run.case_id,
        outdated=outdated,
    )


def _selected(run: RunSummary) -> tuple[str, Look]:
    if run.interrupted:
        return state_of(run), Look.QUIET
    if run.status is RunStatus.FAILED:
        return (run.failure.message if run.failure else "failed"), Look.QUIET
    if run.status is not RunStatus.COMPLETED:
        return _WAITING[run.status], Look.QUIET
    if run.kind is Kind.NO_TOOL or not run.selected_tool:
        return _label(run), Look.ASIDE
    return _label(run), Look.NAME


_WAITING: Mapping[RunStatus, str] = {
    RunStatus.PENDING: "waiting",
    RunStatus.RUNNING: "being asked…",
    RunStatus.CANCELLED: "cancelled",
}


def _label(run: RunSummary) -> str:
    return run.selected_tool or run.selected or "no tool"


Test = Callable[[RunSummary], bool]


def admits(where: RunFilter) -> Test:
    """Whether a run passes a filter, told in memory: for rows that arrive while a batch runs."""
    tests: list[Test] = []
    if where.batch_id is not None:
        tests.append(lambda run: run.batch_id == where.batch_id)
    if where.statuses or where.interrupted is not None:
        tests.append(where.admits_state)
    if where.classifications:
        tests.append(lambda run: run.classification in where.classifications)
    if where.kinds:
        tests.append(lambda run: run.kind in where.kinds)
    if where.text:
        words = where.text.casefold()
        tests.append(lambda run: words in _searched(run))
    return lambda run: all(test(run) for test in tests)


def _searched(run: RunSummary) -> str:
    return f"{run.query}\n{run.case_name}\n{run.expected}\n{run.selected or ''}".casefold()
