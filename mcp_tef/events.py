"""Events of the core as frozen values in a closed union.

Every write publishes one `…Changed` event that names the items and `by` whom (the token that the writer passed).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.ids import BatchId, CaseId, DraftId, LibraryToolId, ServerId
from mcp_tef.model.library import Execution
from mcp_tef.model.runs import Batch, RunSummary
from mcp_tef.model.servers import Server


@dataclass(frozen=True, slots=True)
class ServersChanged:
    """Servers were added, changed or removed."""

    ids: tuple[ServerId, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class ServerStateChanged:
    """A connectivity check started or ended."""

    server: Server


@dataclass(frozen=True, slots=True)
class ToolCallsChanged:
    """A tool was called by hand, or its calls were deleted."""

    server_id: ServerId
    tool: str


@dataclass(frozen=True, slots=True)
class CasesChanged:
    """Cases or suites were added, changed or removed."""

    ids: tuple[CaseId, ...]
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsChanged:
    """Finished runs have other verdicts than before; `runs` are as they now read."""

    runs: tuple[RunSummary, ...]
    by: str = ""

    @property
    def batches(self) -> tuple[BatchId, ...]:
        """Whose runs they are."""
        return tuple(dict.fromkeys(run.batch_id for run in self.runs if run.batch_id is not None))


@dataclass(frozen=True, slots=True)
class RejudgeProgressed:
    """Progress of judging runs again."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class BatchQueued:
    """A batch waits for those before it; it will take about so many `seconds`, None where that cannot be told."""

    batch: Batch
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BatchStarted:
    """A batch began, or was resumed."""

    batch: Batch


@dataclass(frozen=True, slots=True)
class BatchesChanged:
    """Batches were removed, or brought back."""

    ids: tuple[BatchId, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class DraftsChanged:
    """Drafts of changed tools were added, changed or removed."""

    ids: tuple[DraftId, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class LibraryChanged:
    """Tools or categories of the library were added, changed, deleted or brought back."""

    ids: tuple[LibraryToolId, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionsChanged:
    """A prompt, model group, route or search tool was added, changed, removed or brought back."""

    kind: DefinitionKind
    name: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class LibraryExecuted:
    """An execution of a library tool ended, and is on disk."""

    execution: Execution


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run left the queue."""

    run: RunSummary


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run completed, failed or was cancelled, and is on disk."""

    run: RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgressed:
    """Counts so far; `seconds_left` is None until it can be told."""

    batch: Batch
    done: int
    tokens: int
    cost_usd: float | None
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class BatchEnded:
    """A batch completed or was cancelled; `reason` says why it stopped early, if it did."""

    batch: Batch
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BatchPaused:
    """A batch paused by itself, because one run after another failed; `reason` says with which error."""

    batch: Batch
    reason: str


@dataclass(frozen=True, slots=True)
class NoticePublished:
    """Something a user should know that belongs to no single thing (TF-IDF is used, a copy was set aside)."""

    text: str


Event: TypeAlias = (
    ServersChanged
    | ServerStateChanged
    | ToolCallsChanged
    | CasesChanged
    | RunsChanged
    | RejudgeProgressed
    | BatchQueued
    | BatchStarted
    | BatchesChanged
    | DraftsChanged
    | LibraryChanged
    | DefinitionsChanged
    | LibraryExecuted
    | RunStarted
    | RunEnded
    | BatchProgressed
    | BatchEnded
    | BatchPaused
    | NoticePublished
)


Listener: TypeAlias = Callable[[Event], None]


class EventStream:
    """Hands every event to every listener, in order, on the thread that publishes."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Listen from now on; call what comes back to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, event: Event) -> None:
        """Tell everyone."""
        for listener in tuple(self._listeners):
            listener(event)
