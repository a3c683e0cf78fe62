"""Second judgement of finished runs by the current expectations of their cases and the current rules."""

import asyncio
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from mcp_tef.errors import InputError
from mcp_tef.events import EventStream, RejudgeProgressed, RunsChanged
from mcp_tef.model.cases import Expectation
from mcp_tef.model.comparison import AnsweredRun, Judgement, RejudgeReport, VerdictChange
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.json import canonical
from mcp_tef.model.runs import Arm
from mcp_tef.model.verdicts import PastVerdict, RejudgeReason, Verdict
from mcp_tef.ports import Store
from mcp_tef.scoring.judge import judge, rank_of_expected

CHUNK = 100


class RejudgeJob:
    """One go over some runs; what is done is stored chunk by chunk, so that stopping it loses nothing."""

    def __init__(self, store: Store, events: EventStream, under_way: Container[BatchId | None]) -> None:
        self._store = store
        self._events = events
        self._under_way = under_way
        self._expected: dict[CaseId, Expectation] = {}
        self._changes: list[VerdictChange] = []
        self._judged = 0
        self._without_answer = 0
        self._gone = 0

    async def work(self, ids: Sequence[RunId], by: str) -> RejudgeReport:
        """Judge the runs again; listeners receive its progress, and at the end the runs that changed.

        InputError where a run's batch is under way.
        """
        wanted = tuple(dict.fromkeys(ids))
        try:
            for start in range(0, len(wanted), CHUNK):
                await self._chunk(wanted[start : start + CHUNK])
                self._events.publish(RejudgeProgressed(min(start + CHUNK, len(wanted)), len(wanted)))
        finally:
            self._tell(by)
        return RejudgeReport(
            judged=self._judged, without_answer=self._without_answer, gone=self._gone, changes=tuple(self._changes)
        )

    async def _chunk(self, ids: Sequence[RunId]) -> None:
        there = await self._store.runs.batches_of(ids)
        if any(batch_id in self._under_way for batch_id in there.values()):
            raise InputError("A batch that is running cannot be judged again.", hint="Wait until it has ended.")
        runs = await self._store.runs.answered(ids)
        await self._look_up({run.case_id for run in runs})
        known = [run for run in runs if run.case_id in self._expected]
        self._gone += len(ids) - len(there) + len(runs) - len(known)
        self._without_answer += len(there) - len(runs)
        judgements = await asyncio.to_thread(lambda: tuple(_judgements(known, self._expected)))
        await asyncio.shield(self._store_chunk(judgements))
        self._judged += len(known)

    async def _look_up(self, cases: set[CaseId]) -> None:
        unknown = sorted(cases - self._expected.keys())
        found = await self._store.cases.select(ids=unknown) if unknown else ()
        self._expected |= {case.id: case.draft.expectation for case in found}

    async def _store_chunk(self, judgements: Sequence[Judgement]) -> None:
        if judgements:
            past = {judgement.run_id: judgement.past for judgement in judgements}
            changed = await self._store.runs.rejudge(judgements)
            self._changes += [VerdictChange(run, before) for run in changed if (before := past[run.id])]

    def _tell(self, by: str) -> None:
        if self._changes:
            self._events.publish(RunsChanged(runs=tuple(change.run for change in self._changes), by=by))


def _judgements(runs: Iterable[AnsweredRun], expectations: Mapping[CaseId, Expectation]) -> Iterator[Judgement]:
    moment = datetime.now(UTC)
    for run in runs:
        judgement = judged_again(run, _expected_by(run, expectations[run.case_id]), moment)
        if judgement is not None:
            yield judgement


def _expected_by(run: AnsweredRun, expectation: Expectation) -> Expectation:
    """Return what a run is judged by: a draft may have renamed every tool that its case expects."""
    offered = {one.tool.name for one in run.snapshot.tools}
    renamed = run.arm is Arm.DRAFT and expectation.tool_names and offered.isdisjoint(expectation.tool_names)
    return run.expectation if renamed else expectation


def judged_again(run: AnsweredRun, expectation: Expectation, moment: datetime) -> Judgement | None:
    """Return the verdict by an expectation and today's rules; None if both it and the expectation are as before."""
    tools = [offered.tool for offered in run.snapshot.tools]
    verdict = judge(expectation, tools, run.answer.calls, run.answer.confidence)
    expected_otherwise = expectation != run.expectation
    if not expected_otherwise and _judgement_of(verdict) == _judgement_of(run.verdict):
        return None
    reason = RejudgeReason.EXPECTATION_CHANGED if expected_otherwise else RejudgeReason.RULES_CHANGED
    return Judgement(
        run_id=run.id,
        verdict=verdict,
        expectation=expectation,
        expected_rank=rank_of_expected(expectation, run.answer.ranking, run.snapshot.tools),
        past=PastVerdict(verdict=run.verdict, expectation=run.expectation, replaced_at=moment, reason=reason),
    )


def _judgement_of(verdict: Verdict) -> str:
    """Return all of a verdict but its words."""
    parts = asdict(verdict) | {"explanation": ""}
    for match in parts["matches"]:
        for finding in match["findings"]:
            finding["sentence"] = ""
    return canonical(parts)
