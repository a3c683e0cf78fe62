"""The table of runs as pages that are fetched when they are looked at, and mended in place while a batch runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

from app.screens.runs.rows import Row, admits, row
from mcp_tef import RunFilter, RunId, RunStatus, RunSummary

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
