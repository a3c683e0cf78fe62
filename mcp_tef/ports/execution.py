"""Ports for the runs of a batch: the tools that they are offered, their execution, and the steering that plans them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult
from mcp_tef.model.tools import Listing

if TYPE_CHECKING:
    from mcp_tef.model.addresses import Destination
    from mcp_tef.model.cases import Expectation, TestCase
    from mcp_tef.model.ids import RunId, SnapshotId
    from mcp_tef.model.runs import PlannedRun, RunResult
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.tools import OfferedTool, Tool
    from mcp_tef.scoring.missing_tools import ListedServers


@dataclass(frozen=True, slots=True)
class CaseTools:
    """Tools that a case offers under the names the model sees, where that is stored, and its servers' listings.

    `expectation` is that of the case by the names of these tools; None where they are the same. `instructions` are what
    a client tells the model besides.
    """

    offered: tuple[OfferedTool, ...]
    tools: tuple[Tool, ...]
    snapshot_id: SnapshotId
    servers: ListedServers
    expectation: Expectation | None = None
    instructions: str = ""


class ToolOffering(Protocol):
    """The tools that the runs of one batch are offered: as servers list them, or with drafts in their place."""

    async def tools_for(self, case: TestCase, run_id: RunId) -> CaseTools:
        """Return the tools of a case; raises ServerError with the server's name, InputError if there are none."""
        ...

    async def close(self) -> None:
        """Stop what is still being listed."""
        ...


class RunExecutor(Protocol):
    """Takes one run to its result."""

    async def execute(
        self, run: PlannedRun, case: TestCase, tools: CaseTools, keys: Mapping[Destination, Secret]
    ) -> RunResult:
        """Return the result; an error of the model's provider becomes a failed result, never an exception.

        `keys` are those of the batch, since a group or router asks other models than the run names.
        """
        ...


class SteeredTools(ToolOffering, Protocol):
    """Tools of a steered batch, with the sizes of its prompts."""

    def listings(self) -> dict[str, Listing]:
        """Return the listings of the cases' servers, for estimates of the prompts' sizes."""
        ...

    def added_tokens(self) -> dict[int, int]:
        """Return the most tokens that a run has beside those of its case's listings, by its repeat."""
        ...


class RunSteering(Protocol):
    """Plans a batch pass by pass from the results so far, as a trial does, and offers its tools."""

    @property
    def tools(self) -> SteeredTools:
        """The tools of its runs."""
        ...

    @property
    def cases(self) -> Mapping[CaseId, TestCase]:
        """The cases of its runs."""
        ...

    @property
    def is_over(self) -> bool:
        """True if no further run is to be planned."""
        ...

    def begin(self, batch_id: BatchId, models: Sequence[ModelSettings]) -> None:
        """Note the batch, and the settings that its runs are done with."""
        ...

    def left(self, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Return those of the runs without a verdict that are still needed."""
        ...

    def hear(self, run: PlannedRun, result: RunResult) -> bool:
        """Take in a result; return True if the rest of the pass is not needed."""
        ...

    async def next_runs(self) -> Sequence[PlannedRun]:
        """Store and return the runs of the next pass; none at the end."""
        ...
