"""Protocols of batches that are planned pass by pass: trials of drafts, crowd tests and steal tests."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult
from mcp_tef.model.tools import Listing
from mcp_tef.ports import ToolOffering


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
