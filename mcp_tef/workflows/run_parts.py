"""A batch whose cases were shared among several machines: which cases are whose, and one batch of their runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from mcp_tef.errors import ConflictError, InputError
from mcp_tef.events import BatchEnded, CasesChanged, EventStream, ServersChanged
from mcp_tef.model.cases import CaseDraft, TestCase, expectation_to_json, messages_to_json
from mcp_tef.model.ids import SnapshotId
from mcp_tef.model.json import canonical
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Batch, BatchRequest, BatchStatus, PlannedRun, RunDetail, RunResult
from mcp_tef.model.servers import Server
from mcp_tef.model.tools import Listing
from mcp_tef.ports import CheckResult, KnownRuns, Store
from mcp_tef.workflows.name_search import find_batch

T = TypeVar("T")
MOST_PARTS = 1000
_PART = re.compile(r"(?P<name>.*?)(?: · )?part (?P<number>\d+)/(?P<whole>\d+)")
_RunKey = tuple[str, str, int]


def part_of(items: Sequence[T], number: int, whole: int) -> list[T]:
    """Return every `whole`-th item from the one at `number`, which counts from 1. InputError.

    Cases are shared whole, since the agreement of a case's repeats is a figure of all of them.
    """
    if not 1 <= number <= whole <= MOST_PARTS:
        raise InputError(
            f"{number}/{whole} is not a part of a run.", hint="Number the parts from 1, such as 1/4 to 4/4."
        )
    found = list(items[number - 1 :: whole])
    if items and not found:
        raise InputError(f"Part {number}/{whole} has no test case.", hint=f"Use at most {len(items)} parts.")
    return found


def part_name(name: str, number: int, whole: int) -> str:
    """Return the name of a part's batch, from which a merge knows whether all parts are there."""
    return " · ".join(filter(None, (name, f"part {number}/{whole}")))


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPart:
    """A batch of one workspace with all that its runs need; `place` names the workspace in errors."""

    place: str
    request: BatchRequest
    cases: tuple[TestCase, ...]
    servers: tuple[tuple[Server, Listing | None], ...]
    runs: tuple[RunDetail, ...]


class RunParts:
    """Reads batches as parts, and merges parts into one batch."""

    def __init__(self, store: Store, events: EventStream) -> None:
        self._store = store
        self._events = events

    async def read(self, batch: str, place: str) -> BatchPart:
        """Return the named batch of this workspace. NotFoundError, InputError for a trial or crowd test."""
        store = self._store
        found = find_batch(await store.runs.batches(), batch)
        if found.trial is not None:
            raise InputError(
                f"{found.name or found.id} in {place} is a trial or a crowd test, which plans its runs as it goes.",
                hint="Only batches of `run` can be merged.",
            )
        cases = await store.cases.all()
        used = {name for case in cases for name in case.draft.servers}
        servers = [server for server in await store.servers.all() if server.spec.name in used]
        runs = await store.runs.runs(RunFilter(batch_id=found.id))
        return BatchPart(
            place=place,
            request=await store.runs.request(found.id),
            cases=cases,
            servers=tuple([(server, await store.servers.listing(server.id)) for server in servers]),
            runs=tuple([await store.runs.detail(run.id) for run in runs]),
        )

    async def merged_before(self, parts: Sequence[BatchPart]) -> Batch | None:
        """Return the batch that holds all runs of the parts already; None where it holds none of them.

        A run keeps its id when it is merged. ConflictError where some of the runs are here, as when a part is in this
        workspace itself: they would count twice.
        """
        ended = {detail.summary.id: part.place for part in parts for detail in part.runs if _has_ended(detail)}
        here = await self._store.runs.summaries(list(ended))
        batches = {run.batch_id for run in here.values() if run.batch_id}
        if len(here) == len(ended) and len(batches) == 1:
            return await self._store.runs.batch(batches.pop())
        if here:
            place = ended[next(iter(here))]
            raise ConflictError(
                f"Runs of {place} are in this workspace already, and would count twice.",
                hint="Merge the parts into another workspace, or remove the batch that holds these runs first.",
            )
        return None

    async def merge(self, parts: Sequence[BatchPart], name: str = "") -> Batch:
        """Store one batch with the runs of all parts; servers and cases that are missing here are added.

        Runs that no part has finished are left to do, so that the batch can be resumed. Parts that were merged before
        are the batch that holds them. InputError where a part is missing, parts differ in their cases, models or
        repeats, or two of them hold the same run. Nothing is stored then, nor where it is ended half way.
        """
        request, found = _common_request(parts), _runs(parts)
        async with self._store.together():
            if (before := await self.merged_before(parts)) is not None:
                return before
            merged = await self._merged(request, found, parts, name)
        self._events.publish(BatchEnded(merged))
        return merged

    async def _merged(
        self, request: BatchRequest, found: Mapping[_RunKey, RunDetail], parts: Sequence[BatchPart], name: str
    ) -> Batch:
        await self._add_servers(parts)
        asked = {case for case, _, _ in found}
        cases = await self._cases([case.draft for case in parts[0].cases if _case_key(case.draft) in asked])
        request = replace(
            request, name=name or request.name, cases=tuple(case.id for case in cases), suites=(), tags=()
        )
        batch, planned = await self._store.runs.create_batch(request, cases, _known(request, cases, found))
        done = _ended(planned, cases, found)
        known: dict[SnapshotId, SnapshotId] = {}
        await self._store.runs.finish([await self._result(run, detail, known) for run, detail in done])
        status = BatchStatus.COMPLETED if len(done) == len(planned) else BatchStatus.INTERRUPTED
        return await self._store.runs.set_batch_status(batch.id, status)

    async def _cases(self, wanted: Sequence[CaseDraft]) -> list[TestCase]:
        """Return the cases of this workspace that are the wanted ones, after adding those that are missing."""
        own = {_case_key(case.draft): case for case in await self._store.cases.all()}
        added = await self._store.cases.add([draft for draft in wanted if _case_key(draft) not in own])
        self._events.publish(CasesChanged(tuple(case.id for case in added)))
        own |= {_case_key(case.draft): case for case in added}
        return [own[_case_key(draft)] for draft in wanted]

    async def _add_servers(self, parts: Sequence[BatchPart]) -> None:
        here = {server.spec.name for server in await self._store.servers.all()}
        for server, listing in (one for part in parts for one in part.servers):
            if server.spec.name in here:
                continue
            here.add(server.spec.name)
            added = await self._store.servers.add(server.spec)
            if listing is not None:
                await self._store.servers.record_check(added.id, CheckResult(listing=listing))
            self._events.publish(ServersChanged((added.id,)))

    async def _result(self, run: PlannedRun, detail: RunDetail, known: dict[SnapshotId, SnapshotId]) -> RunResult:
        """Return what a part kept of a run; `known` are snapshots that were taken over already, by their ids there."""
        there = detail.snapshot
        if there is not None and there.id not in known:
            strangers = {one.tool.server for one in there.tools}
            known[there.id] = await self._store.runs.save_snapshot(there.tools, run.id, strangers)
        return RunResult(
            run_id=run.id,
            status=detail.summary.status,
            snapshot_id=known[there.id] if there else None,
            answer=detail.answer,
            verdict=detail.verdict,
            failure=detail.summary.failure,
            execution_time_ms=detail.summary.execution_time_ms,
            expected_rank=detail.summary.expected_rank,
            attempts=detail.attempts,
        )


def _ended(
    planned: Sequence[PlannedRun], cases: Sequence[TestCase], found: Mapping[_RunKey, RunDetail]
) -> list[tuple[PlannedRun, RunDetail]]:
    """Return the planned runs that a part ended, with what it kept; a resumed batch would do the others."""
    keys = {case.id: _case_key(case.draft) for case in cases}
    pairs = ((run, found.get((keys[run.case_id], run.settings.asked, run.repeat))) for run in planned)
    return [(run, detail) for run, detail in pairs if detail and _has_ended(detail)]


def _known(request: BatchRequest, cases: Sequence[TestCase], found: Mapping[_RunKey, RunDetail]) -> KnownRuns:
    """Return the ids of the runs that a part ended."""
    keys = product(cases, request.models, range(request.repeats))
    details = (
        ((case.id, model, repeat), found.get((_case_key(case.draft), model.asked, repeat)))
        for case, model, repeat in keys
    )
    return {key: detail.summary.id for key, detail in details if detail and _has_ended(detail)}


def _has_ended(detail: RunDetail) -> bool:
    """Return True for a run with a verdict, or one that failed by itself."""
    return detail.verdict is not None or (detail.summary.failure is not None and not detail.summary.interrupted)


def _common_request(parts: Sequence[BatchPart]) -> BatchRequest:
    """Return what the parts were asked to do, under the name that they share. InputError."""
    if not parts:
        raise InputError("There is no part to merge.", hint="Name the workspaces of the parts.")
    first, labels = parts[0], [_PART.fullmatch(part.request.name) for part in parts]
    for part in parts[1:]:
        if (part.request.models, part.request.repeats) != (first.request.models, first.request.repeats):
            raise InputError(
                f"{part.place} asked other models, or other repeats, than {first.place}.",
                hint="Run every part with the same options.",
            )
        if _case_keys(part) != _case_keys(first):
            raise InputError(
                f"{part.place} does not have the same test cases as {first.place}.",
                hint="Import the same case file into the workspace of every part.",
            )
    _require_all([(int(label["number"]), int(label["whole"])) for label in labels if label])
    return replace(first.request, name=labels[0]["name"] if labels[0] else first.request.name)


def _require_all(numbers: Sequence[tuple[int, int]]) -> None:
    """Raise InputError where a part is missing whose number is known from the names of the others."""
    wanted = {(number, whole) for _, whole in numbers for number in range(1, min(whole, MOST_PARTS) + 1)}
    if absent := sorted(wanted - set(numbers)):
        few = ", ".join(f"{number}/{whole}" for number, whole in absent[:10])
        raise InputError(f"Parts are missing: {few}.", hint="Name the workspaces of all parts.")


def _runs(parts: Sequence[BatchPart]) -> dict[_RunKey, RunDetail]:
    """Return every run by case, model and repeat. ConflictError where two parts hold the same one."""
    found: dict[_RunKey, RunDetail] = {}
    for part in parts:
        cases = {case.id: _case_key(case.draft) for case in part.cases}
        for run in part.runs:
            if (case := cases.get(run.summary.case_id)) is None:
                continue
            key = case, run.settings.asked, run.summary.repeat
            if key in found:
                raise ConflictError(
                    f"A run of “{run.summary.case_name}” is in {part.place} and in another part.",
                    hint="Name each part once.",
                )
            found[key] = run
    return found


def _case_keys(part: BatchPart) -> list[str]:
    return sorted(_case_key(case.draft) for case in part.cases)


def _case_key(draft: CaseDraft) -> str:
    """Return what makes a case the same in two workspaces: its name, and all that is sent and expected."""
    expected, before = expectation_to_json(draft.expectation), messages_to_json(draft.before)
    return canonical([draft.name, draft.query, expected, list(draft.servers), before])
