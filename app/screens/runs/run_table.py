"""Rows of the run table, loaded in pages when they scroll into view and updated in place while a batch runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

from app.screens.runs.labels import (
    DASH,
    VerdictMark,
    failure_label,
    format_share,
    mark_of,
    outcome_label,
    status_label,
)
from app.text.formatting import UNREADABLE_TEXT, model_name
from mcp_tef import (
    CaseId,
    ConfidenceCategory,
    PassCounts,
    RunFilter,
    RunId,
    RunMark,
    RunOrder,
    RunStatus,
    RunSummary,
    VerdictKind,
    is_baseline,
)

HIGH_CONFIDENCE = 0.7


class CellTextStyle(StrEnum):
    """Text style of the cell for the selected tool."""

    TOOL = "name"
    NO_TOOL = "aside"
    STATUS = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTableRow:
    """Run as the table shows it; `confident_but_wrong` marks a high confidence without a correct call.

    `correct` is how many repeats of its case and model were correct calls, such as `3 of 17`; `follows` is True below
    another repeat. `changed_tools` names the expected and the selected tool if their definition changed since.
    """

    id: RunId
    mark: VerdictMark
    query: str
    expected: str
    expected_tip: str
    selected: str
    text_style: CellTextStyle
    selected_tip: str
    confidence: str
    confident_but_wrong: bool
    model: str
    accessible_text: str
    case_id: CaseId
    repeat: str
    correct: str = ""
    follows: bool = False
    changed_tools: tuple[str, ...] = ()

    @property
    def changed_tools_text(self) -> str:
        """Sentence about tools that changed since the run; empty if none did."""
        return f"Definition changed since this run: {', '.join(self.changed_tools)}." if self.changed_tools else ""


def run_row(
    run: RunSummary,
    outdated: tuple[str, ...] = (),
    *,
    repeat: str = "",
    correct: str = "",
    follows: bool = False,
) -> RunTableRow:
    """Return the row of a run; `outdated` names its tools that changed since."""
    selected, look = _selected(run)
    confidence = DASH if run.confidence is None else format_share(run.confidence)
    query = " ".join(run.query.split())
    return RunTableRow(
        id=run.id,
        mark=mark_of(run),
        query=query,
        expected=_expected(run),
        expected_tip=run.expected,
        selected=selected,
        text_style=look,
        selected_tip=run.failure.message if run.failure else "",
        confidence=confidence,
        confident_but_wrong=run.confidence_category is ConfidenceCategory.MISLEADING and not _lacks_values(run),
        model=model_name(run.model),
        accessible_text=f"{outcome_label(run)}: {query}, expected {run.expected}, {selected}, confidence {confidence}",
        case_id=run.case_id,
        repeat=repeat,
        correct=correct,
        follows=follows,
        changed_tools=outdated,
    )


def _lacks_values(run: RunSummary) -> bool:
    """Return True for the right tool of a baseline, which has no way to fill in all values."""
    return is_baseline(run.model) and run.mark is RunMark.WRONG_ARGUMENTS


def _expected(run: RunSummary) -> str:
    """Return the label of the expectation without the name of its server."""
    return run.expected.replace(f"{run.expected_server} / ", "") if run.expected_server else run.expected


def _selected(run: RunSummary) -> tuple[str, CellTextStyle]:
    if run.interrupted:
        return status_label(run), CellTextStyle.STATUS
    if run.status is RunStatus.FAILED:
        return failure_label(run), CellTextStyle.STATUS
    if run.status is not RunStatus.COMPLETED:
        return _WAITING[run.status], CellTextStyle.STATUS
    if run.unreadable:
        return UNREADABLE_TEXT, CellTextStyle.STATUS
    if run.kind is VerdictKind.NO_TOOL or not run.selected_tool:
        return _label(run), CellTextStyle.NO_TOOL
    return _label(run), CellTextStyle.TOOL


_WAITING: Mapping[RunStatus, str] = {
    RunStatus.PENDING: "waiting",
    RunStatus.RUNNING: "running…",
    RunStatus.CANCELLED: "cancelled",
}


def _label(run: RunSummary) -> str:
    return run.selected_tool or run.selected or "no tool"


RunPredicate = Callable[[RunSummary], bool]


def filter_predicate(where: RunFilter) -> RunPredicate:
    """Return a predicate for rows that arrive while a batch runs, so that they need no query."""
    tests: list[RunPredicate] = []
    if where.batch_id is not None:
        tests.append(lambda run: run.batch_id == where.batch_id)
    if where.statuses or where.interrupted is not None:
        tests.append(where.admits_state)
    if where.unreadable is not None:
        tests.append(lambda run: run.unreadable is where.unreadable)
    tests += [partial(_has_one_of, name, values) for name, values in _chosen(where) if values]
    if where.text:
        words = where.text.casefold()
        tests.append(lambda run: words in _searched(run))
    return lambda run: all(test(run) for test in tests)


def _chosen(where: RunFilter) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the attributes of a run that a filter restricts to certain values."""
    return (
        ("mark", where.marks),
        ("classification", where.classifications),
        ("kind", where.kinds),
        ("failure_code", where.failures),
    )


def _has_one_of(name: str, values: tuple[str, ...], run: RunSummary) -> bool:
    return getattr(run, name) in values


def _searched(run: RunSummary) -> str:
    return f"{run.query}\n{run.case_name}\n{run.expected}\n{run.selected or ''}".casefold()


PAGE_SIZE = 200
MAX_PAGES = 100

ChangedTools: TypeAlias = Mapping[RunId, tuple[str, ...]]
NO_CHANGED_TOOLS: ChangedTools = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class UpdatedRows:
    """Rows that changed in place, and the number of rows added at the end."""

    changed: tuple[int, ...] = ()
    added: int = 0


@dataclass(frozen=True, slots=True)
class LoadedPage:
    """A page that was loaded: its first position, its rows, and the positions evicted for it."""

    first: int
    rows: tuple[RunTableRow, ...]
    evicted: range = range(0)


class RunTable:
    """Rows of one filter. `total` is known first; rows are set page by page. `repeat_text` names a run's repeat."""

    def __init__(self, repeat_text: Callable[[RunSummary], str]) -> None:
        self._repeat_text = repeat_text
        self.where = RunFilter()
        self.total = 0
        self._pass_counts: PassCounts = {}
        self._pages: dict[int, list[RunTableRow]] = {}
        self._positions: dict[RunId, int] = {}
        self._requested_pages: set[int] = set()

    def reset(self, where: RunFilter, total: int, counts: PassCounts | None = None) -> None:
        """Apply a filter, also the same one again; `counts` are given where cases have repeats."""
        self.where = where
        self.total = total
        self._pass_counts = counts or {}
        self._pages.clear()
        self._positions.clear()
        self._requested_pages.clear()

    def row(self, index: int) -> RunTableRow | None:
        """Return the row at a position; None if its page is not loaded."""
        page = self._pages.get(index // PAGE_SIZE)
        return page[index % PAGE_SIZE] if page is not None and index % PAGE_SIZE < len(page) else None

    def find(self, run_id: RunId) -> RunTableRow | None:
        """Return the row of a run; None if its page is not loaded."""
        place = self._positions.get(run_id)
        return None if place is None else self.row(place)

    def position(self, run_id: RunId) -> int | None:
        """Return the position of a run, or None if its page is not loaded."""
        return self._positions.get(run_id)

    def request_missing_pages(self, first: int, last: int) -> tuple[int, ...]:
        """Return the pages between two positions that are neither loaded nor requested yet."""
        last = min(last, self.total - 1)
        if last < first:
            return ()
        pages = range(first // PAGE_SIZE, last // PAGE_SIZE + 1)
        missing = tuple(page for page in pages if page not in self._pages and page not in self._requested_pages)
        self._requested_pages.update(missing)
        return missing

    def end_request(self, page: int) -> None:
        """Allow a page to be requested again, also after a failure."""
        self._requested_pages.discard(page)

    def put_page(self, page: int, runs: Sequence[RunSummary], outdated: ChangedTools = NO_CHANGED_TOOLS) -> LoadedPage:
        """Take a fetched page; the one fetched longest ago is given up where there are too many."""
        dropped = self._drop(next(iter(self._pages))) if len(self._pages) >= MAX_PAGES else range(0)
        rows = self._rows(runs, outdated)
        self._pages[page] = rows
        self._positions.update((item.id, page * PAGE_SIZE + offset) for offset, item in enumerate(rows))
        return LoadedPage(page * PAGE_SIZE, tuple(rows), dropped)

    def _rows(self, runs: Sequence[RunSummary], outdated: ChangedTools) -> list[RunTableRow]:
        """Return the rows of a page; ordered by case, repeats of one case stand below its first run."""
        rows: list[RunTableRow] = []
        above: RunSummary | None = None
        for run in runs:
            same = above is not None and (above.case_id, above.model) == (run.case_id, run.model)
            follows = same and self.where.order is RunOrder.CASE
            passed, judged = self._pass_counts.get((run.case_id, run.model), (0, 0))
            correct = f"{passed} of {judged}" if judged and not follows else ""
            repeat = self._repeat_text(run) if follows else ""
            rows.append(run_row(run, outdated.get(run.id, ()), repeat=repeat, correct=correct, follows=follows))
            above = run
        return rows

    def _drop(self, page: int) -> range:
        gone = self._pages.pop(page)
        for item in gone:
            self._positions.pop(item.id, None)
        return range(page * PAGE_SIZE, page * PAGE_SIZE + len(gone))

    def update_runs(self, runs: Sequence[RunSummary]) -> UpdatedRows:
        """Take runs as they now read: in place where they stand, at the end where they newly pass the filter."""
        changed: list[int] = []
        before = self.total
        passes = filter_predicate(self.where)
        for run in runs:
            place = self._positions.get(run.id)
            if place is not None:
                page, offset = self._pages[place // PAGE_SIZE], place % PAGE_SIZE
                old = page[offset]
                outdated = old.changed_tools if run.status is RunStatus.COMPLETED else ()
                page[offset] = run_row(run, outdated, repeat=old.repeat, correct=old.correct, follows=old.follows)
                changed.append(place)
            elif passes(run) and not passes(as_pending(run)):
                self._append(run)
        return UpdatedRows(changed=tuple(sorted(set(changed))), added=self.total - before)

    def _append(self, run: RunSummary) -> None:
        number, offset = divmod(self.total, PAGE_SIZE)
        if offset == 0:
            self._pages[number] = []
        page = self._pages.get(number)
        if page is not None and len(page) == offset:
            page.append(run_row(run))
            self._positions[run.id] = self.total
        self.total += 1


def as_pending(run: RunSummary) -> RunSummary:
    """Return the run as it was before it started: the table's count includes it if this passes the filter."""
    nothing: dict[str, Any] = dict.fromkeys(("classification", "kind", "selected", "selected_tool", "failure"))
    return replace(run, status=RunStatus.PENDING, unreadable=False, **nothing)
