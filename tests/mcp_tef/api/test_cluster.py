"""Workers of a cluster that are not ours: whatever they answer, runs fail with a sentence and the batch goes on."""

import asyncio
from typing import Any

import pytest

from mcp_tef.api.cluster import ClusterExecutor
from mcp_tef.model.ids import BatchId, RunId, SnapshotId
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult, RunStatus
from mcp_tef.ports import CaseTools
from tests.support.run_factories import case

SETTINGS = ModelSettings(provider="openai", model="gpt-x")
OTHER = RunResult(run_id=RunId("another"), status=RunStatus.COMPLETED)


class ForeignCluster:
    """A client of Dask, as far as it is used, whose workers answer what they like."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    async def register_plugin(self, plugin: object, name: str) -> None:
        """Take a plugin."""

    async def unregister_worker_plugin(self, name: str) -> None:
        """Take it back."""

    def submit(self, function: Any, *_: Any, pure: bool) -> "asyncio.Future[object]":
        """Answer at once."""
        future = asyncio.get_running_loop().create_future()
        future.set_result(self._answer)
        return future


@pytest.mark.parametrize("answer", [[], [OTHER], ["text"], [OTHER, OTHER], None, 5])
async def test_a_worker_that_is_not_ours_fails_its_runs_and_ends_no_batch(answer: object) -> None:
    executor = ClusterExecutor(ForeignCluster(answer), 1)
    run = PlannedRun(id=RunId("run-1"), batch_id=BatchId("batch"), case_id=case().id, settings=SETTINGS)
    tools = CaseTools((), (), SnapshotId("none"), ())
    result = await executor.execute(run, case(), tools, {})
    await executor.close()
    assert (result.run_id, result.status) == (run.id, RunStatus.FAILED)
    assert result.failure is not None
    assert "cluster did not execute" in result.failure.message
