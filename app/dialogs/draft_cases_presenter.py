"""State of the review of drafted cases: decisions with undo, and the calls of the core; knows no Qt."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from app.core_link.model_requests import CoreCall
from app.text.formatting import count
from mcp_tef import CaseId, DraftedCase, DraftedCases, Estimate, InputError, ModelSettings, ToolSource

if TYPE_CHECKING:
    from mcp_tef import DraftingPlan, Engine


class ReviewDecision(StrEnum):
    """Decision about a drafted case."""

    KEPT = "kept"
    DROPPED = "dropped"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class ReviewedDraft:
    """A drafted case, as edited, with the decision about it."""

    case: DraftedCase
    decision: ReviewDecision = ReviewDecision.LEFT
    problem: str = ""
    """The rule that an edited query breaks."""

    @property
    def query(self) -> str:
        """Text of the query."""
        return self.case.draft.query


class CaseReview:
    """Drafted cases by row id, in the order drafted, with every decision and edit undoable."""

    def __init__(self, with_query: Callable[[DraftedCase, str], tuple[DraftedCase, str]]) -> None:
        self.rows: dict[str, ReviewedDraft] = {}
        self._offered: dict[str, DraftedCase] = {}
        self._with_query = with_query
        self._past: list[dict[str, ReviewedDraft]] = []
        self._made = 0
        self._edited = ""

    def offer(self, drafts: Iterable[DraftedCase], known: Iterable[str] = ()) -> None:
        """Replace the undecided drafts by these; queries that are `known` or decided already are left out."""
        self.rows = {row: one for row, one in self.rows.items() if one.decision is not ReviewDecision.LEFT}
        there = {*known, *(one.query for one in self.rows.values())}
        for case in drafts:
            if case.draft.query not in there:
                self._made += 1
                there.add(case.draft.query)
                self.rows[str(self._made)] = ReviewedDraft(case)
                self._offered[str(self._made)] = case
        self._past, self._edited = [], ""

    def decide(self, rows: Sequence[str], decision: ReviewDecision) -> None:
        """Keep or drop cases, as one step; a case without a query, or whose edited query breaks a rule, is not kept."""
        kept = decision is ReviewDecision.KEPT
        able = [row for row in rows if row in self.rows and not (kept and self._is_unfit(self.rows[row]))]
        self._change({row: replace(self.rows[row], decision=decision) for row in able})
        self._edited = ""

    @staticmethod
    def _is_unfit(one: ReviewedDraft) -> bool:
        return bool(one.problem) or not one.query.strip()

    def edit(self, row: str, query: str) -> None:
        """Change a query, checked against the rules again; typing on in the same one is one step."""
        before = self.rows[row]
        case, problem = self._with_query(self._offered[row], query)
        decision = ReviewDecision.LEFT if problem else before.decision
        changed = {row: ReviewedDraft(case, decision, problem)}
        if self._edited == row:
            self.rows |= changed
        else:
            self._change(changed)
            self._edited = row

    def undo(self) -> str:
        """Undo the last step; return its first row, "" if there is no step."""
        if not self._past:
            return ""
        before = self._past.pop()
        self.rows |= before
        self._edited = ""
        return next(iter(before))

    def _change(self, changed: dict[str, ReviewedDraft]) -> None:
        before = {row: self.rows[row] for row, now in changed.items() if now != self.rows[row]}
        if before:
            self._past.append(before)
            self.rows |= changed

    def next_left(self, row: str) -> str:
        """Return the next undecided row after this one, from the top at the end; "" where none is left."""
        ids = list(self.rows)
        place = ids.index(row) + 1 if row in self.rows else 0
        left = (one for one in (*ids[place:], *ids[:place]) if self.rows[one].decision is ReviewDecision.LEFT)
        return next(left, "")

    def with_decision(self, decision: ReviewDecision) -> list[ReviewedDraft]:
        """Return the cases with a decision."""
        return [one for one in self.rows.values() if one.decision is decision]

    @property
    def can_undo(self) -> bool:
        """True if there is a step to undo."""
        return bool(self._past)

    @property
    def is_started(self) -> bool:
        """True if closing would lose a kept case or an edit."""
        return self.can_undo or bool(self.with_decision(ReviewDecision.KEPT))

    @property
    def counts_text(self) -> str:
        """The number of cases by decision: "12 kept, 3 dropped, 45 left"."""
        return ", ".join(f"{len(self.with_decision(decision)):,} {decision.value}" for decision in ReviewDecision)


class CaseDraftingPresenter:
    """Drafts cases for the tools of a server, for all of them if none is named, and adds those that were kept."""

    def __init__(self, call: CoreCall, tools: Sequence[str] = ()) -> None:
        self._call = call
        self._tools = tuple(tools)
        self._plan: DraftingPlan | None = None
        self._known: frozenset[str] = frozenset()
        self.review = CaseReview(lambda case, query: self._planned().with_query(case, query))

    async def draft(self, server: str) -> DraftedCases:
        """Offer and return the drafts that the definitions alone give; InputError where the tools cannot be read."""
        tools = self._tools
        self._plan = plan = await self._call(lambda core: _plan(core, server, tools))
        self._known = await self._call(_queries)
        found = await self._call(lambda core: core.case_drafting.draft(plan))
        self.review.offer(found.drafts, self._known)
        return found

    def tools(self) -> tuple[str, ...]:
        """Return the names of the tools that drafts are for."""
        return tuple(tool.name for tool, _ in self._plan.wanted) if self._plan else ()

    async def estimate(self, _tools: Sequence[str], model: ModelSettings) -> Estimate:
        """Estimate a request to a model."""
        plan = self._planned()
        return await self._call(lambda core: core.case_drafting.estimate(plan, model))

    async def ask(
        self,
        _tools: Sequence[str],
        model: ModelSettings,
        received: Callable[[DraftedCases], None],
        max_cost_usd: float | None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Let a model draft the cases, under a cost cap in US dollars; `progress` is called on the core's thread."""
        plan = self._planned()
        received(
            await self._call(
                lambda core: core.case_drafting.draft(plan, model=model, max_cost_usd=max_cost_usd, progress=progress)
            )
        )

    def take(self, found: DraftedCases) -> None:
        """Offer what a model drafted, unless it drafted nothing."""
        if any(one.tool for one in found.drafts):
            self.review.offer(found.drafts, self._known)

    async def add(self) -> tuple[CaseId, ...]:
        """Add the kept cases and return their ids."""
        drafts = [one.case.draft for one in self.review.with_decision(ReviewDecision.KEPT)]
        return tuple(case.id for case in await self._call(lambda core: core.cases.add(drafts)))

    async def remove(self, ids: Sequence[CaseId]) -> None:
        """Remove added cases again."""
        await self._call(lambda core: core.cases.remove(ids))

    async def restore(self, ids: Sequence[CaseId]) -> None:
        """Restore removed cases."""
        await self._call(lambda core: core.cases.restore(ids))

    def _planned(self) -> "DraftingPlan":
        if self._plan is None:
            raise InputError("The tools are not read yet.", hint="Try again in a moment.")
        return self._plan


async def _plan(core: "Engine", server: str, tools: Sequence[str]) -> "DraftingPlan":
    found = await core.tools.gather(ToolSource(names=(server,)), at_least=1)
    if not found.tools and found.unreachable:
        raise InputError(found.unreachable[0].reason, hint=found.unreachable[0].hint)
    return await core.case_drafting.plan(found, tools=tools)


async def _queries(core: "Engine") -> frozenset[str]:
    return frozenset(case.draft.query for case in await core.cases.list())


def refusals_text(found: DraftedCases) -> str:
    """Return what is missing: tools without drafts with the first reason, and requests that break rules."""
    failed = count(len(found.failures), "tool")
    refused = count(len(found.refused), "request")
    parts = [f"No drafts for {failed}: {found.failures[0][1].message}"] if found.failures else []
    parts += [f"{refused} left out, the first because: {found.refused[0].reason}"] if found.refused else []
    if found.left_out:
        tool, reason = found.left_out[0]
        parts.append(
            f"No drafts for {count(len(found.left_out), 'tool')}, such as {tool}: {reason} A model may do more."
        )
    return " ".join(parts)
