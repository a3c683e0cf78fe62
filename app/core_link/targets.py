"""Navigation targets (each value names something to show, and the screen that shows it) and the history of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from mcp_tef import BatchId, CaseId, DraftId, RunFilter, RunId, ServerId, ToolLabel


class Screen(StrEnum):
    """The screens of the window, in the order of the navigation."""

    SERVERS = "servers"
    CASES = "cases"
    RUNS = "runs"
    METRICS = "metrics"
    SIMILARITY = "similarity"
    WORKSHOP = "workshop"
    QUALITY = "quality"
    LIBRARY = "library"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class ShowScreen:
    """A screen as it was left."""

    screen: Screen


@dataclass(frozen=True, slots=True)
class AddServer:
    """The dialog that adds a server."""

    screen: ClassVar = Screen.SERVERS


@dataclass(frozen=True, slots=True)
class ImportServers:
    """The dialog that imports servers from a configuration."""

    screen: ClassVar = Screen.SERVERS


@dataclass(frozen=True, slots=True)
class FindServers:
    """The dialog that lists servers configured in other programs."""

    screen: ClassVar = Screen.SERVERS


@dataclass(frozen=True, slots=True)
class ShowServer:
    """A server."""

    screen: ClassVar = Screen.SERVERS
    server_id: ServerId


@dataclass(frozen=True, slots=True)
class ShowServerHealth:
    """The health of servers, with one of them selected by its name."""

    screen: ClassVar = Screen.SERVERS
    server: str = ""


@dataclass(frozen=True, slots=True)
class ShowTool:
    """The definition of a tool."""

    screen: ClassVar = Screen.SERVERS
    tool: ToolLabel


@dataclass(frozen=True, slots=True)
class ShowCase:
    """A test case in the editor."""

    screen: ClassVar = Screen.CASES
    case_id: CaseId


@dataclass(frozen=True, slots=True)
class ShowToolCases:
    """The test cases that expect a tool."""

    screen: ClassVar = Screen.CASES
    tool: ToolLabel


@dataclass(frozen=True, slots=True)
class NewCases:
    """New test cases, one for each of these tools."""

    screen: ClassVar = Screen.CASES
    tools: tuple[ToolLabel, ...]


@dataclass(frozen=True, slots=True)
class StartRuns:
    """The form that starts runs of these cases; of all cases where there are none.

    With `at_once` they run with the last settings, without the form. `model` fills in the field of that name, and may
    name several with commas; `address` is where it is asked.
    """

    screen: ClassVar = Screen.RUNS
    cases: tuple[CaseId, ...] = ()
    at_once: bool = False
    model: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class ShowRuns:
    """The runs of all batches that match a filter, with one of them selected; `title` says what they are."""

    screen: ClassVar = Screen.RUNS
    where: RunFilter
    title: str
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class ShowBatch:
    """A batch, with one of its runs selected."""

    screen: ClassVar = Screen.RUNS
    batch_id: BatchId
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class ResumeBatches:
    """The Runs screen, where these interrupted batches go on."""

    screen: ClassVar = Screen.RUNS
    batches: tuple[BatchId, ...]


@dataclass(frozen=True, slots=True)
class CompareBatches:
    """The comparison of two batches."""

    screen: ClassVar = Screen.METRICS
    older: BatchId
    newer: BatchId


@dataclass(frozen=True, slots=True)
class ShowBatchMetrics:
    """The metrics of one batch."""

    screen: ClassVar = Screen.METRICS
    batch_id: BatchId


@dataclass(frozen=True, slots=True)
class ShowSimilarTools:
    """The pairs of similar tools in which any of these takes part."""

    screen: ClassVar = Screen.SIMILARITY
    tools: tuple[ToolLabel, ...]


@dataclass(frozen=True, slots=True)
class ShowPair:
    """Two tools side by side, with the suggested rewrite where `advice` is set."""

    screen: ClassVar = Screen.SIMILARITY
    first: ToolLabel
    second: ToolLabel
    advice: bool = False


@dataclass(frozen=True, slots=True)
class ShowDraft:
    """A draft of changed tools."""

    screen: ClassVar = Screen.WORKSHOP
    draft_id: DraftId


@dataclass(frozen=True, slots=True)
class ChangeTool:
    """A tool in a draft over its server, with the reason for the change; `description` is put in where it is given.

    `beside` is a wrong run: the tool that it selected is shown beside the tool. `rule` and `place` are those of a
    finding: its repair is put in where it has one, and the field at that place has the keyboard.
    """

    screen: ClassVar = Screen.WORKSHOP
    tool: ToolLabel
    reason: str = ""
    description: str | None = None
    beside: RunId | None = None
    rule: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class ShowCrowdTest:
    """A crowd test; the newest where none is named."""

    screen: ClassVar = Screen.WORKSHOP
    batch_id: BatchId | None = None


@dataclass(frozen=True, slots=True)
class ShowStealTest:
    """The steal tests, ready to ask what a server takes from the others."""

    screen: ClassVar = Screen.WORKSHOP
    server: str = ""


@dataclass(frozen=True, slots=True)
class ShowToolQuality:
    """The findings on the definitions of these tools."""

    screen: ClassVar = Screen.QUALITY
    tools: tuple[ToolLabel, ...]


@dataclass(frozen=True, slots=True)
class ShowLibraryTool:
    """A tool of the library, by its name."""

    screen: ClassVar = Screen.LIBRARY
    name: str


@dataclass(frozen=True, slots=True)
class ShowModels:
    """A tab of the Models screen by its key, with one of its items selected by name."""

    screen: ClassVar = Screen.MODELS
    tab: str
    item: str = ""


ServersTarget = AddServer | ImportServers | FindServers | ShowServer | ShowServerHealth | ShowTool
CasesTarget = ShowCase | ShowToolCases | NewCases
RunsTarget = StartRuns | ShowRuns | ShowBatch | ResumeBatches
MetricsTarget = CompareBatches | ShowBatchMetrics
SimilarityTarget = ShowSimilarTools | ShowPair
WorkshopTarget = ShowDraft | ChangeTool | ShowCrowdTest | ShowStealTest
QualityTarget = ShowToolQuality
ToolsTarget = SimilarityTarget | WorkshopTarget | QualityTarget | ShowLibraryTool | ShowModels
Target = ShowScreen | ServersTarget | CasesTarget | RunsTarget | MetricsTarget | ToolsTarget

LONGEST = 100


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A visited screen, with the target that it showed; None for the screen as a whole."""

    place: str
    target: Target | None = None


class NavigationHistory:
    """The entries behind the user and, after going back, those ahead."""

    def __init__(self) -> None:
        self._behind: list[HistoryEntry] = []
        self._ahead: list[HistoryEntry] = []

    def leave(self, stop: HistoryEntry) -> None:
        """Remember an entry that is left for a new one, and forget those ahead."""
        self._behind = [*self._behind[1 - LONGEST :], stop]
        self._ahead.clear()

    def can_go_back(self) -> bool:
        """Return True if an entry lies behind."""
        return bool(self._behind)

    def can_go_forward(self) -> bool:
        """Return True if an entry lies ahead."""
        return bool(self._ahead)

    def back(self, here: HistoryEntry) -> HistoryEntry:
        """Return the last entry that differs from the present one."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: HistoryEntry) -> HistoryEntry:
        """Return the entry from which the user went back."""
        return _step(self._ahead, self._behind, here)


def _step(taken: list[HistoryEntry], left: list[HistoryEntry], here: HistoryEntry) -> HistoryEntry:
    if here not in left[-1:]:
        left.append(here)
    stop = here
    while taken and stop == here:
        stop = taken.pop()
    return stop
