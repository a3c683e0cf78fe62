"""The protocols that workflows speak to; adapters satisfy them, tests stand in for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.comparison import RunOutcome
from mcp_tef.model.consents import Consent
from mcp_tef.model.ids import BatchId, CaseId, RunId, ServerId, SnapshotId
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.metrics import FilterChoices
from mcp_tef.model.rejudging import AnsweredRun, Judgement
from mcp_tef.model.runs import (
    Batch,
    BatchRequest,
    BatchStatus,
    ModelInfo,
    ModelSettings,
    Outcome,
    PlannedRun,
    RunDetail,
    RunFilter,
    RunSummary,
)
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import Server, ServerSpec
from mcp_tef.model.similarity import EmbedderChoice
from mcp_tef.model.tool_calls import ToolCall, ToolReply
from mcp_tef.model.tools import Listing, OfferedTool
from mcp_tef.scoring.history import History


class ServerGateway(Protocol):
    """Reaches MCP servers and tools files. It opens, uses and closes one connection in one task."""

    async def list_tools(self, spec: ServerSpec, *, timeout: float) -> Listing:  # noqa: ASYNC109
        """Every tool that the server lists now; raises ServerError within `timeout` seconds."""
        ...

    async def read_catalogue(self, path: str) -> tuple[Listing, ...]:
        """The tools that a file holds, by server: the one that a definition names, else the file's own name.

        Raises ServerError where the file holds no list of tools.
        """
        ...

    async def sort_catalogue(self, name: str, definitions: Sequence[Json]) -> tuple[Listing, ...]:
        """Given definitions, checked one by one, by server; `name` is the server of those that name none."""
        ...


class ToolCaller(Protocol):
    """Calls a tool for a user who asked for that very call. Nothing that evaluates is ever given one."""

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """What the tool answers, without keys; raises ServerError within `timeout` seconds."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """What a selector is asked: choose among `tools` for `query`. `key` is for this call only."""

    query: str
    tools: tuple[OfferedTool, ...]
    settings: ModelSettings
    key: Secret | None = None


class Selector(Protocol):
    """Chooses tools for a query; never runs them."""

    async def prepare(self, question: Question) -> None:
        """Load what the first answer would wait for, so that no run's time counts it."""
        ...

    async def select(self, question: Question) -> Answer:
        """One attempt, no retries; raises ModelError."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class Selectors(Protocol):
    """Finds the selector for a model."""

    def selector_for(self, settings: ModelSettings) -> Selector:
        """The offline baseline, or the one that asks a model."""
        ...

    async def close(self) -> None:
        """Close every selector that was handed out."""
        ...


class ModelCatalogue(Protocol):
    """What is known of models without asking anyone."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """Every known model, by label."""
        ...

    async def find(self, settings: ModelSettings) -> ModelInfo | None:
        """What is known of one model; None where nothing is."""
        ...

    def asks_for_key(self, settings: ModelSettings) -> bool:
        """Whether the model is only answered with a key: a cloud provider without a base url of one's own."""
        ...

    def key_variable(self, provider: str) -> str:
        """The environment variable that holds the provider's key by convention."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """What it is, for people and for cache keys."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text: shape (len(texts), dimensions). Raises EmbeddingError."""
        ...


class TextIndex(Protocol):
    """Texts weighed against one another by the words that they share."""

    def scores(self, query: str) -> NDArray[np.float32]:
        """How far a query overlaps each text, 0–1, in the order of the texts; comparable within one index only."""
        ...

    def overlaps(self) -> NDArray[np.float32]:
        """How far each text overlaps each other, 0–1: a symmetric square in the order of the texts."""
        ...


class Lexicon(Protocol):
    """Makes indexes over texts."""

    async def index(self, texts: Sequence[str]) -> TextIndex:
        """Weigh these texts, at least one, against one another."""
        ...


Progress = Callable[[float], None]


class Embedders(Protocol):
    """Finds and fetches embedders."""

    async def best(self) -> Embedder:
        """The best that is on this machine already: a local model, else TF-IDF. Never waits for a network."""
        ...

    async def find(self, choice: EmbedderChoice, key: Secret | None = None) -> Embedder:
        """The embedder asked for, if it is ready to use; EmbeddingError at once where it is not."""
        ...

    async def download(self, model: str, progress: Progress) -> None:
        """Fetch a fastembed model, telling how much is done (0–1); EmbeddingError. Cancelling leaves nothing behind."""
        ...

    async def close(self) -> None:
        """Give back models and connections."""
        ...


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What a model is asked to write. `key` is for this call only."""

    settings: ModelSettings
    system: str
    prompt: str
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote, what it took (tokens) and cost (US dollars; None where unknown)."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


class Writer(Protocol):
    """Has a model write a text."""

    async def write(self, task: WritingTask) -> Written:
        """One attempt, no retries, JSON asked for where the provider can force it; raises ModelError."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class TokenCounter(Protocol):
    """Counts what texts cost a model."""

    @property
    def name(self) -> str:
        """What counts them, for people."""
        ...

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Tokens of each text."""
        ...


class Vault(Protocol):
    """Secrets of servers in the keychain of the system. Each call may wait for the user; StoreError."""

    def read(self, name: str) -> Secret | None:
        """The entry of a name; None where there is none, or no keychain."""
        ...

    def write(self, name: str, secret: Secret) -> None:
        """Keep an entry."""
        ...

    def forget(self, name: str) -> None:
        """Take an entry out; nothing happens where it is not there."""
        ...


class KeySource(Protocol):
    """Where keys for providers come from."""

    def key(self, provider: str) -> Secret | None:
        """The key to use for a provider now, or None."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one connectivity check found: a listing, or an error."""

    listing: Listing | None = None
    reason: str | None = None
    hint: str | None = None
    exit_code: int | None = None
    stderr_tail: str | None = None


class ServerStore(Protocol):
    """Servers on disk. Names are unique (ConflictError); unknown ids raise NotFoundError."""

    async def add(self, spec: ServerSpec) -> Server: ...
    async def update(self, server_id: ServerId, spec: ServerSpec) -> Server: ...
    async def apply(self, added: Sequence[ServerSpec], changed: Mapping[ServerId, ServerSpec]) -> tuple[Server, ...]:
        """Add and change servers, all or nothing; the added ones, then the changed ones."""
        ...

    async def get(self, server_id: ServerId) -> Server: ...
    async def find(self, name: str) -> Server: ...
    async def all(self) -> tuple[Server, ...]: ...
    async def remove(self, ids: Sequence[ServerId]) -> None: ...
    async def restore(self, ids: Sequence[ServerId]) -> None: ...
    async def record_check(self, server_id: ServerId, result: CheckResult) -> Server: ...
    async def listing(self, server_id: ServerId) -> Listing | None: ...
    async def accepted_listing(self, server_id: ServerId) -> Listing | None:
        """The tools as the user last saw them, where the server lists something else now."""
        ...

    async def accept_listing(self, server_id: ServerId, listing: Listing) -> bool:
        """Take what the server lists as seen; False where it lists something else by now."""
        ...

    async def consented(self, fingerprint: str) -> bool: ...
    async def grant(self, consent: Consent) -> None: ...
    async def revoke(self, fingerprint: str) -> None: ...
    async def consents(self) -> tuple[Consent, ...]: ...


class ToolCallStore(Protocol):
    """Tools that were called by hand, on disk; of each tool the last fifty calls."""

    async def begin(self, call: ToolCall) -> None:
        """Keep a call before it is sent."""
        ...

    async def end(self, call: ToolCall) -> None:
        """Keep what became of it, if it is still there."""
        ...

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """The calls of a server, or of one of its tools, newest first."""
        ...

    async def forget(self, server_id: ServerId, tool: str) -> None:
        """Delete the calls of a tool."""
        ...


class CaseStore(Protocol):
    """Cases, suites and tags on disk. `remove` hides until the next open, so that `restore` undoes it."""

    async def add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]: ...
    async def update(self, case_id: CaseId, draft: CaseDraft) -> TestCase: ...
    async def apply(
        self, added: Sequence[CaseDraft], changed: Mapping[CaseId, CaseDraft], servers: Sequence[ServerSpec] = ()
    ) -> tuple[TestCase, ...]:
        """Register servers, add and change cases, all or nothing; the added cases, then the changed ones."""
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
    async def suites(self) -> tuple[str, ...]: ...
    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """The last finished runs of every case, newest last."""
        ...


class RunStore(Protocol):
    """Batches, runs, verdicts and snapshots on disk."""

    async def create_batch(
        self, request: BatchRequest, cases: Sequence[TestCase]
    ) -> tuple[Batch, tuple[PlannedRun, ...]]:
        """Store a batch with one pending run for each case × model × repeat."""
        ...

    async def unfinished(self, batch_id: BatchId) -> tuple[PlannedRun, ...]:
        """Runs without a verdict that are not failed otherwise: pending, cancelled and interrupted ones."""
        ...

    async def failed(self, batch_id: BatchId) -> tuple[PlannedRun, ...]: ...
    async def reopen(self, batch_id: BatchId, runs: Sequence[PlannedRun]) -> Batch:
        """Make the runs pending and the batch running again."""
        ...

    async def request(self, batch_id: BatchId) -> BatchRequest:
        """What the batch was asked for."""
        ...

    async def save_snapshot(self, tools: Sequence[OfferedTool], first_run: RunId) -> SnapshotId:
        """Store the tools as they are now; equal definitions and equal snapshots are stored once."""
        ...

    async def mark_running(self, ids: Sequence[RunId]) -> None: ...
    async def finish(self, outcomes: Sequence[Outcome]) -> tuple[RunSummary, ...]:
        """Store outcomes in one transaction, at most 250 rows each; the rows as they now read, in order."""
        ...

    async def set_batch_status(self, batch_id: BatchId, status: BatchStatus) -> Batch: ...
    async def batches(self) -> tuple[Batch, ...]:
        """Newest first, with their counts."""
        ...

    async def batch(self, batch_id: BatchId) -> Batch: ...
    async def runs(self, where: RunFilter, *, limit: int | None = None, offset: int = 0) -> tuple[RunSummary, ...]:
        """Newest batch first, in the order they were planned within a batch."""
        ...

    async def count(self, where: RunFilter) -> int: ...
    async def detail(self, run_id: RunId) -> RunDetail: ...
    async def batches_of(self, ids: Sequence[RunId]) -> Mapping[RunId, BatchId | None]:
        """The batch of each of some runs; those that are gone are left out."""
        ...

    async def summaries(self, ids: Sequence[RunId]) -> Mapping[RunId, RunSummary]:
        """Some runs by id; those that are gone are left out."""
        ...

    async def redefined(self, ids: Sequence[RunId]) -> Mapping[RunId, tuple[str, ...]]:
        """Of some runs those whose expected or selected tool its server defines otherwise by now, with its name."""
        ...

    async def outcomes(self, batch_id: BatchId) -> tuple[RunOutcome, ...]:
        """The little of every run of a batch that pairing needs, as planned."""
        ...

    async def answered(self, ids: Sequence[RunId]) -> tuple[AnsweredRun, ...]:
        """Those of the runs that can be judged again, in no order."""
        ...

    async def rejudge(self, judgements: Sequence[Judgement]) -> tuple[RunSummary, ...]:
        """Put new verdicts in place of old ones, which are kept; the runs that were still there, as they now read."""
        ...

    async def remove_batches(self, ids: Sequence[BatchId]) -> None: ...
    async def interrupt_leftovers(self) -> int:
        """Mark runs that a dead process left pending or running as failed, "interrupted"; how many."""
        ...


class MetricsStore(Protocol):
    """The whole history of runs as numbers."""

    async def history(self, where: RunFilter) -> History:
        """The runs that a filter names, whatever its order."""
        ...

    async def choices(self) -> FilterChoices:
        """The names that occur in runs."""
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
    def metrics(self) -> MetricsStore: ...
    async def close(self) -> None: ...
