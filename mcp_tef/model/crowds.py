"""Crowd tests and steal tests: requests, curves of accuracy against strangers, losses, order, silence and takers."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.errors import InputError
from mcp_tef.model.comparison import RateDifference
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.metrics import Rate
from mcp_tef.model.runs import BatchStatus, ModelSettings, RunSummary

SIZES = (0, 10, 30, 60, 120, 300)
MOST_STRANGERS = 1_000
MOST_ROUNDS = 20
MARGIN, STEAL_MARGIN = 0.10, 0.05


class CrowdKind(StrEnum):
    """Kind of a crowd: the most similar strangers first, the least similar first, or whole servers."""

    NEAR = "near"
    FAR = "far"
    SERVERS = "servers"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdSource:
    """Source of strangers: servers of the workspace and tools files, or without any the bundled crowd."""

    servers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def bundled(self) -> bool:
        """True for the bundled crowd."""
        return not self.servers and not self.files


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdRequest:
    """Settings of a crowd test. `search` holds the numbers of tools that a search in front offers.

    `silence` counts the queries that no tool can serve. With `accept_equivalents`, a stranger that does the same
    as the expected tool counts as correct. `rounds` is the number of times that each case is asked at each size, in
    another order or another crowd each time; without it twice, and five times for whole servers.
    """

    cases: tuple[CaseId, ...]
    models: tuple[ModelSettings, ...]
    sizes: tuple[int, ...] = SIZES
    kind: CrowdKind = CrowdKind.NEAR
    search: tuple[int, ...] = ()
    source: CrowdSource = CrowdSource()
    margin: float = MARGIN
    silence: int = 20
    accept_equivalents: bool = False
    rounds: int | None = None
    seed: int = 0
    max_cost_usd: float | None = None
    concurrency: int = 4

    def __post_init__(self) -> None:
        if not all(0 <= size <= MOST_STRANGERS for size in self.sizes) or not any(self.sizes):
            raise InputError(f"Sizes of a crowd are 0 to {MOST_STRANGERS:,}.", hint="Write --sizes 0,10,30,60.")
        if not all(1 <= found <= MOST_STRANGERS for found in self.search):
            raise InputError("A search offers at least one tool.", hint="Write --search 5,10.")
        if self.rounds is not None and not 1 <= self.rounds <= MOST_ROUNDS:
            raise InputError(f"A crowd test has 1 to {MOST_ROUNDS} rounds.", hint="Ask for 2 rounds.")
        _require_margin(self.margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class StealRequest:
    """Settings of a steal test: cases about the tools of the servers `among`, with and without `server`.

    Without `cases`, all of them. `rounds` is the number of times that each is asked.
    """

    server: str
    among: tuple[str, ...]
    settings: ModelSettings
    cases: tuple[CaseId, ...] = ()
    rounds: int = 3
    margin: float = STEAL_MARGIN
    seed: int = 0
    max_cost_usd: float | None = None
    concurrency: int = 4

    def __post_init__(self) -> None:
        _require_margin(self.margin)


def _require_margin(margin: float) -> None:
    if not 0 <= margin < 1:
        raise InputError("The margin is 0 to 99 points.", hint="Write --margin 10.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdPoint:
    """One point of a curve: `rate` is the share of correct tools among so many strangers, with its 95 % band.

    `difference` is the paired change from no strangers. `equivalents` counts runs that selected a stranger that does
    the same, `not_found` those whose expected tool the search did not find. `tokens` of a prompt's tools and `cost_usd`
    are means of a run. `parts` are the repeat numbers of its runs.
    """

    model: str
    strangers: int
    search: int | None
    rate: Rate
    difference: RateDifference
    lost: bool
    tokens: int
    cost_usd: float | None
    runs: int
    left_out: int
    equivalents: int
    not_found: int
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdLoss:
    """Loss on one curve: lost between `low` and `high` strangers, `high` None where it is not shown to be lost.

    `low` is the largest size at which a loss of the margin is excluded, 0 without any.
    """

    model: str
    search: int | None
    low: int
    high: int | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEffect:
    """Effect of the order of tools: share of cases whose choice changes with it, and correct tools by fifth.

    `strangers` is the number among which the order was changed; `fifths` go by the place of the expected tool.
    """

    model: str
    strangers: int
    changed: Rate
    fifths: tuple[Rate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SilencePoint:
    """Share of queries without a fitting tool at which one was called all the same."""

    model: str
    strangers: int
    search: int | None
    called: Rate


@dataclass(frozen=True, slots=True)
class StrangerPick:
    """A stranger that was selected in place of the expected tool, and how often."""

    model: str
    server: str
    tool: str
    times: int
    equivalent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdResult:
    """State or end of a crowd test. `sentences` has one for each curve, in the order of `lost_at`."""

    batch_id: BatchId
    status: BatchStatus
    kind: CrowdKind
    crowds: int
    points: tuple[CrowdPoint, ...]
    lost_at: tuple[CrowdLoss, ...]
    order: tuple[OrderEffect, ...]
    silence: tuple[SilencePoint, ...]
    picks: tuple[StrangerPick, ...]
    cases: int
    calls: int
    planned_calls: int
    cost_usd: float | None
    seed: int

    @property
    def sentence(self) -> str:
        """The sentences of all curves."""
        return " ".join(one.sentence for one in self.lost_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class StolenTool:
    """A tool beside the new server: `without` and `with_new` are shares of correct tools, `taken` the paired loss.

    `p` is corrected by Holm for all tools. `takers` counts the new server's tools that were selected in its place.
    """

    server: str
    tool: str
    cases: int
    without: Rate
    with_new: Rate
    taken: RateDifference
    p: float | None
    worse: bool
    takers: tuple[tuple[str, int], ...]
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StolenPair:
    """A case in one round that went differently with the new server; `server` and `tool` are those it expects."""

    server: str
    tool: str
    without: RunSummary
    with_new: RunSummary

    @property
    def lost(self) -> bool:
        """True if the expected tool was selected without the new server only."""
        return not (self.with_new.mark and self.with_new.mark.correct_tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class StealResult:
    """State or end of a steal test. `unknown` names the tools without cases, as `server / tool`."""

    batch_id: BatchId
    status: BatchStatus
    server: str
    among: tuple[str, ...]
    model: str
    margin: float
    tools: tuple[StolenTool, ...]
    unknown: tuple[str, ...]
    left_out: int
    calls: int
    planned_calls: int
    cost_usd: float | None
    seed: int
    sentence: str

    @property
    def worse(self) -> bool:
        """True if a tool is worse with the new server."""
        return any(one.worse for one in self.tools)


@dataclass(frozen=True, slots=True)
class RetrievalPoint:
    """Retrieval among so many strangers, without a model: recall by number of tools found, and silence kept."""

    strangers: int
    recall: tuple[tuple[int, float], ...]
    silent: float | None
