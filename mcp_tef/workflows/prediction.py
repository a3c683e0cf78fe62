"""Predictions for a draft by rules and the offline baseline, and the cases that a trial of it is about."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from mcp_tef.events import (
    BatchEnded,
    BatchesChanged,
    BatchStarted,
    CasesChanged,
    RunsChanged,
    ServersChanged,
    ServerStateChanged,
)
from mcp_tef.model.cases import case_renamed
from mcp_tef.model.drafts import INSTRUCTIONS, name_of
from mcp_tef.model.prediction import DirectionRecord, Prediction, RankedCase, ScopeReason, ToolPrediction, TrialScope
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.tools import ToolLabel
from mcp_tef.scoring.lint.linter import lint_instructions
from mcp_tef.workflows.prediction_arms import ranked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from mcp_tef.events import Event, EventStream
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.drafts import Draft, ToolRevision
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.quality import LintFinding
    from mcp_tef.model.tools import Tool
    from mcp_tef.ports import CaseStore, RunStore, ServerStore
    from mcp_tef.workflows.drafts import Drafts
    from mcp_tef.workflows.prediction_arms import Others, PredictionArm, PredictionArms, ScoredTools

CLOSEST_SHARE = 0.1
FIRST_RANKS = 3
USUAL_GUARDS = 20


class StoredInputs:
    """Cases and last listings of a workspace, read again after they changed: reading 500 cases takes 40 ms."""

    def __init__(self, servers: ServerStore, cases: CaseStore, events: EventStream) -> None:
        self._servers = servers
        self._cases = cases
        self._changes = 0
        self._all: tuple[int, tuple[TestCase, ...]] | None = None
        self._listed: dict[str, tuple[int, tuple[Tool, ...] | None]] = {}
        self._record: DirectionRecord | None = None
        self.directions: Callable[[], Awaitable[DirectionRecord]] | None = None
        events.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        if isinstance(event, (CasesChanged, ServersChanged, ServerStateChanged)):
            self._changes += 1
        if isinstance(event, (BatchStarted, BatchEnded, BatchesChanged, RunsChanged)):
            self._record = None

    async def record(self) -> DirectionRecord:
        """Return how often predictions of trials were right; trials are read again after one of them has ended."""
        if self._record is None and self.directions:
            self._record = await self.directions()
        return self._record or DirectionRecord()

    async def cases(self, suites: Sequence[str] = ()) -> tuple[TestCase, ...]:
        """Return the cases of some suites, or all."""
        if suites:
            return await self._cases.select(suites=suites)
        if self._all is None or self._all[0] != self._changes:
            changes = self._changes
            self._all = changes, await self._cases.select()
        return self._all[1]

    async def tools(self, server: str) -> tuple[Tool, ...] | None:
        """Return the last listing of a server; None where there is none."""
        if server not in self._listed or self._listed[server][0] != self._changes:
            changes = self._changes
            found = next((one.id for one in await self._servers.all() if one.name == server), None)
            listing = None if found is None else await self._servers.listing(found)
            self._listed[server] = changes, listing.tools if listing else None
        return self._listed[server][1]


class Predictions:
    """Predicts effects of drafts. No model is asked; a newer prediction cancels an older one."""

    def __init__(self, drafts: Drafts, inputs: StoredInputs, runs: RunStore, arms: PredictionArms) -> None:
        self._drafts = drafts
        self._inputs = inputs
        self._runs = runs
        self._arms = arms
        self._current: asyncio.Task[Prediction | None] | None = None

    async def predict(self, draft: Draft) -> Prediction | None:
        """Predict the effects of a draft; None where a newer call came before this one was done."""
        if self._current is not None:
            self._current.cancel()
        self._current = task = asyncio.create_task(self._predict(draft))
        try:
            return await task
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if task is self._current or (caller and caller.cancelling()):
                raise
            return None

    async def _predict(self, draft: Draft) -> Prediction:
        cases = await self._cases_of(draft)
        before, after = await self._both(draft)
        changed = [each for each in draft.revisions if each.name != INSTRUCTIONS]
        tools = await asyncio.to_thread(lambda: tuple(_tool(each, before, after) for each in changed))
        return Prediction(
            tools=(*tools, *await self._instructions(draft)),
            set_tokens_before=sum(before.tokens.values()),
            set_tokens_after=sum(after.tokens.values()),
            cases=await self._ranked(draft, cases, before, after),
            record=await self._inputs.record(),
        )

    async def _instructions(self, draft: Draft) -> tuple[ToolPrediction, ...]:
        """Return what changes with the server's instructions, nothing where they stay; search does not read them."""
        texts = (draft.instructions_states[0], draft.instructions)
        if texts[0] == texts[1]:
            return ()
        tokens = await self._arms.text_tokens(texts)
        return (_changed(INSTRUCTIONS, [lint_instructions(text) for text in texts], tokens),)

    async def direction(self, draft: Draft, cases: Collection[CaseId]) -> int:
        """Return 1 where the baseline passes more of some cases with the draft, −1 where it passes fewer, else 0."""
        before, after = await self._both(draft)
        found = await self._ranked(draft, await self._cases_of(draft), before, after)
        gained = sum(one.passed_after - one.passed_before for one in found if one.case_id in cases)
        return (gained > 0) - (gained < 0)

    async def scope(
        self,
        draft: Draft,
        guards: int = USUAL_GUARDS,
        *,
        suites: Sequence[str] = (),
        seed: int = 0,
        among: Collection[CaseId] | None = None,
    ) -> TrialScope:
        """Return the cases that a draft affects, each with its reasons, and guards among the others.

        `seed` draws the guards. Where `among` is given, no other case counts.
        """
        cases = [case for case in await self._cases_of(draft, suites) if among is None or case.id in among]
        before, after = await self._both(draft)
        reasons = await self._reasons(draft, cases, before, after)
        affected, tightened = _tightened(reasons, len(cases))
        rest = [case for case in cases if case.id not in affected]
        return TrialScope(
            affected=affected, guards=_guards(rest, guards, seed), total=len(cases), tightened=tuple(tightened)
        )

    async def _cases_of(self, draft: Draft, suites: Sequence[str] = ()) -> list[TestCase]:
        """Return the cases of the draft's server; of a tools file all that expect one of its tools, or none."""
        cases = await self._inputs.cases(suites)
        if draft.server is not None:
            return [case for case in cases if draft.server in case.draft.servers]
        names = {name_of(raw) for raw in (*draft.base, *draft.tools)}
        return [case for case in cases if not (found := case.draft.expectation.tool_names) or found & names]

    async def _both(self, draft: Draft) -> tuple[PredictionArm, PredictionArm]:
        original, changed = await self._drafts.arms(draft)
        return await self._arms.of(original), await self._arms.of(changed)

    async def _scores(self, draft: Draft, arm: PredictionArm, cases: Sequence[TestCase]) -> ScoredTools:
        return await self._arms.scores(arm, cases, await self._others(draft, cases))

    async def _others(self, draft: Draft, cases: Sequence[TestCase]) -> Others:
        """Return the last listings of the cases' other servers; a draft of a tools file stands for all of them."""
        if draft.server is None:
            return {}
        names = dict.fromkeys(name for case in cases for name in case.draft.servers if name != draft.server)
        return {name: tools for name in names if (tools := await self._inputs.tools(name)) is not None}

    async def _ranked(
        self, draft: Draft, cases: Sequence[TestCase], before: PredictionArm, after: PredictionArm
    ) -> tuple[RankedCase, ...]:
        if not cases or not before.tools or not after.tools:
            return ()
        renames = draft.renames
        renamed = [case_renamed(case, renames, draft.server) for case in cases] if renames else cases
        ranks = [await self._ranks(draft, before, cases), await self._ranks(draft, after, renamed)]
        return tuple(
            RankedCase(
                case_id=case.id, rank_before=old[0], rank_after=new[0], passed_before=old[1], passed_after=new[1]
            )
            for case, old, new in zip(cases, *ranks, strict=True)
        )

    async def _ranks(
        self, draft: Draft, arm: PredictionArm, cases: Sequence[TestCase]
    ) -> Sequence[tuple[int | None, bool]]:
        """Return ranks and passes of an arm; those of the same cases are known, so that the original is ranked once."""
        scored = await self._scores(draft, arm, cases)
        if arm.ranks is None or arm.ranks[0] is not scored or arm.ranks[1] != cases:
            arm.ranks = scored, cases, await asyncio.to_thread(ranked, scored, cases)
        return arm.ranks[2]

    async def _reasons(
        self, draft: Draft, cases: Sequence[TestCase], before: PredictionArm, after: PredictionArm
    ) -> dict[CaseId, set[ScopeReason]]:
        reasons: defaultdict[CaseId, set[ScopeReason]] = defaultdict(set)
        changed = _changed_names(draft)
        near = await asyncio.to_thread(_near, changed, (before, after))
        selecting = await self._selecting(draft, changed)
        first = [
            await self._ranking_first(draft, arm, cases, changed) for arm in (before, after) if arm.tools and cases
        ]
        for case in cases:
            expected = _expected(case, draft)
            holds = {
                ScopeReason.EXPECTS_CHANGED: bool(expected & changed),
                ScopeReason.SELECTED_CHANGED: case.id in selecting,
                ScopeReason.NEAR_CHANGED: bool(expected & near),
                ScopeReason.RANKS_CHANGED: any(case.id in ids for ids in first),
            }
            found = {reason for reason, held in holds.items() if held}
            if found:
                reasons[case.id] = found
        return reasons

    async def _selecting(self, draft: Draft, changed: set[str]) -> set[CaseId]:
        """Return the cases whose stored runs ever selected a changed tool."""
        found: set[CaseId] = set()
        for name in changed:
            wanted = RunFilter(selected=ToolLabel(tool=name, server=draft.server))
            found |= {run.case_id for run in await self._runs.runs(wanted)}
        return found

    async def _ranking_first(
        self, draft: Draft, arm: PredictionArm, cases: Sequence[TestCase], changed: set[str]
    ) -> set[CaseId]:
        places = {arm.places[name] for name in changed & arm.places.keys()}
        scores = (await self._scores(draft, arm, cases)).found.scores
        first = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST_RANKS]
        return {case.id for case, row in zip(cases, first.tolist(), strict=True) if places & set(row)}


def _changed_names(draft: Draft) -> set[str]:
    """Return the names of the tools that a draft changes, before and after; new instructions are about every tool."""
    names = {name_of(raw or {}) for one in draft.revisions for raw in (one.before, one.after)} - {""}
    return names if INSTRUCTIONS not in names else {name_of(raw) for raw in (*draft.base, *draft.tools)} - {""}


def _expected(case: TestCase, draft: Draft) -> set[str]:
    """Return the names of the expected tools of the draft's server; a call that names no server may be any."""
    calls = [call for calls in case.draft.expectation.alternatives for call in calls]
    return {call.tool for call in calls if None in (call.server, draft.server) or call.server == draft.server}


def _tool(revision: ToolRevision, before: PredictionArm, after: PredictionArm) -> ToolPrediction:
    old, new = name_of(revision.before or {}), name_of(revision.after or {})
    tokens = (before.tokens.get(old, 0), after.tokens.get(new, 0))
    found = _changed(revision.name, (before.findings(old), after.findings(new)), tokens)
    return replace(found, neighbours_before=before.neighbours(old), neighbours_after=after.neighbours(new))


def _changed(name: str, findings: Sequence[Sequence[LintFinding]], tokens: Sequence[int]) -> ToolPrediction:
    """Return what changes with a text, from its findings and tokens before and after."""
    was, now = findings
    known, left = ({(one.rule.id, one.place) for one in side} for side in findings)
    return ToolPrediction(
        name=name,
        findings_gone=tuple(one for one in was if (one.rule.id, one.place) not in left),
        findings_new=tuple(one for one in now if (one.rule.id, one.place) not in known),
        tokens_before=tokens[0],
        tokens_after=tokens[1],
    )


def _near(changed: set[str], arms: Sequence[PredictionArm]) -> set[str]:
    """Return the tools among the five nearest of a changed one that are in the closest tenth of all pairs."""
    found: set[str] = set()
    for arm in arms:
        if len(arm.tools) < 2:
            continue
        for name in changed:
            nearest = arm.neighbours(name)
            ranks = arm.similarity.percentiles(np.array([one.similarity for one in nearest], dtype=np.float32))
            found |= {one.tool for one, rank in zip(nearest, ranks, strict=True) if rank >= 1 - CLOSEST_SHARE}
    return found - changed


def _tightened(
    reasons: Mapping[CaseId, set[ScopeReason]], total: int
) -> tuple[dict[CaseId, tuple[ScopeReason, ...]], list[ScopeReason]]:
    """Leave out reasons, the weakest first, while more than half of all cases would be affected."""
    allowed = list(ScopeReason)
    tightened: list[ScopeReason] = []
    while True:
        affected = {
            case: kept for case, found in reasons.items() if (kept := tuple(one for one in allowed if one in found))
        }
        if 2 * len(affected) <= total or len(allowed) == 1:
            return affected, tightened
        tightened.append(allowed.pop())


def _guards(cases: Sequence[TestCase], wanted: int, seed: int) -> tuple[CaseId, ...]:
    """Return a sample in turns over the expected tools, so that each other tool has one where the number allows."""
    random = Random(seed)  # noqa: S311  # a sample that is the same every time, not a secret
    strata: defaultdict[str, list[CaseId]] = defaultdict(list)
    for case in cases:
        strata[min(case.draft.expectation.tool_names, default="")].append(case.id)
    queues = [strata[name] for name in sorted(strata)]
    for queue in queues:
        random.shuffle(queue)
    random.shuffle(queues)
    chosen: list[CaseId] = []
    while len(chosen) < wanted and any(queues):
        chosen += [queue.pop() for queue in queues if queue][: wanted - len(chosen)]
    return tuple(chosen)
