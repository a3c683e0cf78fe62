"""Cases of a trial: about the changed tools, those that must not change, and changes of both by hand; knows no Qt."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.text.formatting import count
from mcp_tef import (
    CaseId,
    CaseOutcome,
    DraftId,
    GuardOutcome,
    Prediction,
    ScopeReason,
    TestCase,
    TrialResult,
    TrialScope,
)

REASONS: Final = {
    ScopeReason.EXPECTS_CHANGED: "expects it",
    ScopeReason.SELECTED_CHANGED: "selected it",
    ScopeReason.NEAR_CHANGED: "look-alike",
    ScopeReason.RANKS_CHANGED: "ranks it high",
}
BY_HAND: Final = "added by you"
HELD_BACK: Final = "held back"
BROKEN, AGAIN, HELD, SAME = "broken", "asking again", "not broken", "no change"

Passes = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCaseRow:
    """One case of a trial; `original` and `draft` are passes and pairs of the arms, None before any answer.

    `said` describes a case that must not change, once it was asked. `ranks` are those of the expected tool in search,
    None where it is not offered.
    """

    id: CaseId
    name: str
    query: str
    reasons: tuple[str, ...] = ()
    ticked: bool = True
    original: tuple[int, int] | None = None
    draft: tuple[int, int] | None = None
    said: str = ""
    ranks: tuple[int | None, int | None] | None = None


@dataclass(slots=True)
class ListChanges:
    """Changes by hand of the lists of one draft; a `placed` case is about the tools if True, else a guard."""

    unticked: set[CaseId] = field(default_factory=set)
    placed: dict[CaseId, bool] = field(default_factory=dict)


class TrialCases:
    """The two lists of cases of the selected draft. Changes by hand are kept for each draft."""

    def __init__(self) -> None:
        self._changes: dict[DraftId, ListChanges] = {}
        self._now = ListChanges()
        self._known: Mapping[CaseId, TestCase] = {}
        self._scope: TrialScope | None = None

    def show(self, draft: DraftId, scope: TrialScope | None, known: Mapping[CaseId, TestCase]) -> None:
        """Take the cases of a draft, all known ones among them; without a change there is no scope."""
        self._now = self._changes.setdefault(draft, ListChanges())
        self._scope, self._known = scope, known

    # ------------------------------------------------------------ the lists

    def affected(self) -> dict[CaseId, tuple[str, ...]]:
        """Return the cases about the changed tools, each with its reasons."""
        placed = self._placed()
        found = {
            case_id: tuple(REASONS[one] for one in reasons)
            for case_id, reasons in (self._scope.affected.items() if self._scope else ())
            if placed.get(case_id, True)
        }
        return found | {one: (BY_HAND,) for one, about in placed.items() if about and one not in found}

    def guards(self) -> tuple[CaseId, ...]:
        """Return the cases that must not change."""
        placed = self._placed()
        found = [one for one in (self._scope.guards if self._scope else ()) if not placed.get(one, False)]
        return tuple(dict.fromkeys([*found, *(one for one, about in placed.items() if not about)]))

    def _placed(self) -> dict[CaseId, bool]:
        return {one: about for one, about in self._now.placed.items() if one in self._known}

    def ticked(self) -> tuple[tuple[CaseId, ...], tuple[CaseId, ...]]:
        """Return the ticked cases of both lists."""
        lists = (tuple(self.affected()), self.guards())
        cases, guards = (tuple(one for one in ids if one not in self._now.unticked) for ids in lists)
        return cases, guards

    def held_back(self) -> int:
        """Return how many of the ticked cases about the tools are held back from the editor of drafts."""
        return sum(self._known[one].draft.held_back for one in self.ticked()[0] if one in self._known)

    def others(self, server: str | None, *, about: bool) -> list[tuple[TestCase, str]]:
        """Return the cases that one list does not hold, and the other may; those that offer the tools of a server."""
        lists = (set(self.guards()), set(self.affected()))
        found = [
            (case, ("about the tools", "must not change")[about] if case.id in lists[not about] else "")
            for case in self._known.values()
            if case.id not in lists[about] and (server is None or server in case.draft.servers)
        ]
        return sorted(found, key=lambda one: bool(one[1]))

    # ------------------------------------------------------------ changes by hand

    def tick(self, ids: Collection[str], shown: Collection[str]) -> None:
        """Take the ticked ones of the shown cases into the trial."""
        left_out = {CaseId(one) for one in shown if one not in ids}
        self._now.unticked = (self._now.unticked - set(map(CaseId, shown))) | left_out

    def place(self, ids: Collection[str], *, about: bool) -> None:
        """Put cases into the list about the tools, or into that of cases that must not change."""
        self._now.placed |= dict.fromkeys(map(CaseId, ids), about)
        self._now.unticked -= set(map(CaseId, ids))

    # ------------------------------------------------------------ rows

    def rows(self, results: Sequence[TrialResult]) -> tuple[TrialCaseRow, ...]:
        """Return the cases about the changed tools, worse ones first, then fixed ones; passes are over all models."""
        asked = _passes(outcome for result in results for outcome in result.outcomes)
        return tuple(
            sorted(
                (
                    replace(_answered(self._row(case_id), asked.get(case_id)), reasons=reasons)
                    for case_id, reasons in self.affected().items()
                ),
                key=_change,
            )
        )

    def guard_rows(self, results: Sequence[TrialResult]) -> tuple[TrialCaseRow, ...]:
        """Return the cases that must not change, broken and doubtful ones first."""
        asked = _passes(outcome for result in results for outcome in result.guard_outcomes)
        again = _guard_outcomes(results)
        rows = [self._guard_row(case_id, asked.get(case_id), again.get(case_id)) for case_id in self.guards()]
        return tuple(sorted(rows, key=lambda row: (BROKEN, AGAIN, HELD, SAME, "").index(row.said)))

    def _guard_row(self, case_id: CaseId, asked: Passes | None, again: GuardOutcome | None) -> TrialCaseRow:
        """Return one case that must not change; where it was asked afresh, with those answers only."""
        row = _answered(self._row(case_id), asked)
        if again is None:
            return replace(row, said=(SAME if row.original == row.draft else HELD) if asked else "")
        if not again.original[1]:
            return replace(row, said=BROKEN if again.broken else AGAIN)
        return replace(row, original=again.original, draft=again.draft, said=BROKEN if again.broken else HELD)

    def _row(self, case_id: CaseId) -> TrialCaseRow:
        case = self._known.get(case_id)
        name, query = shown_texts(case) if case else ("This case was removed", "")
        return TrialCaseRow(id=case_id, name=name, query=query, ticked=case_id not in self._now.unticked)

    def size_text(self) -> str:
        """Return how many cases are asked: "34 of 210 cases"."""
        total = self._scope.total if self._scope else len(self._known)
        return f"{len(self.ticked()[0]):,} of {count(total, 'case')}"


def shown_texts(case: TestCase) -> tuple[str, str]:
    """Return name and query of a case; those of one that is held back stay hidden where drafts are edited."""
    return (HELD_BACK, HELD_BACK) if case.draft.held_back else (case.name, case.draft.query)


def _passes(outcomes: Iterable[CaseOutcome]) -> dict[CaseId, Passes]:
    """Return passes of original and draft, and pairs, of each case that was asked; over all models."""
    found: dict[CaseId, Passes] = {}
    for one in outcomes:
        if one.pairs:
            before, after, pairs = found.get(one.case_id, (0, 0, 0))
            found[one.case_id] = before + one.original, after + one.draft, pairs + one.pairs
    return found


def _answered(row: TrialCaseRow, found: Passes | None) -> TrialCaseRow:
    return row if found is None else replace(row, original=(found[0], found[2]), draft=(found[1], found[2]))


def guards_count_text(rows: Sequence[TrialCaseRow]) -> str:
    """Return how many cases must not change, how many of them were asked so far, and how many broke."""
    said = [row.said for row in rows if row.said]
    number = count(sum(row.ticked for row in rows), "case")
    if not said:
        return number
    asked = f"{len(said):,} asked, " if len(said) < sum(row.ticked for row in rows) else ""
    return f"{number} · {asked}{said.count(BROKEN):,} broken" if BROKEN in said else f"{number} · {asked}none broken"


def with_ranks(rows: Iterable[TrialCaseRow], prediction: Prediction | None) -> list[TrialCaseRow]:
    """Return the rows with the predicted ranks of their expected tools."""
    ranks = {one.case_id: (one.rank_before, one.rank_after) for one in prediction.cases} if prediction else {}
    return [replace(row, ranks=ranks.get(row.id)) for row in rows]


def _guard_outcomes(results: Sequence[TrialResult]) -> dict[CaseId, GuardOutcome]:
    """Return the outcome of each guard that was asked again; of several models that in which it broke."""
    found: dict[CaseId, GuardOutcome] = {}
    for one in (outcome for result in results for outcome in result.claims.guards):
        if one.case_id not in found or one.broken:
            found[one.case_id] = one
    return found


def _change(row: TrialCaseRow) -> int:
    """Return the place of a row: worse first, then fixed, then those without a difference."""
    before, after = (row.original or (0, 0))[0], (row.draft or (0, 0))[0]
    return 0 if after < before else 1 if after > before else 2
