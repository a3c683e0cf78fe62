"""Rows of the run table, loaded in pages when they scroll into view and updated in place while a batch runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from app.screens.runs.labels import NONE, Mark, mark_of, model_name, outcome_of, share, state_of
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


PAGE = 200
KEPT = 100

Outdated: TypeAlias = Mapping[RunId, tuple[str, ...]]
NONE_OUTDATED: Outdated = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Mended:
    """What a batch of ended runs did to the table: rows that changed, and how many came at the end."""

    changed: tuple[int, ...] = ()
    added: int = 0


@dataclass(frozen=True, slots=True)
class Filled:
    """What a fetched page did to the table: where it begins, its rows, and the places that were given up for it."""

    first: int
    rows: tuple[Row, ...]
    dropped: range = range(0)


class RunTable:
    """Rows of one filter. `total` is known from the start; rows are there once their page has been put."""

    def __init__(self) -> None:
        self.where = RunFilter()
        self.total = 0
        self._pages: dict[int, list[Row]] = {}
        self._places: dict[RunId, int] = {}
        self._asked: set[int] = set()

    def reset(self, where: RunFilter, total: int) -> None:
        """Show another filter, or the same one anew."""
        self.where = where
        self.total = total
        self._pages.clear()
        self._places.clear()
        self._asked.clear()

    def row(self, index: int) -> Row | None:
        """The row at a place; None while its page is not there."""
        page = self._pages.get(index // PAGE)
        return page[index % PAGE] if page is not None and index % PAGE < len(page) else None

    def find(self, run_id: RunId) -> Row | None:
        """The row of a run, if its page is there."""
        place = self._places.get(run_id)
        return None if place is None else self.row(place)

    def place(self, run_id: RunId) -> int | None:
        """Where a run stands, if its page is there."""
        return self._places.get(run_id)

    def missing(self, first: int, last: int) -> tuple[int, ...]:
        """The pages between two places that are neither there nor named by an earlier call."""
        last = min(last, self.total - 1)
        if last < first:
            return ()
        pages = range(first // PAGE, last // PAGE + 1)
        missing = tuple(page for page in pages if page not in self._pages and page not in self._asked)
        self._asked.update(missing)
        return missing

    def fetched(self, page: int) -> None:
        """Whatever came of fetching a page, it may be asked for again."""
        self._asked.discard(page)

    def put(self, page: int, runs: Sequence[RunSummary], outdated: Outdated = NONE_OUTDATED) -> Filled:
        """Take a fetched page; the one fetched longest ago is given up where there are too many."""
        dropped = self._drop(next(iter(self._pages))) if len(self._pages) >= KEPT else range(0)
        rows = [row(run, outdated.get(run.id, ())) for run in runs]
        self._pages[page] = rows
        self._places.update((item.id, page * PAGE + offset) for offset, item in enumerate(rows))
        return Filled(page * PAGE, tuple(rows), dropped)

    def _drop(self, page: int) -> range:
        gone = self._pages.pop(page)
        for item in gone:
            self._places.pop(item.id, None)
        return range(page * PAGE, page * PAGE + len(gone))

    def mend(self, runs: Sequence[RunSummary]) -> Mended:
        """Take runs as they now read: in place where they stand, at the end where they newly pass the filter."""
        changed: list[int] = []
        before = self.total
        passes = admits(self.where)
        for run in runs:
            place = self._places.get(run.id)
            if place is not None:
                page, offset = self._pages[place // PAGE], place % PAGE
                page[offset] = row(run, page[offset].outdated if run.status is RunStatus.COMPLETED else ())
                changed.append(place)
            elif passes(run) and not passes(waiting(run)):
                self._append(run)
        return Mended(changed=tuple(sorted(set(changed))), added=self.total - before)

    def _append(self, run: RunSummary) -> None:
        number, offset = divmod(self.total, PAGE)
        if offset == 0:
            self._pages[number] = []
        page = self._pages.get(number)
        if page is not None and len(page) == offset:
            page.append(row(run))
            self._places[run.id] = self.total
        self.total += 1


def waiting(run: RunSummary) -> RunSummary:
    """The run as it read before it was asked: what the table's count has already seen."""
    return replace(run, status=RunStatus.PENDING, classification=None, kind=None, selected=None, selected_tool=None)
