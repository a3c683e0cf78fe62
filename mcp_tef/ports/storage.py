"""Ports for a workspace file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcp_tef.ports.writes import NOTHING_SEEN, ignore_progress

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp_tef.model.answers import AnsweringModel
    from mcp_tef.model.batch_plans import PlannedCase
    from mcp_tef.model.cases import CaseDraft, TestCase
    from mcp_tef.model.comparison import AnsweredRun, Judgement, PairableRun
    from mcp_tef.model.drafts import Draft, DraftStep
    from mcp_tef.model.ids import BatchId, CaseId, DraftId, RunId, ServerId, SnapshotId, ToolCallId
    from mcp_tef.model.json import Json
    from mcp_tef.model.metrics import FilterChoices
    from mcp_tef.model.run_filter import RunFilter
    from mcp_tef.model.runs import (
        Batch,
        BatchRequest,
        BatchStatus,
        PlannedRun,
        RunDetail,
        RunResult,
        RunSummary,
    )
    from mcp_tef.model.servers import Server, ServerSpec
    from mcp_tef.model.tool_calls import ToolCall
    from mcp_tef.model.tools import Listing, OfferedTool
    from mcp_tef.ports.library_storage import DefinitionStore, LibraryStore
    from mcp_tef.ports.servers import ContactStore
    from mcp_tef.ports.writes import KnownRuns, ProgressStep
    from mcp_tef.statistics.history import History
    from mcp_tef.trust.consents import Consent


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """Result of one connectivity check: a listing, or an error."""

    listing: Listing | None = None
    reason: str | None = None
    hint: str | None = None
    exit_code: int | None = None
    stderr_tail: str | None = None


class ServerStore(Protocol):
    """Servers on disk. Names are unique (ConflictError); unknown ids raise NotFoundError."""

    async def add(self, spec: ServerSpec) -> Server: ...
    async def update(self, server_id: ServerId, spec: ServerSpec, seen: ServerSpec | None = None) -> Server:
        """Change the fields that differ from what was seen; ChangedMeanwhileError where they changed since."""
        ...

    async def apply(
        self,
        added: Sequence[ServerSpec],
        changed: Mapping[ServerId, ServerSpec],
        *,
        seen: Mapping[ServerId, ServerSpec] = NOTHING_SEEN,
        step: ProgressStep = ignore_progress,
    ) -> tuple[Server, ...]:
        """Add and change imported servers, all or nothing; the added ones, then the changed ones.

        `step` hears, maybe on another thread, how many of how many are done; what it raises takes all of it back.
        """
        ...

    async def get(self, server_id: ServerId) -> Server: ...
    async def find(self, name: str) -> Server: ...
    async def all(self) -> tuple[Server, ...]: ...
    async def remove(self, ids: Sequence[ServerId]) -> None: ...
    async def restore(self, ids: Sequence[ServerId]) -> None: ...
    async def record_check(self, server_id: ServerId, result: CheckResult) -> Server: ...
    async def listing(self, server_id: ServerId) -> Listing | None: ...
    async def accepted_listing(self, server_id: ServerId) -> Listing | None:
        """Return the tools as the user last saw them, where the server lists something else now."""
        ...

    async def accept_listing(self, server_id: ServerId, listing: Listing) -> bool:
        """Take what the server lists as seen; False where it lists something else by now."""
        ...


class ConsentStore(Protocol):
    """Consents of this user on this machine. Reads are quick; writes may wait for another process."""

    def all(self) -> Mapping[str, Consent]:
        """Return every consent by fingerprint, oldest first."""
        ...

    def add(self, consent: Consent) -> None:
        """Remember a consent; StoreError where it cannot be saved."""
        ...

    def remove(self, fingerprint: str) -> None:
        """Forget a consent; nothing happens where it is not there."""
        ...


class ToolCallStore(Protocol):
    """Tools that were called by hand, on disk; of each tool the last fifty calls."""

    async def begin(self, call: ToolCall) -> None:
        """Keep a call before it is sent."""
        ...

    async def end(self, call: ToolCall) -> None:
        """Keep what became of it, if it is still there."""
        ...

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """Return the calls of a server, or of one of its tools, newest first."""
        ...

    async def remove(self, ids: Sequence[ToolCallId]) -> None: ...
    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Keep calls again that were removed, as they were."""
        ...


class CaseStore(Protocol):
    """Cases, suites and tags on disk. `remove` hides until the next open, so that `restore` undoes it."""

    async def add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]: ...
    async def update(self, case_id: CaseId, draft: CaseDraft, seen: CaseDraft | None = None) -> TestCase:
        """Change the fields that differ from what was seen; ChangedMeanwhileError where they changed since."""
        ...

    async def apply(
        self,
        added: Sequence[CaseDraft],
        changed: Mapping[CaseId, CaseDraft],
        servers: Sequence[ServerSpec] = (),
        *,
        seen: Mapping[CaseId, CaseDraft] = NOTHING_SEEN,
        ids: Sequence[CaseId | None] = (),
        imported: bool = False,
        step: ProgressStep = ignore_progress,
    ) -> tuple[TestCase, ...]:
        """Register servers, add and change cases, all or nothing; the added cases, then the changed ones.

        Of the `ids` for added cases those that are free are used; `step` hears the same as that of servers.
        """
        ...

    async def get(self, case_id: CaseId) -> TestCase: ...
    async def all(self) -> tuple[TestCase, ...]: ...
    async def select(
        self, *, ids: Sequence[CaseId] = (), suites: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> tuple[TestCase, ...]:
        """Cases with one of the ids, in one of the suites, or with one of the tags; all where nothing is given."""
        ...

    async def remove(self, ids: Sequence[CaseId]) -> None: ...
    async def restore(self, ids: Sequence[CaseId]) -> None: ...
    async def count_openings(self, ids: Sequence[CaseId]) -> None:
        """Count one more opening of those cases that are held back."""
        ...

    async def suites(self) -> tuple[str, ...]: ...
    async def rename_suite(self, name: str, wanted: str) -> None:
        """Give a suite another name; its cases stay as they are. NotFoundError; ConflictError where it is taken."""
        ...

    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """Return the last finished runs of every case, newest last."""
        ...


class RunStore(Protocol):
    """Batches, runs, verdicts and snapshots on disk."""

    async def create_batch(
        self, request: BatchRequest, cases: Sequence[TestCase], known: KnownRuns = NOTHING_SEEN
    ) -> tuple[Batch, tuple[PlannedRun, ...]]:
        """Store a batch with one pending run for each case × model × repeat; those `known` elsewhere keep their ids."""
        ...

    async def add_runs(self, batch_id: BatchId, runs: Sequence[PlannedRun]) -> None:
        """Plan further runs of a batch behind those it has, with their arms and places."""
        ...

    async def set_trial(self, batch_id: BatchId, trial: Mapping[str, Json]) -> Batch: ...
    async def unfinished(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Return runs without a verdict that are not failed otherwise: pending, cancelled and interrupted ones."""
        ...

    async def failed(self, batch_id: BatchId) -> tuple[PlannedRun, ...]: ...
    async def reopen(self, batch_id: BatchId, runs: Sequence[PlannedRun], max_cost_usd: float | None) -> Batch:
        """Make the runs pending and the batch running again, under this cost cap."""
        ...

    async def planned_cases(self, batch_id: BatchId) -> Mapping[CaseId, PlannedCase]: ...
    async def request(self, batch_id: BatchId) -> BatchRequest:
        """Return the request that the batch was created from."""
        ...

    async def save_snapshot(
        self, tools: Sequence[OfferedTool], first_run: RunId, strangers: Collection[str] = (), *, listed: bool = True
    ) -> SnapshotId:
        """Store the tools as they are now; equal definitions and equal snapshots are stored once.

        Servers in `strangers` need not be in the workspace. What is not `listed` by servers stands in the row of the
        run when it ends.
        """
        ...

    async def plan_tools(self, ids: Sequence[RunId], snapshot_id: SnapshotId) -> None:
        """Note which tools runs will be offered, where they have none yet."""
        ...

    async def mark_running(self, ids: Sequence[RunId]) -> None: ...
    async def finish(self, outcomes: Sequence[RunResult]) -> tuple[RunSummary, ...]:
        """Store outcomes in one transaction, at most 250 rows each; the rows as they now read, in order."""
        ...

    async def set_batch_status(self, batch_id: BatchId, status: BatchStatus, stopped: str | None = None) -> Batch: ...
    async def batches(self) -> tuple[Batch, ...]:
        """Return batches with their counts, newest first."""
        ...

    async def batch(self, batch_id: BatchId) -> Batch: ...
    async def runs(self, where: RunFilter, *, limit: int | None = None, offset: int = 0) -> tuple[RunSummary, ...]:
        """Return runs, newest batch first, in the planned order within a batch."""
        ...

    async def count(self, where: RunFilter) -> int: ...
    async def detail(self, run_id: RunId) -> RunDetail: ...
    async def batches_of(self, ids: Sequence[RunId]) -> Mapping[RunId, BatchId | None]:
        """Return the batch of each of some runs; those that are gone are left out."""
        ...

    async def summaries(self, ids: Sequence[RunId]) -> Mapping[RunId, RunSummary]:
        """Return some runs by id; those that are gone are left out."""
        ...

    async def changed_definitions(self, ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool its server defines otherwise by now, with its name."""
        ...

    async def outcomes(self, batch_id: BatchId) -> tuple[PairableRun, ...]:
        """Return the little of every run of a batch that pairing needs, as planned."""
        ...

    async def answering_models(self, batch_id: BatchId) -> frozenset[AnsweringModel]:
        """Return the models that answered runs of a batch, as their providers named them."""
        ...

    async def answered(self, ids: Sequence[RunId]) -> tuple[AnsweredRun, ...]:
        """Return those of the runs that can be judged again, in no order."""
        ...

    async def rejudge(self, judgements: Sequence[Judgement]) -> tuple[RunSummary, ...]:
        """Put new verdicts in place of old ones, which are kept; the runs that were still there, as they now read."""
        ...

    async def rename_batch(self, batch_id: BatchId, name: str, *, seen: str | None = None) -> Batch:
        """Give a batch another name; ChangedMeanwhileError where it has another one than was seen."""
        ...

    async def remove_batches(self, ids: Sequence[BatchId]) -> None:
        """Hide batches and their runs until the next open, so that `restore_batches` undoes it."""
        ...

    async def restore_batches(self, ids: Sequence[BatchId]) -> None: ...
    async def interrupt_leftovers(self) -> int:
        """Mark runs that a dead process left pending or running as failed, "interrupted"; how many."""
        ...


class DraftStore(Protocol):
    """Drafts on disk, by names of their own (ConflictError); a change names what was seen (ChangedMeanwhileError)."""

    async def add(self, draft: Draft) -> Draft:
        """Store a draft with its steps, also one that was removed."""
        ...

    async def all(self) -> tuple[Draft, ...]:
        """Return every draft, oldest first."""
        ...

    async def get(self, draft_id: DraftId) -> Draft: ...
    async def append(self, seen: Draft, step: DraftStep) -> Draft:
        """Add a step in the place of those that were undone."""
        ...

    async def move(self, seen: Draft, step: int) -> Draft:
        """Let so many steps apply."""
        ...

    async def rename(self, seen: Draft, name: str) -> Draft: ...
    async def replace(self, seen: Draft, draft: Draft) -> Draft:
        """Put another listing and other steps in the place of a draft's; its name stays."""
        ...

    async def remove(self, ids: Sequence[DraftId]) -> None: ...


class MetricsStore(Protocol):
    """The whole history of runs as numbers."""

    async def history(self, where: RunFilter) -> History:
        """Return the runs that a filter names, whatever its order."""
        ...

    async def choices(self) -> FilterChoices:
        """Return the names that occur in runs."""
        ...


class Store(Protocol):
    """One workspace file."""

    @property
    def servers(self) -> ServerStore: ...
    @property
    def calls(self) -> ToolCallStore: ...
    @property
    def cases(self) -> CaseStore: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def drafts(self) -> DraftStore: ...
    @property
    def library(self) -> LibraryStore: ...
    @property
    def contacts(self) -> ContactStore: ...
    @property
    def definitions(self) -> DefinitionStore: ...
    @property
    def metrics(self) -> MetricsStore: ...

    def together(self) -> AbstractAsyncContextManager[None]:
        """Store all that this task writes at the end, or nothing of it; other tasks wait."""
        ...

    async def close(self) -> None: ...
