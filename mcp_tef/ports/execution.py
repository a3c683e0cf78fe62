"""Ports for what happens to one run: the tools that it is offered, and its execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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

    async def kit_for(self, case: TestCase, run_id: RunId) -> CaseTools:
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
